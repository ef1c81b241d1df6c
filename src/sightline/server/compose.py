"""The composition: which engine is given to which layer, in one place.

Everything that must outlive a call is made once and closed here once: the workspace and the
language servers (made in headless.py), the calls, the surface. No other module keeps state at
module level.
"""

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from sightline import __version__
from sightline.calls.calls import Calls, Engines, Record
from sightline.calls.listing import Listing
from sightline.context.engine import ContextEngine
from sightline.contract import limits
from sightline.contract.settings import Settings
from sightline.contract.source import Expected, Source
from sightline.lsp.pool import Pool
from sightline.process.allocator import keep_freed_memory
from sightline.protocol.surface import ClientOptions, Surface
from sightline.server.logs import Log
from sightline.server.running import Runner
from sightline.server.status import CallLog
from sightline.tools.catalogue import CATALOGUE
from sightline.tools.tool import Desk, Progress, Tool, no_index
from sightline.workspace.view import View
from sightline.workspace.workspace import Workspace

if TYPE_CHECKING:
    from sightline.index.index import Index
    from sightline.symbols.engine import Symbols

__all__ = ["LivingSource", "Program", "catalogue_for", "listed_for", "options_of", "surface_for"]


def catalogue_for(settings: Settings) -> list[Tool[Any]]:
    """The tools that are answered: those of the chosen families, in the catalogue's order."""
    return [tool for tool in CATALOGUE if tool.info.family in settings.families]


def listed_for(settings: Settings) -> list[Tool[Any]]:
    """The tools that are listed: those of the chosen profile among them."""
    return [tool for tool in CATALOGUE if settings.lists(tool.info.family)]


def surface_for(settings: Settings) -> Surface:
    """What the protocol tells clients under these settings."""
    listing = Listing(listed_for(settings), __version__)
    instructions = _instructions(settings)

    return Surface(
        "sightline",
        __version__,
        instructions,
        listing.result,
        listing.names,
        partial(options_of, settings),
    )


def options_of(settings: Settings, client: str) -> ClientOptions:
    """What a client of this name gets under these settings."""
    own = settings.for_client(client)
    return ClientOptions(
        own.tool_names or "dotted",
        own.content or "empty",
        own.protocol_header or "required",
        own.answer_bytes or limits.MAX_RESPONSE_BYTES,
    )


def _instructions(settings: Settings) -> str:
    """What models are told. A line about one family begins with its name, and goes with it."""
    lines: list[str] = []
    for line in Path(__file__).with_name("instructions.md").read_text("utf-8").splitlines():
        family, mark, rest = line.partition(": - ")
        if not mark or family.startswith("-"):
            lines.append(line)
        elif any(family == each and settings.lists(each) for each in settings.families):
            lines.append(f"- {rest}")
    return "\n".join(lines)


class Reported(Protocol):
    """A row of the status report."""

    @property
    def pid(self) -> int | None: ...

    def _asdict(self) -> dict[str, Any]: ...


class LivingSource(Source, Protocol):
    """An answer source that is started, watched and ended."""

    def warm(self) -> None: ...

    def expect(self, question: Expected) -> None: ...

    def waiting_for(self, uri: str | None) -> str: ...

    def status(self) -> Sequence[Reported]: ...

    async def close(self) -> None: ...


class Views(Protocol):
    """Where the view of this moment comes from: a workspace, or a window that is asked first."""

    async def begin(self) -> View: ...

    def begin_now(self) -> View | None: ...


class LazyIndex:
    """The index, made when the first tool asks for it: it brings numpy, which takes a moment."""

    def __init__(
        self,
        workspace: Workspace,
        views: Views,
        environment: Mapping[str, str],
        cache: Path,
        *,
        dense: bool = True,
    ) -> None:
        self._dense = dense
        self._workspace = workspace
        self._views = views
        self._environment = environment
        self._cache = cache
        self.made: Index | None = None

    async def get(self) -> "Index":
        if self.made is None:
            module = await asyncio.to_thread(import_module, "sightline.index.index")
            if self.made is None:
                keep_freed_memory()
                self.made = module.Index(
                    self._workspace,
                    environment=self._environment,
                    cache=str(self._cache),
                    dense=self._dense,
                )
        assert self.made is not None
        return self.made

    async def begin(self) -> View:
        """The view a call runs on. Ignore rules outside the roots count as part of it."""
        self._look_outside()
        return await self._views.begin()

    def begin_now(self) -> View | None:
        self._look_outside()
        return self._views.begin_now()

    def _look_outside(self) -> None:
        if self.made is not None and self.made.look_outside():
            self._workspace.source_changed()

    def report(self) -> list[dict[str, Any]]:
        """How far the index of each root is, if anybody asked for it yet."""
        rows: list[dict[str, Any]] = []
        for root, builder in self.made.builders.items() if self.made is not None else ():
            phase, count = builder.phase, len(builder.library.rows)
            state = "ready" if builder.library.complete else "not built"
            row = {"root": root, "state": "building" if phase is not None else state}
            done, total = (count, count) if phase is None else (phase.done, phase.total)
            rows.append(row | {"done": done, "total": total})
        return rows

    async def close(self) -> None:
        if self.made is not None:
            await self.made.close()


