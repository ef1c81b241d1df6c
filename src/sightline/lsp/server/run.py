"""One run of a server: a process, the connection to it, and everything that ends with it.

A run is made when its process has started and is never used again after it was left. It knows what
the process has open and was told, and takes in changes; when it cannot, it says so and its owner
starts another run.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from sightline.contract.failures import Unavailable
from sightline.contract.source import SourceFile
from sightline.contract.uris import path_in, uri_of
from sightline.lsp.c.by_itself import does_not_compile
from sightline.lsp.c.kept_errors import with_errors
from sightline.lsp.server.definitions import Definitions
from sightline.lsp.server.documents import Documents
from sightline.lsp.server.folder_changes import folder_changes
from sightline.lsp.server.launch import Launch
from sightline.lsp.server.project_changes import ProjectChanges
from sightline.lsp.server.published import Published
from sightline.lsp.server.readiness import Readiness
from sightline.lsp.server.settling import Connection, Settler
from sightline.lsp.server.uncompiled import Uncompiled
from sightline.lsp.start.launcher import Start
from sightline.lsp.start.versions import plain
from sightline.lsp.typescript.held_open import LANGUAGE, HeldOpen, file_in_memory, named_by
from sightline.lsp.wire import messages
from sightline.lsp.wire.capabilities import CAPABILITIES, takes_ranges
from sightline.lsp.wire.client import Client, ServerError, ServerGone
from sightline.process.child import Child
from sightline.workspace.changes import Change

__all__ = ["Run"]

_SHUTDOWN_S = 1.0
#: A server that takes so long to take in a change is stuck.
_SETTLE_S = 120.0
_DIAGNOSTICS = "textDocument/publishDiagnostics"
#: What configurations are written in.
_JSON = "jsonc"


class Run:
    def __init__(
        self,
        launch: Launch,
        start: Start,
        child: Child,
        *,
        unsettled: Callable[["Run"], None],
        is_used: Callable[[str], bool],
    ) -> None:
        self._launch = launch
        #: Called when nobody knows any more what the server has taken in.
        self._unsettled = unsettled
        self.start = start
        self.child = child
        #: Whether it may be told of documents and changes.
        self.initialized = False
        #: What it said it can do.
        self.capabilities: Mapping[str, Any] = {}
        self.readiness = Readiness(launch.name, launch.spec)
        self.published = Published(lambda uri: uri in self.documents)
        self.uncompiled = Uncompiled()
        #: The files that were read with errors when the index was made; ``None`` until looked for.
        self._errors: frozenset[str] | None = None
        #: The sources that changed since, and whether the server has found errors in them.
        self._edited: dict[str, bool] = {}
        self.definitions = Definitions()
        self.client = Client(
            child.listen,
            child.stdin,
            configuration=start.configured,
            notified=self._notified,
            misheard=self._misheard,
        )
        self.documents = Documents(
            self.client,
            reopens=launch.spec.compile_database,
            overtake=self.published.overtake,
            is_used=is_used,
        )
        self.held_open = HeldOpen()
        self._held_open_due = False
        #: The scripts that are held open; ``None`` until they were looked for. That is when it has
        #: loaded what it finds itself, so that its memory has the same order after every start.
        self._scripts: frozenset[str] | None = None
        self._scripts_due = self._is_loaded = False
        self._project = ProjectChanges(launch, self.client, start.database)
        self._settling: asyncio.Task[None] | None = None
        self._settler = Settler(
            Connection(
                spec=launch.spec,
                client=self.client,
                documents=self.documents,
                published=self.published,
                readiness=self.readiness,
                read=launch.read,
                is_own=self._project.is_own,
                is_used=self._project.is_used,
                some_file=self._project.some_file,
                folder=launch.folder,
                database=start.database,
                leads_out=start.leads_out,
            )
        )

    # The conversation

    async def initialize(self) -> str:
        """The first request; the version that the server calls itself, if it does."""
        folder = self._launch.folder
        root = {"uri": uri_of(folder), "name": folder.rpartition("/")[2]}
        answer = await self.client.request(
            "initialize",
            {
                "processId": None,
                "clientInfo": {"name": "sightline"},
                "rootUri": root["uri"],
                "rootPath": folder,
                "workspaceFolders": [root],
                "capabilities": CAPABILITIES,
                "initializationOptions": dict(self.start.initialization_options),
            },
            messages.InitializeResult,
        )
        self.capabilities = answer.capabilities
        self.documents.incremental = takes_ranges(answer.capabilities)
        return plain(answer.serverInfo.version)

    def begin(self) -> None:
        """The server is wanted as it is: it gets its settings and what must be open."""
        self.client.notify("initialized", {})
        for method in self._launch.spec.announce:
            self.client.notify(method, {})
        if self.start.settings:
            # Some servers take their settings from here, others ask for them then.
            settings = {"settings": self.start.settings}
            self.client.notify("workspace/didChangeConfiguration", settings)
        self.initialized = True
        self._hold(self.start.held_open)

    async def loaded(self) -> None:
        """Returns when the server is ready by its rule; raises when it ends before."""
        if self._launch.spec.opens == "any" and not self.start.held_open.opened:
            self.readiness.nothing_to_load()
        await self.readiness.wait(self.client)
        self._is_loaded = True

    @property
    def scripts(self) -> frozenset[str]:
        """The scripts that are held open because only their first line tells what they are."""
        return self._scripts or frozenset()

    async def knows_less_than_it_kept(self) -> bool:
        """Whether it has read what it could make less of than it wrote, and must be started once
        more to load that.
        """
        if not self._launch.spec.compile_database:
            return False
        # It runs where its database and its index are.
        return await asyncio.to_thread(self.start.database.is_outdone, self.start.cwd)

    @property
    def is_to_read_more(self) -> bool:
        """Whether there are files that it must not read before it has kept what it read now."""
        return self.start.database.unfinished

    async def with_errors(self) -> frozenset[str]:
        """The files of a compiler's project that did not make sense to it throughout."""
        if self._errors is None:
            database = self.start.database
            paths = database.units.union(database.files)
            self._errors = await asyncio.to_thread(with_errors, self.start.cwd, paths)
        if not self._edited:
            return self._errors
        wrong = {path for path, said in self._edited.items() if said}
        return self._errors.difference(self._edited).union(wrong)

    def leave(self) -> None:
        """Nobody waits for this run any longer; its process is still to be ended."""
        if self._settling is not None:
            self._settling.cancel()
        self.published.ended(ServerGone("it ended"))

    async def say_goodbye(self) -> None:
        """The end as the protocol wants it, for a server that listens."""
        if self.client.gone is None:
            with contextlib.suppress(ServerError, ServerGone, TimeoutError):
                async with asyncio.timeout(_SHUTDOWN_S):
                    await self.client.request("shutdown", None, Any)
            self.client.notify("exit")

    async def end(self) -> None:
        """Ends the whole tree. Safe to call twice."""
        await self.client.close()
        await self.child.end()

    # Changes

    @property
    def pending(self) -> bool:
        """Whether the server has still to take in a change."""
        return self._held_open_due or self._settler.pending or self._must_look_for_scripts

    @property
    def is_at_rest(self) -> bool:
        """Whether it can be asked, owes nobody an answer, and nothing has to be done before."""
        client, task = self.client, self._settling
        if client.gone is not None or client.pending or self.readiness.broken:
            return False
        settled = task is None or task.done()
        return settled and not self._settler.elsewhere and not self.pending

    @property
    def _must_look_for_scripts(self) -> bool:
        if self._scripts is not None:
            return self._scripts_due
        reads = self._is_loaded and self._launch.spec.reads_scripts
        return reads and self._launch.project().is_known

    @property
    def settling(self) -> asyncio.Task[None] | None:
        """What waits until the server has taken in every change, while it does."""
        running = self._settling is not None and not self._settling.done()
        return self._settling if running else None

    def changed(self, changes: Sequence[Change]) -> bool:
        """Tells the server what changed on disk; whether it must start over instead."""
        self.definitions.forget()
        trees, told = self._launch.trees(), self._project.told(changes)
        folders = folder_changes(changes, told, trees)
        self._settler.changed(changes, told, folders)
        self.uncompiled.touched = self.uncompiled.touched or bool(told)
        self._edited |= {c.path: False for c in changes if c.path in self.start.database.units}
        another = self._project.make_another
        if self._settler.must_restart or another(changes, folders, trees, self.held_open):
            return True
        if self._scripts_move(changes):
            if self._scripts is not None and not self._launch.spec.forgets_closed:
                return True
            self._scripts_due = True  # also where they are being looked for just now
        self._held_open_due = self._held_open_due or self._project.may_move(changes)
        if self.pending:
            self.settle_soon()
        return False

    def _scripts_move(self, changes: Sequence[Change]) -> bool:
        """Whether other scripts are to be held open than are."""
        if not self._launch.spec.reads_scripts:
            return False
        known = (change.path for change in changes if change.path in self.scripts)
        # What could not be shown anew was closed: it is no script any more, or no text.
        closed = any(uri_of(path) not in self.documents for path in known)
        return closed or self._project.scripts_move(changes, self.scripts, self.start.leads_out)

    def catch_up(self) -> bool:
        """Does what changes outside the project make necessary; whether it must start over."""
        if self._settler.elsewhere:
            self.definitions.forget()
            self._settler.catch_up()
            if self._settler.must_restart:
                return True
            if self._settler.pending:
                self.settle_soon()
        return False

    def settle_soon(self) -> None:
        if self.settling is None:
            name = f"settle {self._launch.name}"
            self._settling = asyncio.create_task(self._settle(), name=name)
            self._settling.add_done_callback(self._settled)

    def _settled(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            self._unsettled(self)

    async def _settle(self) -> None:
        """Until the server has taken in every change."""
        try:
            async with asyncio.timeout(_SETTLE_S):
                while self.pending:
                    if self._held_open_due:
                        self._held_open_due = False
                        held_open = await asyncio.to_thread(self._launch.project().held_open)
                        if held_open.extended - self.held_open.extended:
                            self._unsettled(self)  # it is too late to load these first
                            return
                        self._hold(held_open)
                    if self._must_look_for_scripts:
                        self._scripts_due = False
                        look = self._launch.project().shown_scripts
                        scripts = await asyncio.to_thread(look)
                        if self._kept_others(scripts):
                            self._unsettled(self)
                            return
                        self._hold_scripts(scripts)
                    await self._settler.settle()
        except ServerGone:
            pass  # its end is noticed elsewhere
        except (ServerError, OSError):  # it refused, it took too long, or the disk is at fault
            self._unsettled(self)

    def _notified(self, method: str, params: msgspec.Raw) -> None:
        self.readiness.notified(method, params)
        if self.initialized:
            if method == _DIAGNOSTICS:
                self._taken_in(self.published.notified(params))
            self._settler.notified(method, params)

    def _misheard(self, method: str, params: bytes) -> None:
        """A notification that cannot be read: for most nobody waits."""
        if self.initialized and method == _DIAGNOSTICS:
            self._taken_in(self.published.misheard(params))

    def _taken_in(self, document: tuple[str, int | None] | None) -> None:
        """Diagnostics came for a version of a document."""
        if document is not None:
            self.documents.seen(*document)
            self._note_errors(document[0])

    def _note_errors(self, uri: str) -> None:
        """Of a document that is closed nothing is said, and it stays as it was read."""
        path = path_in(uri)
        if path in self._edited and uri in self.documents:
            said = self.published.last(uri)
            self._edited[path] = said is None or does_not_compile(said)

    # Documents

    def show(self, file: SourceFile, language: str) -> int:
        """Makes the server see a file with exactly this text; its version."""
        version = self.documents.show(file, language)
        if self._launch.spec.compile_database and not self.start.database.compiles(file.path):
            self.uncompiled.add(file.path, version)
        return version

    def _hold(self, held_open: HeldOpen) -> None:
        """Opens the documents that make the server load every project, and keeps them open."""
        self.held_open = held_open
        if not held_open.too_many:
            read = map(self._launch.read, held_open.opened)
            files = [(file_in_memory(*each), _JSON) for each in held_open.reworded]
            files += [file for file in read if file is not None]
            if held_open.named:
                files.append((named_by(self._launch.folder, held_open.named), LANGUAGE))
            self.documents.hold(files)

    def _kept_others(self, scripts: Sequence[str]) -> bool:
        """Whether the server was shown other scripts before, in another order, and forgets none."""
        if self._scripts is None or self._launch.spec.forgets_closed:
            return False
        return self._scripts != frozenset(scripts)

    def _hold_scripts(self, paths: Sequence[str]) -> None:
        """Opens the scripts that the server does not find by itself, and keeps them open."""
        files = [file for file in map(self._launch.read, paths) if file is not None]
        self._scripts = frozenset(file.path for file, _ in files)
        self.documents.hold_besides(files)

    def could_not_load(self) -> Unavailable:
        return Unavailable(f"{self._launch.name} could not load the project; run sightline doctor")
