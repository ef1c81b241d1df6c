"""The window as a ``Source``: seven questions, each answer complete or a ``Failure``.

Before a question: every change on disk must have reached the window's extensions. After it: the
state must still be the one the question was asked in, and the one who answered must have shown
that it can. Nothing is ordered, filtered or capped here.
"""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, TypeVar

from msgspec import UNSET, UnsetType

from sightline.contract.declarations import without_declarations
from sightline.contract.failures import Failure, NotReady, Unavailable
from sightline.contract.source import (
    Covered,
    Expected,
    RawDiagnostic,
    RawSymbol,
    RawWorkspaceSymbol,
    SourceFile,
)
from sightline.contract.values import Hover, Location, Position
from sightline.editor import messages as m
from sightline.editor.readiness import Readiness, is_empty
from sightline.editor.window import Window
from sightline.workspace.roots import Root
from sightline.workspace.view import View

__all__ = ["EditorSource", "EditorStatus"]

_TRIES = 3
_CHANGED = "the workspace to stay unchanged during a question"
_BEHIND = "the editor to load a file that changed on disk"
_WAITING = "the editor's language extension"
#: How long the editor may take to load a file that changed, beyond which it shows something else.
_BEHIND_S = 5.0

T = TypeVar("T", bound=m.Told)


class EditorStatus(NamedTuple):
    """What people are told about the window."""

    name: str
    root: str
    state: str
    version: str
    pid: int | None
    pending: int