class LazySymbols:
    """What finds symbols by name, made when the first tool asks for it: it brings grammars."""

    def __init__(self, workspace: Workspace, environment: Mapping[str, str], cache: Path) -> None:
        self._workspace = workspace
        self._environment = environment
        self._cache = cache
        self._made: Symbols | None = None

    async def get(self) -> "Symbols":
        if self._made is None:
            module = await asyncio.to_thread(import_module, "sightline.symbols.engine")
            if self._made is None:
                self._made = module.Symbols(self._workspace, self._environment, self._cache)
        assert self._made is not None
        return self._made


class Program(Struct, eq=False):
    """A running Sightline without a transport."""

    settings: Settings
    workspace: Workspace
    source: LivingSource
    index: LazyIndex
    context: ContextEngine
    calls: Calls
    runner: Runner
    surface: Surface
    log: Log
    call_log: CallLog

    @classmethod
    def of(
        cls,
        settings: Settings,
        workspace: Workspace,
        source: LivingSource,
        views: Views,
        *,
        environment: Mapping[str, str],
        cache: Path,
        log: Log,
        context_root: str = "",
        context_timeout_ms: int = limits.CONTEXT_TIMEOUT_MS,
    ) -> "Program":
        """A program on any source."""
        index = LazyIndex(workspace, views, environment, cache, dense=settings.dense)
        index_or_none = index.get if {"index", "code"} & {*settings.families} else no_index

        def served() -> list[str]:
            roots = workspace.roots.roots if "index" in settings.families else ()
            return [root.name for root in roots]

        symbols = LazySymbols(workspace, environment, cache)
        context = ContextEngine(context_root, settings.tokenizer, served)

        def desk(view: View, progress: Progress) -> Desk:
            return Desk(view, source, progress, index_or_none, context, symbols.get)

        call_log = CallLog()

        def finished(record: Record) -> None:
            call_log.add(record)
            workspace.audit_soon(log.bug)
            if settings.debug_logging:
                log.debug(
                    "call",
                    tool=record.tool,
                    outcome=record.outcome,
                    ms=round(record.milliseconds, 1),
                    bytes=record.size,
                )

        engines = Engines(
            index.begin,
            desk,
            source.identity,
            workspace.surprised,
            source.waiting_for,
            index.begin_now,
            workspace.view_ahead,
            source.expect,
        )
        calls = Calls(
            catalogue_for(settings),
            engines,
            settings,
            time.monotonic,
            log.bug,
            finished,
            context_timeout_ms,
        )
        surface = surface_for(settings)
        runner = Runner(calls)
        return cls(
            settings, workspace, source, index, context, calls, runner, surface, log, call_log
        )

    @property
    def pool(self) -> Pool:
        """The language servers, for whoever built a program that has them."""
        assert isinstance(self.source, Pool)
        return self.source

    def start(self) -> None:
        """Begins what can be done ahead, in the background."""
        if self.settings.families != ("context",):
            self.workspace.start()
        if self.settings.asks_servers:
            self.source.warm()

    def report(self, transport: str, sessions: list[str]) -> dict[str, Any]:
        """What the status socket tells."""
        calls, retained, answers = self.calls, self.calls.retained.store, self.calls.answers
        return {
            "transport": transport,
            "pid": os.getpid(),
            "version": __version__,
            "roots": self.workspace.report(),
            "servers": [server._asdict() for server in self.source.status()],
            "indexes": self.index.report(),
            "caches": {
                "answers": len(answers.store),
                "hits": answers.hits,
                "retained": len(retained),
                "bytes": retained.size + answers.store.size,
            },
            "sessions": sessions,
            "calls": {"inFlight": calls.in_flight, **self.call_log.report()},
        }

    async def close(self) -> None:
        """Ends every call and every child."""
        await self.runner.drain(0)
        await self.calls.close()
        self.context.close()
        await asyncio.shield(self.index.close())
        await asyncio.shield(self.source.close())
        self.workspace.close()
