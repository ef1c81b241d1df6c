"""Stable identifiers: ``sha256:`` and the hash of an item's canonical string.

The canonical strings are the contract's: members joined by a bar, a position as
``line:character``, a missing member as nothing. They are not escaped; an id names an item, it
does not have to be taken apart again.

>>> stable_id("canonical")
'sha256:0deeb8fa1dbbee4c0dbe7f5e3c9183940139f26d22797ee8ab07c00557a4c2ff'
"""

from msgspec import UNSET, UnsetType

from sightline.contract.canonical import sha256_hex
from sightline.contract.values import Position, Range

__all__ = ["diagnostic_id", "document_symbol_id", "stable_id", "workspace_symbol_id"]


def stable_id(canonical_string: str) -> str:
    return "sha256:" + sha256_hex(canonical_string)


def document_symbol_id(
    uri: str, name: str, kind: int, span: Range, selection: Range, container: str | UnsetType
) -> str:
    parts = (uri, name, str(kind), *_ends(span), *_ends(selection), _text(container))
    return stable_id("|".join(parts))


def workspace_symbol_id(
    uri: str, name: str, kind: int, span: Range, container: str | UnsetType
) -> str:
    return stable_id("|".join((uri, name, str(kind), *_ends(span), _text(container))))


def diagnostic_id(
    uri: str,
    span: Range,
    severity: int | UnsetType,
    code: str | UnsetType,
    source: str | UnsetType,
    message: str,
) -> str:
    number = "" if severity is UNSET else str(severity)
    parts = (uri, *_ends(span), number, _text(code), _text(source), message)
    return stable_id("|".join(parts))


def _ends(span: Range) -> tuple[str, str]:
    return _position(span.start), _position(span.end)


def _position(position: Position) -> str:
    return f"{position.line}:{position.character}"


def _text(value: str | UnsetType) -> str:
    return "" if value is UNSET else value
