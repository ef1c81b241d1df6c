"""One language server for one project: start, readiness, documents, changes, crashes, stop.

    STOPPED -> STARTING -> LOADING -> READY -> (crash) -> RESTING -> STARTING ...

Questions are put only to a READY server that has taken in every change. What makes it READY is the
registry's explicit rule, never a count that stopped changing. A server that ends by itself is
started again after a rest that doubles each time; one that keeps ending is left alone, and the
callers are told. There is never more than one process: a new start waits for the old one's end.
"""

import asyncio
import contextlib
import re
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from enum import Enum
from typing import Any

import msgspec
from msgspec import Struct, field

from sightline.contract.failures import NotReady, Unavailable
from sightline.contract.source import SourceFile
from sightline.contract.uris import is_under, path_of, uri_of
from sightline.lsp import types
from sightline.lsp.anchors import LANGUAGE, Anchors, file_in_memory, named_by
from sightline.lsp.capabilities import CAPABILITIES, takes_ranges
from sightline.lsp.client import Client, ServerError, ServerGone
from sightline.lsp.compile_database import Database
from sightline.lsp.documents import Documents
from sightline.lsp.folder_changes import folder_changes
from sightline.lsp.interest import interested, watches
from sightline.lsp.launch import Launch, Trees
from sightline.lsp.launching import Start
from sightline.lsp.published import Published
from sightline.lsp.readiness import Readiness
from sightline.lsp.registry import ServerSpec
from sightline.lsp.settling import Connection, Settler
from sightline.lsp.shortcomings import Shortcoming
from sightline.lsp.strangers import Strangers
from sightline.lsp.tsconfig import is_twin
from sightline.lsp.versions import is_older, plain
from sightline.process.child import Child, StartFailed
from sightline.workspace.changes import Change, Kind

__all__ = ["Launch", "Server", "State"]

_FIRST_REST_S = 0.5
_LONGEST_REST_S = 30.0
#: So many ends in a row without an answer, and the server is left alone until it is asked later.
_MAX_CRASHES = 5
_GIVE_UP_S = 60.0
_SHUTDOWN_S = 1.0
#: A server that owes an answer and says nothing for so long, or takes so long to start or to take
#: in a change, is stuck.
_SILENCE_S = 120.0
_START_S = 600.0
_SETTLE_S = 120.0

#: What configurations are written in.
_JSON = "jsonc"
#: The method is not known, or its parameters were not understood at all.
_NOT_UNDERSTOOD = frozenset({-32601, -32700})
#: Content modified, server cancelled, request cancelled.
_RETRYABLE = frozenset({-32801, -32802, -32800})


class State(Enum):
    STOPPED = "stopped"
    STARTING = "starting"
    LOADING = "loading"
    READY = "ready"
    RESTING = "restarting"
    FAILED = "failed"


#: The question about nothing but a document.
_OUTLINE = "textDocument/documentSymbol"


class _LoadAgain(Exception):
    """What it has read is to be loaded from what it kept, which is more than it knows now."""


class _TooOld(Exception):
    """The server calls itself a version that must not read a project."""


