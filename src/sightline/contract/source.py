"""The interface of an answer source: headless language servers, or a live editor window.

A source returns complete, typed answers about one immutable state of the workspace, or raises a
``Failure``: ``NotReady`` while it cannot be complete, ``Unavailable`` when nobody here can answer.
It never returns what it has so far. Order, filtering, ids and caps are not its business.
"""

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from msgspec import UNSET, Struct, UnsetType

from sightline.contract.unaccounted import Unaccounted
from sightline.contract.values import Hover, Location, Position, Range

__all__ = [
    "Covered",
    "Expected",
    "RawDiagnostic",
    "RawSymbol",
    "RawWorkspaceSymbol",
    "Source",
    "SourceFile",
]


T = TypeVar("T")


class SourceFile(Struct, frozen=True, gc=False):
    """A gated document: its canonical URI, its real path, and its text as this call sees it."""

    uri: str
    path: str
    text: str


class RawSymbol(Struct, frozen=True, gc=False):
    """A document symbol as a source knows it, with its children."""

    name: str
    kind: int
    range: Range
    selection: Range
    container: str | UnsetType = UNSET
    children: tuple["RawSymbol", ...] = ()
    #: Set by sources that answer with a flat list, which may name another file.
    uri: str | UnsetType = UNSET


class RawWorkspaceSymbol(Struct, frozen=True, gc=False):
    name: str
    kind: int
    location: Location
    container: str | UnsetType = UNSET


class RawDiagnostic(Struct, frozen=True, gc=False):
    range: Range
    message: str
    severity: int | UnsetType = UNSET
    code: str | UnsetType = UNSET
    source: str | UnsetType = UNSET


class Covered(Struct, Generic[T], frozen=True):
    """An answer that is complete as far as what is said with it goes."""

    items: T
    #: The languages of the workspace that nobody here can answer for.
    uncovered: tuple[str, ...] = ()
    #: The places of the name that the answer could not account for.
    unaccounted: tuple[Unaccounted, ...] = ()
    #: The name that these are places of.
    name: str = ""
    #: One more sentence about what the answer covers.
    note: str = ""
    #: Whether nothing at all is known of the place that was asked about, and no note says why.
    nameless: bool = False


class Expected(NamedTuple):
    """A question about references that will be put as soon as the workspace is known."""

    file: SourceFile
    position: Position
    include_declaration: bool


class Source(Protocol):
    """Seven questions. Each answer is complete or a ``Failure``."""

    def identity(self, uri: str | None) -> str:
        """What else than the workspace decides the answers: server versions and settings.

        Part of every cache key. ``uri`` narrows it to the server of one document.
        """
        ...

    async def definition(
        self, file: SourceFile, position: Position
    ) -> Covered[Sequence[Location]]: ...

    async def references(
        self, file: SourceFile, position: Position, *, include_declaration: bool
    ) -> Covered[Sequence[Location]]: ...

    async def hover(self, file: SourceFile, position: Position) -> Hover | None: ...

    async def document_symbols(self, file: SourceFile) -> Sequence[RawSymbol]: ...

    async def workspace_symbols(self, query: str) -> Covered[Sequence[RawWorkspaceSymbol]]: ...

    async def document_diagnostics(self, file: SourceFile) -> Sequence[RawDiagnostic]: ...

    async def workspace_diagnostics(
        self, counted: Callable[[int, int], None]
    ) -> Covered[dict[str, Sequence[RawDiagnostic]]]:
        """``counted`` is told how many documents are done, of how many."""
        ...
