"""Request keys and snapshot keys: what a cursor is bound to.

A request key names the question, a snapshot key the state of the workspace it was asked in. Both
are SHA-256 over bar-joined strings, exactly as docs/CONTRACT.md section 3.6 spells them.

>>> epoch_string("roots-key", (3, 7, 11))
'roots:roots-key|epochs:3,7,11'
"""

from collections.abc import Sequence

from sightline.contract.canonical import canonical_json, sha256_hex, utf16_key

__all__ = ["epoch_string", "preliminary_key", "request_key", "roots_key", "snapshot_key"]


def request_key(tool: str, *fields: str | int | bool) -> str:
    """``k``: the canonical tool name and the fields that decide its result."""
    return sha256_hex("|".join(("v1", tool, *(_field(field) for field in fields))))


def roots_key(roots: Sequence[str]) -> str:
    """The allowed roots, whatever order they were given in."""
    ordered: list[str] = sorted(roots, key=utf16_key)
    return sha256_hex(canonical_json(ordered))


def epoch_string(roots: str, epochs: Sequence[int]) -> str:
    """``epochTupleString`` from the roots' key and the epochs in the tool's order."""
    return f"roots:{roots}|epochs:{','.join(str(epoch) for epoch in epochs)}"


def snapshot_key(request: str, epochs: str) -> str:
    """``s``: one question in one state of the workspace."""
    return sha256_hex(f"v1|snapshot|{request}|{epochs}")


def preliminary_key(snapshot: str) -> str:
    """``s`` of a result set that may be another one in the same state of the workspace."""
    return sha256_hex(f"v1|preliminary|{snapshot}")


def _field(value: str | int | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
