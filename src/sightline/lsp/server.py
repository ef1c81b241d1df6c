"""One language server for one root: start, readiness, documents, changes, crashes, stop.

    STOPPED -> STARTING -> LOADING -> READY -> (crash) -> RESTING -> STARTING ...

Questions are put only to a READY server. What makes it READY is the registry's explicit rule,
never a count that stopped changing. A server that ends by itself is started again after a rest
that doubles each time; one that keeps ending is left alone, and the callers are told.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from sightline.contract.failures import NotReady, Unavailable, UriInvalid
from sightline.contract.source import SourceFile
from sightline.contract.uris import path_of, uri_of
from sightline.lsp import types
from sightline.lsp.client import Client, ServerError, ServerGone
from sightline.lsp.documents import Documents
from sightline.lsp.globs import matcher
from sightline.lsp.readiness import Readiness
from sightline.lsp.registry import ServerSpec
from sightline.process.child import Child, StartFailed
from sightline.workspace.changes import Change

__all__ = ["Launch", "Server", "State"]

_FIRST_REST_S = 0.5
_LONGEST_REST_S = 30.0
#: So many ends in a row without an answer, and the server is left alone until it is asked later.
_MAX_CRASHES = 5
_GIVE_UP_S = 60.0
_SHUTDOWN_S = 1.0
#: A server that owes an answer and says nothing for so long, or takes so long to start, is stuck.
_SILENCE_S = 120.0
_START_S = 120.0

_CONTENT_MODIFIED, _SERVER_CANCELLED, _CANCELLED = -32801, -32802, -32800
_RETRYABLE = frozenset({_CONTENT_MODIFIED, _SERVER_CANCELLED, _CANCELLED})


class State(Enum):
    STOPPED = "stopped"
    STARTING = "starting"
    LOADING = "loading"
    READY = "ready"
    RESTING = "restarting"
    FAILED = "failed"


@dataclass(frozen=True)
class Launch:
    """How to start one server: everything that is not in the registry."""

    name: str
    spec: ServerSpec
    root: str
    spawn: Callable[[], Awaitable[Child]]
    settings: Mapping[str, Any]
    initialization_options: Mapping[str, Any]
    #: A changed file with its language, if it is one of this server's.
    read: Callable[[str], tuple[SourceFile, str] | None]
    #: Called when a server that had answered starts over: older answers may no longer hold.
    restarted: Callable[[], None] = lambda: None


@dataclass(eq=False)
class Server:
    launch: Launch
    state: State = State.STOPPED
    client: Client | None = None
    documents: Documents | None = None
    version: str = ""
    capabilities: dict[str, Any] = field(default_factory=dict)
    _child: Child | None = None
    _readiness: Readiness | None = None
    _starting: asyncio.Task[None] | None = None
    _watching: asyncio.Task[None] | None = None
    _crashes: int = 0
    _last_crash: float = 0.0
    _reason: str = ""
    _missed: list[Change] = field(default_factory=list)
    _was_ready: bool = False

    @property
    def name(self) -> str:
        return self.launch.name

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child is not None else None

    @property
    def pending(self) -> int:
        return self.client.pending if self.client is not None else 0

    def start(self) -> asyncio.Task[None]:
        """Begins to start, unless it runs or is being started. Never two at a time."""
        if self._starting is None:
            self._begin(self._start())
        assert self._starting is not None
        return self._starting

    async def ready(self) -> Client:
        """The client, once the server may be believed."""
        if self.state is State.FAILED:
            if time.monotonic() - self._last_crash < _GIVE_UP_S:
                raise Unavailable(f"{self.name} {self._reason}; run sightline doctor")
            self._starting = None  # long enough ago: one more try
        if self.client is not None and self.client.silent_for() > _SILENCE_S:
            await self._end_child()
            self._begin_again()
        start = self.start()
        if not start.done():
            await asyncio.shield(start)
        start.result()
        if self.client is None or self.client.gone is not None or self.state is not State.READY:
            raise self._not_ready()
        return self.client

    async def ask(self, method: str, params: object, result: Any) -> Any:  # noqa: ANN401
        """One question to the ready server."""
        client = await self.ready()
        try:
            return await client.request(method, params, result)
        except ServerGone:
            raise self._not_ready() from None
        except ServerError as error:
            if error.code in _RETRYABLE:
                raise NotReady(waiting_for=f"{self.name} to settle") from None
            raise Unavailable(f"{self.name} could not answer; run sightline doctor") from None

    async def ask_about(
        self,
        file: SourceFile,
        language: str,
        method: str,
        params: object,
        result: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        """One question about a document, which the server sees with exactly the caller's text."""
        await self.ready()
        assert self.documents is not None
        self.documents.show(file, language)
        return await self.ask(method, params, result)

    def changed(self, changes: Sequence[Change]) -> None:
        """Tells the server what changed on disk; what it had open is closed."""
        if self.state in (State.STOPPED, State.FAILED, State.RESTING):
            return  # it will read the disk when it starts
        if self.documents is None or self.client is None:
            self._missed.extend(changes)
            return
        events = []
        for change in changes:
            uri = uri_of(change.path)
            self.documents.forget(uri)
            if change.disguised and (file := self.launch.read(change.path)) is not None:
                self.documents.reveal(*file)
            if self._interested(change.path):
                events.append({"uri": uri, "type": change.kind})
        if events:
            self.client.notify("workspace/didChangeWatchedFiles", {"changes": events})

    def waiting_for(self) -> str:
        """What a caller that runs out of time was waiting for. Constant texts, no times."""
        match self.state:
            case State.READY:
                return f"{self.name} to answer"
            case State.RESTING:
                return f"{self.name} to restart"
            case State.LOADING:
                return f"{self.name} to load the project"
            case _:
                return f"{self.name} to start"

    async def stop(self) -> None:
        """Shutdown, exit, then the whole tree is ended."""
        for task in (self._watching, self._starting):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError, Exception):
                    await task
        client, child = self.client, self._child
        self.client = self.documents = self._child = self._starting = self._watching = None
        self.state = State.STOPPED
        if client is not None and client.gone is None:
            with contextlib.suppress(ServerError, ServerGone, TimeoutError):
                async with asyncio.timeout(_SHUTDOWN_S):
                    await client.request("shutdown", None, Any)
            client.notify("exit")
        if client is not None:
            await client.close()
        if child is not None:
            await child.end()

    # Starting

    async def _start(self) -> None:
        while True:
            self.state = State.STARTING
            try:
                async with asyncio.timeout(_START_S):
                    await self._start_once()
            except StartFailed as failed:
                self._give_up(f"could not be started ({failed})")
                raise Unavailable(f"{self.name} {self._reason}; run sightline doctor") from None
            except (ServerGone, ServerError, TimeoutError):
                await self._end_child()
                if not await self._rest():
                    raise Unavailable(f"{self.name} {self._reason}; run sightline doctor") from None
            else:
                return

    async def _start_once(self) -> None:
        child = await self.launch.spawn()
        self._child = child
        self._readiness = Readiness(self.launch.spec)
        client = Client(
            child.stdout,
            child.stdin,
            configuration=self._configuration,
            notified=self._readiness.notified,
        )
        self.client = client
        root = {"uri": uri_of(self.launch.root), "name": self.launch.root.rpartition("/")[2]}
        answer = await client.request(
            "initialize",
            {
                "processId": None,
                "clientInfo": {"name": "sightline"},
                "rootUri": root["uri"],
                "workspaceFolders": [root],
                "capabilities": CAPABILITIES,
                "initializationOptions": dict(self.launch.initialization_options),
            },
            types.InitializeResult,
        )
        self.capabilities = answer.capabilities
        self.version = answer.serverInfo.version or self.launch.spec.version
        client.notify("initialized", {})
        self.documents = Documents(client)
        self.state = State.LOADING
        missed, self._missed = self._missed, []
        if missed:
            self.changed(missed)
        await self._readiness.wait(client)
        self.state = State.READY
        if self._was_ready:
            self.launch.restarted()
        self._was_ready = True
        self._watching = asyncio.create_task(self._watch(child, client), name=f"watch {self.name}")

    async def _watch(self, child: Child, client: Client) -> None:
        """Notices the end of a running server, or of its sanity, and starts it again."""
        await client.ended.wait()
        if self._child is child:
            await self._end_child()
            self._begin_again()

    def _begin_again(self) -> None:
        self._begin(self._restart())

    def _begin(self, starting: Coroutine[Any, Any, None]) -> None:
        self._starting = asyncio.create_task(starting, name=f"start {self.name}")
        # Whoever asks is told; a start that nobody waits for may fail in silence.
        self._starting.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def _restart(self) -> None:
        if not await self._rest():
            raise Unavailable(f"{self.name} {self._reason}; run sightline doctor")
        await self._start()

    async def _rest(self) -> bool:
        """Waits before the next start; ``False`` when it has ended too often."""
        now = time.monotonic()
        self._crashes = self._crashes + 1 if now - self._last_crash < _GIVE_UP_S else 1
        self._last_crash = now
        if self._crashes >= _MAX_CRASHES:
            self._give_up(f"ended {self._crashes} times in a row")
            return False
        self.state = State.RESTING
        await asyncio.sleep(min(_FIRST_REST_S * 2 ** (self._crashes - 1), _LONGEST_REST_S))
        return True

    def _give_up(self, reason: str) -> None:
        self.state = State.FAILED
        self._reason = reason
        self._last_crash = time.monotonic()
        self._crashes = 0

    async def _end_child(self) -> None:
        client, child = self.client, self._child
        self.client = self.documents = self._child = None
        if client is not None:
            await client.close()
        if child is not None:
            await child.end()

    def _interested(self, path: str) -> bool:
        """Whether the server registered for a path; one that registered for none gets all."""
        assert self.client is not None
        watchers = [
            watcher
            for method, options in self.client.registrations.values()
            if method == "workspace/didChangeWatchedFiles"
            for watcher in options.get("watchers", ())
        ]
        return not watchers or any(self._fits(watcher, path) for watcher in watchers)

    def _fits(self, watcher: Mapping[str, Any], path: str) -> bool:
        pattern, base = watcher.get("globPattern", "**"), self.launch.root
        if isinstance(pattern, Mapping):
            uri = pattern.get("baseUri")
            uri = uri.get("uri") if isinstance(uri, Mapping) else uri
            with contextlib.suppress(UriInvalid, TypeError):
                base = path_of(str(uri)).rstrip("/")
            pattern = pattern.get("pattern", "**")
        if not isinstance(pattern, str):
            return True
        if pattern.startswith("/"):
            return matcher(pattern)(path)
        return path.startswith(base + "/") and matcher(pattern)(path[len(base) + 1 :])

    def _configuration(self, section: str) -> Any:  # noqa: ANN401 - settings are any JSON
        value: Any = self.launch.settings
        for part in section.split(".") if section else ():
            value = value.get(part) if isinstance(value, Mapping) else None
        return value

    def _not_ready(self) -> NotReady:
        return NotReady(
            f"{self.name} is not ready; retry in a moment", waiting_for=self.waiting_for()
        )


#: What this client can do. Only UTF-16 is offered, so that no position is ever converted.
CAPABILITIES: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-16"]},
    "window": {"workDoneProgress": True},
    "workspace": {
        "configuration": True,
        "workspaceFolders": True,
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
        "symbol": {"dynamicRegistration": False},
        "diagnostics": {"refreshSupport": True},
    },
    "textDocument": {
        "synchronization": {"dynamicRegistration": False},
        "definition": {"linkSupport": True},
        "references": {},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "publishDiagnostics": {"versionSupport": True},
        "diagnostic": {"dynamicRegistration": True, "relatedDocumentSupport": False},
    },
    "experimental": {"serverStatusNotification": True},
}