class Server(Struct, eq=False):
    launch: Launch
    state: State = State.STOPPED
    client: Client | None = None
    documents: Documents | None = None
    published: Published = field(default_factory=Published)
    version: str = ""
    capabilities: dict[str, Any] = {}
    #: When it was last asked something.
    used: float = 0.0
    #: Whether a user's question was put to it.
    asked: bool = False
    #: The end of what its last process said on standard error: for people, never for a client.
    complaint: str = ""
    _child: Child | None = None
    _readiness: Readiness | None = None
    _settler: Settler | None = None
    _starting: asyncio.Task[None] | None = None
    _settling: asyncio.Task[None] | None = None
    _watching: asyncio.Task[None] | None = None
    _crashes: int = 0
    _last_crash: float = 0.0
    _reason: str = ""
    _missed: list[Change] = []
    _anchors: Anchors = Anchors()
    _anchors_due: bool = False
    #: Processes that are to be ended before the next one starts.
    _leaving: list[tuple[Client | None, Child | None]] = []
    #: Whoever starts or ends a process has it until that is done.
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _ending: asyncio.Task[None] | None = None
    _names: int = 0
    #: How many questions wait about each document.
    _used: dict[str, int] = {}
    #: Set when nobody waits any more.
    _quiet: asyncio.Event = field(default_factory=asyncio.Event)
    _strangers: Strangers = field(default_factory=Strangers)
    _database: Database = Database()
    #: What was lacking before it started.
    _lacking: tuple[Shortcoming, ...] = ()
    #: How what lies outside was before it started, and how it is now.
    _outside: object = None
    _look_outside: Callable[[], object] | None = None
    #: Whether a file may be left out of the project.
    _leaves_out: Callable[[str], bool] = lambda path: True

    @property
    def name(self) -> str:
        return self.launch.name

    @property
    def spec(self) -> ServerSpec:
        return self.launch.spec

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child is not None else None

    @property
    def running(self) -> bool:
        """Whether it has, or is about to have, a process."""
        return self.state not in (State.STOPPED, State.FAILED)

    @property
    def idle(self) -> bool:
        """Whether nobody waits for it and it is not busy starting."""
        busy = self._settling is not None and not self._settling.done()
        return self.state is State.READY and not self.pending and not busy

    @property
    def units(self) -> frozenset[str]:
        """The files of the compilation database it was started with."""
        return self._database.units

    @property
    def shortcomings(self) -> list[Shortcoming]:
        """What stands in the way of complete answers: found at its start, or said by itself."""
        said = self._readiness.shortcomings if self._readiness is not None else []
        return [*self._lacking, *said]

    @property
    def words(self) -> str:
        """What it said about that which it lacks: for people, never for a client."""
        return self._readiness.words if self._readiness is not None else ""

    @property
    def pending(self) -> int:
        return self.client.pending if self.client is not None else 0

    def start(self) -> asyncio.Task[None]:
        """Begins to start, unless it runs or is being started. Never two at a time."""
        if self._starting is None:
            self._begin(self._start)
        assert self._starting is not None
        return self._starting

    async def ready(self) -> Client:
        """The client, once the server may be believed and knows every change."""
        while True:
            self._check_sanity()
            if self._settler is not None and self._settler.elsewhere:
                self._catch_up(self._settler)
            self.used = time.monotonic()
            start = self.start()
            if not start.done():
                # Not awaited itself: a start that is replaced by another one is cancelled.
                await asyncio.wait({start})
            if start.cancelled():
                if self._starting is None or self._starting is start:
                    raise self._not_ready()
                continue
            start.result()
            if self._starting is not start:
                continue
            settling = self._settling
            if settling is not None and not settling.done():
                await asyncio.wait({settling})
                if not settling.cancelled():
                    settling.result()  # a bug of ours is told as one
                continue
            if self.client is None or self.client.gone is not None or self.state is not State.READY:
                raise self._not_ready()
            if self._readiness is not None and self._readiness.broken:
                raise self._could_not_load()
            if self._anchors_due or (self._settler is not None and self._settler.pending):
                self._settle_soon()
                continue
            return self.client

    async def ask(
        self,
        method: str,
        params: object,
        result: Any,  # noqa: ANN401 - the decoder's target type
        *,
        wide: bool = True,
    ) -> Any:  # noqa: ANN401
        """One question to the ready server. ``wide``: its answer depends on the whole project."""
        client = await self._alone(None)
        with self._using(""):
            if wide:
                self._widen()
            answer = await self._request(client, method, params, result)
        if wide and self._is_blind() and len(self._anchors.opened) < 2:
            raise self._could_not_load()  # it knows nothing of all there is
        return answer

    async def ask_about(
        self,
        file: SourceFile,
        language: str,
        method: str,
        params: object,
        result: Any,  # noqa: ANN401
        *,
        wide: bool = False,
    ) -> Any:  # noqa: ANN401
        """One question about a document, which the server sees with exactly the caller's text."""
        client = await self._alone(file.path, narrow=method == _OUTLINE)
        with self._using(file.uri):
            if wide:
                self._widen()
            self._show(file, language)
            return await self._request(client, method, params, result)

    async def diagnostics_pushed(self, file: SourceFile, language: str) -> list[Any]:
        """The list the server publishes for exactly this text."""
        await self._alone(file.path, narrow=True)
        version = self._show(file, language)
        try:
            with self._using(file.uri):
                return await self.published.of(file.uri, version)
        except ServerGone:
            raise self._not_ready() from None

    async def diagnostics_under_own_name(self, file: SourceFile, language: str) -> list[Any]:
        """The list for this text from a server that does not say which text a list is for."""
        await self.ready()
        assert self.documents is not None
        documents = self.documents
        self._names += 1
        uri = f"{file.uri}?{self._names}"
        documents.show_once(uri, file, language)
        try:
            return await self.published.of(uri, None)
        except ServerGone:
            raise self._not_ready() from None
        finally:
            documents.close_once(uri)
            self.published.forget(uri)

    def changed(self, changes: Sequence[Change]) -> None:
        """Tells the server what changed on disk; what it had open is closed or shown anew."""
        if self.state in (State.STOPPED, State.FAILED, State.RESTING):
            return  # it will read the disk when it starts
        if self._settler is None or self.client is None:
            self._missed.extend(changes)
            return
        client, folder = self.client, self.launch.folder
        trees, speaks = self.launch.trees(), self.launch.project().speaks
        told = [
            change
            for change in changes
            if self._is_own(change.path)
            or interested(client, folder, change.path)
            # It may read what lies elsewhere without asking to hear of it.
            or (not is_under(change.path, folder) and speaks(_name(change.path)))
        ]
        folders = folder_changes(changes, told, trees)
        self._settler.changed(changes, told, folders)
        self._strangers.touched = self._strangers.touched or bool(told)
        if self._settler.must_restart or self._is_another_project(changes, folders, trees):
            self._begin_over()
            return
        if self.spec.opens in ("tsconfig", "gomod"):
            markers = self.spec.root_markers
            self._anchors_due = self._anchors_due or any(
                c.kind != Kind.CHANGED or _name(c.path) in markers for c in changes
            )
        if self._settler.pending or self._anchors_due:
            self._settle_soon()

    def _is_another_project(
        self, changes: Sequence[Change], folders: Sequence[Change], trees: Trees
    ) -> bool:
        """Whether what the project is made of, or what a module's name stands for, is different."""
        if any(change.path in self._anchors.decided_by for change in changes):
            return True
        if self.spec.resolves_once and self._anchors.named and folders:
            return True
        if self.spec.opens == "gomod" and self._is_new_package(changes, trees):
            return True
        return self.spec.resolves_once and any(
            change.kind != Kind.CHANGED
            and is_twin(change.path, _names_in(change.path.rpartition("/")[0], trees))
            for change in changes
        )

    def _is_new_package(self, changes: Sequence[Change], trees: Trees) -> bool:
        """Whether a folder has its first files: nobody would look there before they are opened."""
        came = {change.path for change in changes if change.kind == Kind.CREATED}
        speaks = self.launch.project().speaks
        return any(
            all(f"{folder}/{name}" in came for name in _names_in(folder, trees) if speaks(name))
            for folder, _, name in (path.rpartition("/") for path in came)
            if speaks(name)
        )

    def waiting_for(self) -> str:
        """What a caller that runs out of time was waiting for. Constant texts, no times."""
        if self.state is State.READY:
            settling = self._settling is not None and not self._settling.done()
            return f"{self.name} to {'take in the changes' if settling else 'answer'}"
        words = {State.RESTING: "restart", State.LOADING: "load the project"}
        return f"{self.name} to {words.get(self.state, 'start')}"

    async def stop(self) -> None:
        """Shutdown, exit, then the whole tree is ended, even if nobody waits for it any more."""
        for task in (self._watching, self._settling, self._starting):
            if task is not None:
                task.cancel()
        client = self.client
        self._leave()
        self._starting = self._watching = self._settling = None
        self.state = State.STOPPED
        self._ending = asyncio.create_task(self._end(client), name=f"end {self.name}")
        await asyncio.shield(self._ending)

    async def _end(self, client: Client | None) -> None:
        async with self._turn:
            if client is not None and client.gone is None:
                with contextlib.suppress(ServerError, ServerGone, TimeoutError):
                    async with asyncio.timeout(_SHUTDOWN_S):
                        await client.request("shutdown", None, Any)
                client.notify("exit")
            await self._end_leaving()

    def start_over(self) -> None:
        """What it has read counts no longer."""
        if self.running:
            self._begin_over()

    def is_mended(self) -> bool:
        """Whether something outside changed that it lacked. Looks at the disk."""
        look, before = self._look_outside, self._outside
        if look is None or self.state is not State.READY or not self.shortcomings:
            return False
        return look() != before

    def exhausted(self, reason: str) -> None:
        """It took more than it may: its process is ended, and it starts again after a rest."""
        if self._child is not None:
            self._reason = reason
            self._crashed()

    # Starting

    async def _start(self) -> None:
        again = False
        while True:
            self.state = State.STARTING
            try:
                async with asyncio.timeout(_START_S):
                    await self._start_once(again)
            except StartFailed as failed:
                self._give_up(f"could not be started ({failed})")
                raise self._given_up() from None
            except _LoadAgain:
                self._leave()
                await self._end_leaving()
                again = True
            except _TooOld:
                self._leave()
                await self._end_leaving()
                self._give_up(f"{self.version} is not used: {self.spec.oldest_why}")
                raise self._given_up() from None
            except (ServerGone, ServerError, TimeoutError):
                self._leave()
                await self._end_leaving()
                if not await self._rest():
                    raise self._given_up() from None
            else:
                return

    async def _start_once(self, again: bool) -> None:
        await self.launch.admit(self)
        self._missed.clear()  # what changed until here is on disk before anything is read
        try:
            start = await self.launch.prepare()
        except OSError as error:  # such as a full disk: its text would name a path
            why = error.strerror or "the disk is at fault"
            raise Unavailable(f"{self.name} could not be started ({why}); try again") from None
        if start is None:
            raise Unavailable(f"{self.name} is not installed any more; run sightline doctor")
        self._lacking, self._look_outside = tuple(start.shortcomings), start.outside
        self._leaves_out = start.leaves_out
        self.launch.relies_on(start.beside)
        if start.outside is not None:
            self._outside = await asyncio.to_thread(start.outside)
        child = await self.launch.spawn(start)
        self._child = child
        readiness = self._readiness = Readiness(self.name, self.spec)
        client = Client(
            child.listen,
            child.stdin,
            configuration=start.configured,
            notified=self._notified,
        )
        self.client = client
        await self._initialize(client, start)
        self.documents = Documents(
            client,
            incremental=takes_ranges(self.capabilities),
            reopens=self.spec.compile_database,
        )
        self.published = Published()
        connection = Connection(
            self.spec,
            client,
            self.documents,
            self.published,
            readiness,
            self.launch.read,
            self._is_own,
            self._is_used,
            self._some_file,
            self.launch.folder,
            start.database,
            start.leads_out,
        )
        self._settler, self._database = Settler(connection), start.database
        self.state = State.LOADING
        self._hold(start.anchors)
        missed, self._missed = self._missed, []
        if missed:
            self.changed(missed)
        if self.spec.opens == "any" and not start.anchors.opened:
            readiness.nothing_to_load()
        await readiness.wait(client)
        if start.database.entangled and readiness.pieces > 1 and not again:
            raise _LoadAgain
        self.state = State.READY
        self._reason = ""
        self._watching = asyncio.create_task(self._watch(child, client), name=f"watch {self.name}")

    async def _initialize(self, client: Client, start: Start) -> None:
        folder = self.launch.folder
        root = {"uri": uri_of(folder), "name": folder.rpartition("/")[2]}
        answer = await client.request(
            "initialize",
            {
                "processId": None,
                "clientInfo": {"name": "sightline"},
                "rootUri": root["uri"],
                "rootPath": folder,
                "workspaceFolders": [root],
                "capabilities": CAPABILITIES,
                "initializationOptions": dict(start.initialization_options),
            },
            types.InitializeResult,
        )
        self.capabilities = answer.capabilities
        self.version = plain(answer.serverInfo.version) or self.version or self.launch.version
        if is_older(self.version, self.spec.oldest):
            raise _TooOld
        client.notify("initialized", {})
        for method in self.spec.announce:
            client.notify(method, {})
        if start.settings:
            # Some servers take their settings from here, others ask for them then.
            settings = {"settings": start.settings}
            client.notify("workspace/didChangeConfiguration", settings)

    def _hold(self, anchors: Anchors) -> None:
        """Opens the files without which the server does not know its project."""
        assert self.documents is not None
        self._anchors = anchors
        if not anchors.too_many:
            read = map(self.launch.read, anchors.opened)
            files = [(file_in_memory(*each), _JSON) for each in anchors.reworded]
            files += [file for file in read if file is not None]
            if anchors.named:
                files.append((named_by(self.launch.folder, anchors.named), LANGUAGE))
            self.documents.hold(files)

    async def _watch(self, child: Child, client: Client) -> None:
        """Notices the end of a running server, or of its sanity, and starts it again."""
        await client.ended.wait()
        if self._child is child:
            self._crashed()

    def _crashed(self) -> None:
        self.state = State.RESTING
        self._begin(self._restart)
        self.launch.ended()

    async def _restart(self) -> None:
        if not await self._rest():
            raise self._given_up()
        await self._start()

    def _begin_over(self) -> None:
        """A new start because of a change; what runs is ended first."""
        self.state = State.STARTING
        self._begin(self._start)

    def _begin(self, starting: Callable[[], Awaitable[None]]) -> None:
        """A new start in place of one that goes on, if there is one, and of what runs."""
        if self._starting is not None:
            self._starting.cancel()
        self._leave()

        async def alone() -> None:
            if self.state is State.STOPPED:
                self.state = State.STARTING
            async with self._turn:  # the one before has let go of its process by then
                await self._end_leaving()
                try:
                    await starting()
                finally:
                    await self._forget_failed()

        self._starting = asyncio.create_task(alone(), name=f"start {self.name}")
        # Whoever asks is told; a start that nobody waits for may fail in silence.
        self._starting.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def _forget_failed(self) -> None:
        """After a start that failed: the next question tries again."""
        current = self._starting is asyncio.current_task()
        if current and self.state not in (State.READY, State.FAILED):
            self._leave()
            self._starting, self.state = None, State.STOPPED
            await self._end_leaving()

    async def _rest(self) -> bool:
        """Waits before the next start; ``False`` when it has ended too often."""
        now = time.monotonic()
        self._crashes = self._crashes + 1 if now - self._last_crash < _GIVE_UP_S else 1
        self._last_crash = now
        if self._crashes >= _MAX_CRASHES:
            self._give_up(self._reason or f"ended {self._crashes} times in a row")
            return False
        self.state = State.RESTING
        await asyncio.sleep(min(_FIRST_REST_S * 2 ** (self._crashes - 1), _LONGEST_REST_S))
        return True

    def _give_up(self, reason: str) -> None:
        self.state = State.FAILED
        self._reason = reason
        self._last_crash = time.monotonic()
        self._crashes = 0

    def _leave(self) -> None:
        """Lets go of the process, if there is one; ``_end_leaving`` ends it."""
        if self.client is not None or self._child is not None:
            self._leaving.append((self.client, self._child))
        self.published.ended(ServerGone("it ended"))
        self.client = self.documents = self._child = self._settler = self._readiness = None
        self._missed.clear()
        self._strangers.clear()
        self._anchors_due = False

    async def _end_leaving(self) -> None:
        while self._leaving:
            client, child = self._leaving[0]
            if client is not None:
                await client.close()
            if child is not None:
                await child.end()
                self.complaint = child.stderr_tail() or self.complaint
            if self._leaving and self._leaving[0] == (client, child):
                self._leaving.pop(0)

    # Changes

    def _catch_up(self, settler: Settler) -> None:
        settler.catch_up()
        if settler.must_restart:
            self._begin_over()
        elif settler.pending:
            self._settle_soon()

    def _settle_soon(self) -> None:
        if self._settling is None or self._settling.done():
            self._settling = asyncio.create_task(self._settle(), name=f"settle {self.name}")
            self._settling.add_done_callback(self._settled)

    def _settled(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            self._begin_over()  # nobody knows what it has taken in

    async def _settle(self) -> None:
        """Until the server has taken in every change; one that does not starts over."""
        try:
            async with asyncio.timeout(_SETTLE_S):
                while self._settler is not None and (self._anchors_due or self._settler.pending):
                    if self._anchors_due:
                        self._anchors_due = False
                        documents, project = self.documents, self.launch.project()
                        anchors = await asyncio.to_thread(project.anchors)
                        if self.documents is not documents:
                            continue  # it ended meanwhile; the next one finds its own
                        self._hold(anchors)
                    await self._settler.settle()
        except ServerGone:
            pass  # its end is noticed elsewhere
        except (ServerError, OSError):  # it refused, it took too long, or the disk is at fault
            self._begin_over()

    def _notified(self, method: str, params: msgspec.Raw) -> None:
        if method == "textDocument/publishDiagnostics":
            self.published.notified(params)
        if self._readiness is not None:
            self._readiness.notified(method, params)
        if self._settler is not None:
            self._settler.notified(method, params)

    def _is_own(self, path: str) -> bool:
        project = self.launch.project()
        name = _name(path)
        return project.holds(path) and (name in self.spec.root_markers or project.speaks(name))

    def _is_used(self, path: str) -> bool:
        """Whether a path elsewhere is one that the server may have read, or looked for."""
        if self.client is None or is_under(path, self.launch.folder):
            return False
        if self.spec.compile_database:
            return path in self._database.outside
        name = _name(path)
        if name not in self.spec.root_markers and not self.launch.project().speaks(name):
            return False
        return not watches(self.client) or interested(self.client, self.launch.folder, path)

    def _some_file(self) -> str | None:
        return next(iter(self.launch.project().files()), None)

    # Asking

    async def _request(
        self,
        client: Client,
        method: str,
        params: object,
        result: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        try:
            return await client.request(method, params, result)
        except ServerGone:
            raise self._not_ready() from None
        except ServerError as error:
            if error.code in _RETRYABLE:
                raise NotReady(waiting_for=f"{self.name} to settle") from None
            if self.spec.no_symbol and re.search(self.spec.no_symbol, error.message):
                return None
            if self._is_blind():
                raise self._could_not_load() from None
            if error.code in _NOT_UNDERSTOOD:
                newer = f"; a newer one may: {self.spec.get}" if self.spec.get else ""
                raise Unavailable(f"this {self.name} does not answer that{newer}") from None
            raise Unavailable(f"{self.name} could not answer; run sightline doctor") from None

    def _is_blind(self) -> bool:
        return self._readiness is not None and self._readiness.blind

    def _given_up(self) -> Unavailable:
        return Unavailable(f"{self.name} {self._reason}; run sightline doctor")

    def _could_not_load(self) -> Unavailable:
        return Unavailable(f"{self.name} could not load the project; run sightline doctor")

    def _check_sanity(self) -> None:
        if self.state is State.FAILED:
            if time.monotonic() - self._last_crash < _GIVE_UP_S:
                raise self._given_up()
            self._starting = None  # long enough ago: one more try
        if self.client is not None and self.client.silent_for() > _SILENCE_S:
            self._begin_over()

    async def _alone(self, path: str | None, *, narrow: bool = False) -> Client:
        """The ready client, which was shown nothing that changes the answer to a question.

        Otherwise it starts over, when nobody waits for an answer. ``narrow``: only the file that is
        asked about decides the answer.
        """
        while True:
            client = await self.ready()
            if not self.spec.compile_database:
                return client
            strangers, documents, count = self._strangers, self.documents, len(self._strangers)
            strange = path is not None and path not in self._database.units
            new = strange and path not in strangers
            fit = narrow or not (strange and strangers.touched)
            if fit and not narrow and count:
                assert documents is not None
                with contextlib.suppress(ServerGone):
                    known = self._database, documents, self.published
                    fit = not await strangers.matter(path, *known)
            if self.client is not client or len(strangers) != count:
                continue  # meanwhile it ended, or was shown more
            if fit and not (new and self._used):
                return client
            if self._used:
                self._quiet.clear()
                await self._quiet.wait()
            else:
                self._begin_over()

    def _show(self, file: SourceFile, language: str) -> int:
        assert self.documents is not None
        version = self.documents.show(file, language)
        if self.spec.compile_database and file.path not in self._database.units:
            self._strangers.add(file.path, version)
        return version

    def _widen(self) -> None:
        """Before a question about the whole project: nothing of it is in doubt."""
        if self._anchors.too_many:
            markers = " or ".join(self.spec.root_markers)
            raise Unavailable(f"too many files here belong to no project; add a {markers}")
        if self.spec.opened_join and self.documents is not None:
            self.documents.close_others(
                lambda uri: uri in self._used or not self._leaves_out(path_of(uri))
            )

    @contextlib.contextmanager
    def _using(self, uri: str) -> Iterator[None]:
        """While somebody waits for an answer about a document, it stays open."""
        self._used[uri] = self._used.get(uri, 0) + 1
        try:
            yield
        finally:
            self._used[uri] -= 1
            if not self._used[uri]:
                del self._used[uri]
            if not self._used:
                self._quiet.set()

    def _not_ready(self) -> NotReady:
        cause = f" because it {self._reason}" if self._reason else ""
        return NotReady(
            f"{self.name} is not ready{cause}; retry in a moment", waiting_for=self.waiting_for()
        )


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _names_in(folder: str, trees: Trees) -> Collection[str]:
    return next((tree[folder] for _, tree in trees if folder in tree), ())