class EditorSource:
    def __init__(self, window: Window, clock: Callable[[], float], editor_pid: int) -> None:
        self._window = window
        self._bridge = window.bridge
        self._workspace = window.workspace
        self._readiness = Readiness(window, clock)
        self._clock = clock
        self._pid = editor_pid

    async def begin(self) -> View:
        """The view of this moment: the window's unsaved texts and the files on disk."""
        await self._window.sync()
        return await self._workspace.begin()

    def begin_now(self) -> None:
        """The window must be asked first, so nothing can be had at once."""

    # Source

    def identity(self, uri: str | None) -> str:
        return self._window.identity

    async def definition(self, file: SourceFile, position: Position) -> Covered[Sequence[Location]]:
        answer = await self._about(file, "definition", m.LocationsAnswer, position)
        return Covered(answer.locations, nameless=not answer.locations)

    async def references(
        self, file: SourceFile, position: Position, *, include_declaration: bool
    ) -> Covered[Sequence[Location]]:
        answer = await self._about(
            file, "references", m.LocationsAnswer, position, include_declaration=True
        )
        # The editor always includes declarations.
        if include_declaration or not answer.locations:
            return Covered(answer.locations, nameless=not answer.locations)
        definitions = await self._about(file, "definition", m.LocationsAnswer, position)
        used = without_declarations(
            answer.locations, definitions.locations, answer.language, self._text_now
        )
        return Covered(used)

    async def hover(self, file: SourceFile, position: Position) -> Hover | None:
        answer = await self._about(file, "hover", m.HoverAnswer, position)
        return answer.hover()

    async def document_symbols(self, file: SourceFile) -> Sequence[RawSymbol]:
        answer = await self._about(file, "documentSymbols", m.SymbolsAnswer)
        return [_symbol(symbol) for symbol in answer.symbols]

    async def workspace_symbols(self, query: str) -> Covered[Sequence[RawWorkspaceSymbol]]:
        for _ in range(_TRIES):
            await self._settle()
            state = self._window.changes
            uncovered = await self._readiness.load_all()
            answer = await self._bridge.ask(
                "workspaceSymbols", m.WorkspaceSymbolsAnswer, query=query
            )
            if self._window.changes == state:
                return Covered([_workspace_symbol(symbol) for symbol in answer.symbols], uncovered)
        raise NotReady(waiting_for=_CHANGED)

    async def document_diagnostics(self, file: SourceFile) -> Sequence[RawDiagnostic]:
        answer = await self._about(file, "documentDiagnostics", m.DiagnosticsAnswer)
        return [_diagnostic(item) for item in answer.diagnostics]

    async def workspace_diagnostics(
        self, counted: Callable[[int, int], None]
    ) -> Covered[dict[str, Sequence[RawDiagnostic]]]:
        """The window answers for all its documents at once, so nothing is counted on the way."""
        for _ in range(_TRIES):
            await self._settle()
            state = self._window.changes
            answer = await self._bridge.ask("workspaceDiagnostics", m.WorkspaceDiagnosticsAnswer)
            if await self._readiness.load_named(answer.unloaded):
                continue
            if self._window.changes == state:
                found: dict[str, Sequence[RawDiagnostic]] = {
                    report.uri: [_diagnostic(item) for item in report.diagnostics]
                    for report in answer.files
                }
                documents = "document" if answer.shown == 1 else "documents"
                note = f"The editor reports on the {answer.shown} {documents} it shows."
                return Covered(found, note=note)
        raise NotReady(waiting_for=_CHANGED)

    # Lifetime

    def expect(self, question: Expected) -> None:
        """The editor's servers are started by the editor."""

    def warm(self) -> None:
        """The editor loads its languages when its user opens a document."""

    def waiting_for(self, uri: str | None) -> str:
        if len(self._window.announcements):
            return "the editor to notice changes on disk"
        return _BEHIND if self._window.behind else _WAITING

    def status(self) -> list[EditorStatus]:
        state = "closing" if self._bridge.closed.is_set() else "connected"
        roots = ", ".join(root.name for root in self._workspace.roots.roots)
        return [
            EditorStatus(
                "editor", roots, state, self._window.editor, self._pid, self._bridge.pending
            )
        ]

    async def close(self) -> None:
        await self._bridge.close()

    # Asking

    async def _about(
        self,
        file: SourceFile,
        ask: m.Ask,
        result: type[T],
        position: Position | None = None,
        *,
        include_declaration: bool | None = None,
    ) -> T:
        root = self._root(file)
        for _ in range(_TRIES):
            await self._settle(file)
            state = self._window.changes
            answer = await self._bridge.ask(
                ask,
                result,
                uri=self._window.uri(file.path),
                position=position,
                include_declaration=include_declaration,
            )
            needs_all = not answer.loaded and ask != "documentSymbols"
            if needs_all and await self._readiness.load(answer.language, root):
                continue  # what was said before it had loaded does not count
            if self._window.changes == state:
                await self._believe(ask, answer, file, root)
                return answer
        raise NotReady(waiting_for=_CHANGED)

    async def _believe(self, ask: m.Ask, answer: m.Told, file: SourceFile, root: Root) -> None:
        """An empty answer is nothing found only where somebody is known to answer."""
        if not isinstance(answer, m.LocationsAnswer | m.HoverAnswer | m.SymbolsAnswer):
            return
        if not is_empty(answer):
            self._readiness.answered(ask, answer.language)
        elif not answer.loaded and file.text.strip():
            await self._readiness.confirm(ask, answer.language, root)

    async def _settle(self, file: SourceFile | None = None) -> None:
        """Waits until the window knows what is on disk, and checks that ``file`` is still so."""
        await self._window.announcements.settled(self._unwatched)
        await self._reloaded(file)
        if self._window.changes != self._window.synced:
            await self._window.sync()
        if file is not None and self._text_now(file.uri) != file.text:
            raise NotReady(waiting_for=_CHANGED)

    async def _reloaded(self, file: SourceFile | None) -> None:
        """Waits until the window's saved documents are what is on disk."""
        since = self._clock()
        while self._window.behind:
            self._window.news.clear()
            await self._window.sync()
            self._window.behind -= {p for p in self._window.behind if self._window.agrees(p)}
            left = since + _BEHIND_S - self._clock()
            if not self._window.behind:
                return
            if left <= 0:
                asked = file is not None and file.path in self._window.behind
                self._window.behind.clear()
                if asked:
                    raise Unavailable("the editor shows another text than the file has")
                return
            await self._window.next_text(left)

    async def _unwatched(self, paths: list[str]) -> Collection[str]:
        by_uri = {self._window.uri(path): path for path in paths}
        answer = await self._bridge.ask("unwatched", m.UnwatchedAnswer, uris=list(by_uri))
        return [by_uri[uri] for uri in answer.uris if uri in by_uri]

    def _text_now(self, uri: str) -> str | None:
        """The text of a document, unsaved or on disk; nothing if it may not be read."""
        try:
            return self._workspace.read(uri).text
        except Failure:
            return None

    def _root(self, file: SourceFile) -> Root:
        root = self._workspace.roots.containing(file.path)
        if root is None:
            raise NotReady(waiting_for="the workspace")
        return root


def _symbol(symbol: m.EditorSymbol) -> RawSymbol:
    return RawSymbol(
        symbol.name,
        symbol.kind,
        symbol.range,
        symbol.selectionRange or symbol.range,
        _named(symbol.containerName),
        tuple(_symbol(child) for child in symbol.children),
        symbol.uri or UNSET,
    )


def _workspace_symbol(symbol: m.EditorSymbol) -> RawWorkspaceSymbol:
    location = Location(symbol.uri, symbol.range)
    return RawWorkspaceSymbol(symbol.name, symbol.kind, location, _named(symbol.containerName))


def _diagnostic(item: m.EditorDiagnostic) -> RawDiagnostic:
    source, code = item.source or UNSET, item.code or UNSET
    return RawDiagnostic(item.range, item.message, item.severity, code, source)


def _named(text: str) -> str | UnsetType:
    return text or UNSET
