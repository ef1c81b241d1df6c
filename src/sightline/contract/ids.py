"""Stable identifiers: ``sha256:`` and the hash of an item's canonical string.

The canonical strings are the contract's: members joined by a bar, a position as
``line:character``, a missing member as nothing. They are not escaped; an id names an item, it
does not have to be taken apart again.

>>> stable_id("canonical")
'sha256:0deeb8fa1dbbee4c0dbe7f5e3c9183940139f26d22797ee8ab07c00557a4c2ff'
"""

from msgspec import UNSET, UnsetType

from sightline.contract.canonical import sha256_hex
from sightline.contract.values import Range

__all__ = ["diagnostic_id", "document_symbol_id", "stable_id", "workspace_symbol_id"]


def stable_id(canonical_string: str) -> str:
    return "sha256:" + sha256_hex(canonical_string)


def document_symbol_id(
    uri: str, name: str, kind: int, span: Range, selection: Range, container: str | UnsetType
) -> str:
    return stable_id(f"{uri}|{name}|{kind}|{_ends(span)}|{_ends(selection)}|{_text(container)}")


def workspace_symbol_id(
    uri: str, name: str, kind: int, span: Range, container: str | UnsetType
) -> str:
    return stable_id(f"{uri}|{name}|{kind}|{_ends(span)}|{_text(container)}")


def diagnostic_id(
    uri: str,
    span: Range,
    severity: int | UnsetType,
    code: str | UnsetType,
    source: str | UnsetType,
    message: str,
) -> str:
    number = "" if severity is UNSET else str(severity)
    return stable_id(f"{uri}|{_ends(span)}|{number}|{_text(code)}|{_text(source)}|{message}")


def _ends(span: Range) -> str:
    start, end = span.start, span.end
    return f"{start.line}:{start.character}|{end.line}:{end.character}"


def _text(value: str | UnsetType) -> str:
    return "" if value is UNSET else value
