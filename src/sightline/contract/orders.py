"""The total order of every list an answer can hold, and the removal of duplicates.

Each key function returns a tuple that tells any two different items apart, so a sorted list does
not depend on the order a language server happened to use. A missing member sorts last.

>>> from sightline.contract.values import Location, Position, Range
>>> here = Range(Position(0, 0), Position(0, 3))
>>> found = [Location("file:///b", here), Location("file:///a", here)] * 2
>>> [location.uri for location in canonical(found, location_key)]
['file:///a', 'file:///b']
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from msgspec import UNSET, UnsetType

from sightline.contract.canonical import utf16_key
from sightline.contract.values import (
    Diagnostic,
    DocumentSymbol,
    FileDiagnostics,
    HoverContent,
    Location,
    Range,
    WorkspaceSymbol,
)

__all__ = [
    "Key",
    "canonical",
    "diagnostic_key",
    "document_symbol_key",
    "file_key",
    "hover_key",
    "location_key",
    "range_key",
    "workspace_symbol_key",
]

T = TypeVar("T")
#: A sort key: a tuple of ints, strings and tuples of these. Its element types differ by position,
#: which Python's type system cannot say for a recursive key.
Key = tuple[Any, ...]

_LAST: Key = (1, b"")


def canonical(items: Iterable[T], key: Callable[[T], Key]) -> list[T]:
    """Sorted by ``key``, each item once. Keys are total: items with equal keys are equal."""
    unique = {key(item): item for item in items}
    return [unique[k] for k in sorted(unique)]


def range_key(span: Range) -> Key:
    start, end = span.start, span.end
    return (start.line, start.character, end.line, end.character)


def location_key(location: Location) -> Key:
    # Canonical URIs are ASCII, where code-point order is UTF-16 order.
    start, end = location.range.start, location.range.end
    return (location.uri, start.line, start.character, end.line, end.character)


def workspace_symbol_key(symbol: WorkspaceSymbol) -> Key:
    return (
        location_key(symbol.location),
        utf16_key(symbol.name),
        symbol.kind,
        _optional(symbol.containerName),
    )


def document_symbol_key(symbol: DocumentSymbol) -> Key:
    """The contract's order, then ``selectionRange`` and ``id`` so that it is total."""
    start, end = symbol.range.start, symbol.range.end
    return (
        start.line,
        start.character,
        end.line,
        end.character,
        utf16_key(symbol.name),
        symbol.kind,
        _optional(symbol.containerName),
        range_key(symbol.selectionRange),
        symbol.id,
    )


def diagnostic_key(diagnostic: Diagnostic) -> Key:
    """The contract's order within one file, with the end of the range as the last tie-break."""
    severity = diagnostic.severity
    return (
        (diagnostic.range.start.line, diagnostic.range.start.character),
        (1, 0) if severity is UNSET else (0, severity),
        _optional(diagnostic.code),
        _optional(diagnostic.source),
        utf16_key(diagnostic.message),
        (diagnostic.range.end.line, diagnostic.range.end.character),
    )


def file_key(group: FileDiagnostics) -> Key:
    return (group.uri,)


def hover_key(content: HoverContent) -> Key:
    return (content.kind, utf16_key(content.value))


def _optional(text: str | UnsetType) -> Key:
    return _LAST if text is UNSET else (0, utf16_key(text))
