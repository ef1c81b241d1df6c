"""The real tools and the real path of a call over a source whose answers a test decides.

A language server cannot be made to find exactly 20,001 references; this can. Everything else is
real: the workspace on disk, the gate, epochs, cursors, caps and envelopes.
"""

import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from sightline.calls.calls import Caller, Calls, Engines
from sightline.contract.limits import REQUEST_TIMEOUT_MS
from sightline.contract.settings import Settings
from sightline.contract.source import (
    Covered,
    RawDiagnostic,
    RawSymbol,
    RawWorkspaceSymbol,
    SourceFile,
)
from sightline.contract.values import Hover, Location, Position, Range
from sightline.protocol.jsonrpc import Error, error_bytes, result_bytes
from sightline.protocol.revisions import NEWEST
from sightline.protocol.surface import ClientOptions
from sightline.tools.catalogue import CATALOGUE
from sightline.tools.tool import Desk, Progress
from sightline.workspace.roots import open_root
from sightline.workspace.view import View
from sightline.workspace.workspace import Workspace
from tests.support.leaks import ledger
from tests.support.watching import HANG_S

__all__ = ["Desktop", "FakeSource", "desktop", "span"]


def span(line: int, start: int = 0, end: int = 1) -> Range:
    """A range within one line."""
    return Range(Position(line, start), Position(line, end))


@dataclass
class FakeSource:
    """Seven canned answers. ``asked`` counts the questions."""

    locations: Sequence[Location] = ()
    hovered: Hover | None = None
    symbols: Sequence[RawSymbol] = ()
    workspace: Sequence[RawWorkspaceSymbol] = ()
    diagnostics: Sequence[RawDiagnostic] = ()
    reports: dict[str, Sequence[RawDiagnostic]] = field(default_factory=dict)
    #: What is said of every answer that can say what it lacks.
    note: str = ""
    #: Awaited before every answer.
    before: Callable[[], Any] | None = None
    asked: int = 0
    queries: list[str] = field(default_factory=list)

    async def _ask(self) -> None:
        self.asked += 1
        if self.before is not None:
            await self.before()

    def identity(self, uri: str | None) -> str:
        return "fake"

    async def definition(self, file: SourceFile, position: Position) -> Covered[Sequence[Location]]:
        await self._ask()
        return Covered(self.locations, note=self.note)

    async def references(
        self, file: SourceFile, position: Position, *, include_declaration: bool
    ) -> Covered[Sequence[Location]]:
        await self._ask()
        return Covered(self.locations, note=self.note)

    async def hover(self, file: SourceFile, position: Position) -> Hover | None:
        await self._ask()
        return self.hovered

    async def document_symbols(self, file: SourceFile) -> Sequence[RawSymbol]:
        await self._ask()
        return self.symbols

    async def workspace_symbols(self, query: str) -> Covered[Sequence[RawWorkspaceSymbol]]:
        await self._ask()
        self.queries.append(query)
        return Covered(self.workspace, note=self.note)

    async def document_diagnostics(self, file: SourceFile) -> Sequence[RawDiagnostic]:
        await self._ask()
        return self.diagnostics

    async def workspace_diagnostics(
        self, counted: Callable[[int, int], None]
    ) -> Covered[dict[str, Sequence[RawDiagnostic]]]:
        await self._ask()
        return Covered(self.reports, note=self.note)


@dataclass
class Desktop:
    """One root, one source, and calls on them."""

    root: Path
    source: FakeSource
    calls: Calls
    workspace: Workspace
    clock: Callable[[], float]
    options: ClientOptions = field(default_factory=ClientOptions)

    def uri(self, name: str = "main.py") -> str:
        return (self.root / name).as_uri()

    async def call(self, tool: str, **arguments: Any) -> Any:
        """The JSON-RPC answer of ``vscode.lsp.<tool>``."""
        caller = Caller(self.options, NEWEST)
        finished = await self.calls.run(
            f"vscode.lsp.{tool}", arguments, caller, arrived=self.clock()
        )
        outcome = finished.outcome
        body = error_bytes(1, outcome) if isinstance(outcome, Error) else result_bytes(1, outcome)
        ledger.hear("fake", body)
        answer = json.loads(body)
        if "result" in answer:
            assert len(body) <= self.calls.settings.max_response_bytes
        return answer

    async def payload(self, tool: str, **arguments: Any) -> Any:
        """The structured content of a call that succeeds."""
        answer = await self.call(tool, **arguments)
        assert "result" in answer, answer
        return answer["result"]["structuredContent"]

    async def code(self, tool: str, **arguments: Any) -> str:
        """The stable code of a call that fails."""
        answer = await self.call(tool, **arguments)
        assert "error" in answer, answer
        code: str = answer["error"]["data"]["code"]
        return code.removeprefix("MCP_LSP_GATEWAY/")

    async def references(self, **arguments: Any) -> Any:
        place = {"uri": self.uri(), "position": {"line": 0, "character": 0}}
        return await self.payload("references", **place, **arguments)


@asynccontextmanager
async def desktop(
    root: Path,
    source: FakeSource,
    *,
    settings: Settings | None = None,
    clock: Callable[[], float] = time.monotonic,
    patient: bool = True,
) -> AsyncIterator[Desktop]:
    """A desktop on a folder that is made if necessary, with one document ``main.py``.

    A busy machine may need more than the two seconds that a call has, so it has more, except where
    a test sets the limit itself or is not ``patient``.
    """
    settings = settings or Settings()
    if patient and settings.request_timeout_ms == REQUEST_TIMEOUT_MS:
        settings = msgspec.structs.replace(settings, request_timeout_ms=int(1000 * HANG_S))
    root.mkdir(exist_ok=True)
    if not (root / "main.py").exists():
        (root / "main.py").write_text("x = 1\n", encoding="utf-8")
    workspace = Workspace([open_root(str(root), home=None)])

    def desk(view: View, progress: Progress) -> Desk:
        return Desk(view, source, progress)

    def waiting_for(uri: str | None) -> str:
        return "the fake"

    def bug(error: BaseException) -> None:
        raise error

    engines = Engines(workspace.begin, desk, source.identity, workspace.surprised, waiting_for)
    calls = Calls(CATALOGUE, engines, settings, clock, bug)
    try:
        yield Desktop(root, source, calls, workspace, clock)
    finally:
        await calls.close()
        workspace.close()


def encoded(value: msgspec.Struct) -> Any:
    """A struct as the wire shows it."""
    return json.loads(msgspec.json.encode(value))
