"""The values that answers are made of, in the words of the Language Server Protocol.

Positions are 0-based and count UTF-16 code units. ``kind`` and ``severity`` use LSP numbering
(Function is 12, Warning is 2). Every struct encodes its members in the order written here, which
is the order the contract documents; a member that is ``UNSET`` is left out.
"""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

__all__ = [
    "Diagnostic",
    "DocumentSymbol",
    "FileDiagnostics",
    "Hover",
    "HoverContent",
    "Location",
    "Position",
    "Range",
    "WorkspaceSymbol",
]

Count = Annotated[int, Meta(ge=0)]


class Position(Struct, frozen=True, gc=False):
    line: Count
    character: Count


class Range(Struct, frozen=True, gc=False):
    start: Position
    end: Position


class Location(Struct, frozen=True, gc=False):
    uri: str
    range: Range


class HoverContent(Struct, frozen=True, gc=False):
    kind: Literal["markdown", "plaintext"]
    value: str


class Hover(Struct, frozen=True, gc=False):
    contents: tuple[HoverContent, ...]
    range: Range | UnsetType = UNSET


class DocumentSymbol(Struct, frozen=True, gc=False):
    id: str
    name: str
    kind: Count
    range: Range
    selectionRange: Range  # noqa: N815 - the wire's spelling
    containerName: str | UnsetType = UNSET  # noqa: N815


class WorkspaceSymbol(Struct, frozen=True, gc=False):
    id: str
    name: str
    kind: Count
    location: Location
    containerName: str | UnsetType = UNSET  # noqa: N815


class Diagnostic(Struct, frozen=True, gc=False):
    id: str
    range: Range
    severity: Count | UnsetType = UNSET
    code: str | UnsetType = UNSET
    source: str | UnsetType = UNSET
    message: str = ""


class FileDiagnostics(Struct, frozen=True, gc=False):
    uri: str
    diagnostics: tuple[Diagnostic, ...]
