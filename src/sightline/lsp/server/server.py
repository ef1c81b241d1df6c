"""One language server for one project, as the rest of Sightline knows it.

``lifecycle`` owns its processes, ``run`` is one of them, ``project_changes`` knows which changes
concern it, ``asking`` puts the questions. A question is put only to a READY server that has taken
in every change. What makes it READY is the registry's explicit rule, never a count that stopped
changing.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from sightline.contract.source import SourceFile
from sightline.lsp.registry import ServerSpec
from sightline.lsp.server.definitions import Definitions
from sightline.lsp.server.launch import Launch
from sightline.lsp.server.lifecycle import Lifecycle, State
from sightline.lsp.server.requests import Asking
from sightline.lsp.server.run import Run
from sightline.lsp.shortcomings import Shortcoming
from sightline.workspace.changes import Change

__all__ = ["Launch", "Server", "State"]

#: A server that owes an answer and says nothing for so long is stuck.
_SILENCE_S = 120.0
#: So is one that was shown a document and has not read it for so long.
_UNREAD_S = 300.0


class Server:
    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        #: When it was last asked something.
        self.used = 0.0
        #: Whether a user's question was put to it.
        self.asked = False
        #: What changed since the start began to read the disk, until the server can be told.
        self._missed: list[Change] = []
        #: How many questions wait about each document.
        used: dict[str, int] = {}
        self._lifecycle = Lifecycle(
            launch, admit=self._admit, begun=self._begun, is_used=used.__contains__
        )
        self._asking = Asking(launch, self._lifecycle, ready=self.ready, used=used)

    # What is known of it

    @property
    def name(self) -> str:
        return self.launch.name

    @property
    def spec(self) -> ServerSpec:
        return self.launch.spec

    @property
    def state(self) -> State:
        return self._lifecycle.state

    @property
    def version(self) -> str:
        return self._lifecycle.version

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """What it said it can do; nothing while it does not run."""
        return self._run.capabilities if self._run is not None else {}

    @property
    def complaint(self) -> str:
        """The end of what its last process said on standard error: for people, never a client."""
        return self._lifecycle.complaint

    @property
    def pid(self) -> int | None:
        return self._run.child.pid if self._run is not None else None

    @property
    def running(self) -> bool:
        """Whether it has, or is about to have, a process."""
        return self._lifecycle.active

    @property
    def idle(self) -> bool:
        """Whether nobody waits for it and it is not busy starting."""
        settling = self._run is not None and self._run.settling is not None
        return self.state is State.READY and not self.pending and not settling

    @property
    def units(self) -> frozenset[str]:
        """The files of the compilation database it was started with."""
        start = self._lifecycle.prepared
        return start.database.units if start is not None else frozenset()

    def compiles(self, path: str) -> bool:
        """Whether a file of that database is compiled by itself, and is no part of another."""
        start = self._lifecycle.prepared
        return start is not None and start.database.compiles(path)

    async def with_errors(self) -> frozenset[str]:
        """The files of a compiler's project that did not make sense to it throughout."""
        return await (await self.ready()).with_errors()

    @property
    def definitions(self) -> Definitions | None:
        """What it has just said of definitions, where that does not depend on what it was shown."""
        if self._run is None or self.state is not State.READY or self.spec.compile_database:
            return None
        return self._run.definitions

    @property
    def scripts(self) -> frozenset[str]:
        """The scripts that it has open because only their first line tells what they are."""
        return self._run.scripts if self._run is not None else frozenset()

    @property
    def shortcomings(self) -> list[Shortcoming]:
        """What stands in the way of complete answers: found at its start, or said by itself."""
        start = self._lifecycle.prepared
        lacking = start.shortcomings if start is not None else ()
        said = self._run.readiness.shortcomings if self._run is not None else ()
        return [*lacking, *said]

    @property
    def words(self) -> str:
        """What it said about that which it lacks: for people, never for a client."""
        return self._run.readiness.words if self._run is not None else ""

    @property
    def pending(self) -> int:
        """How many answers it owes."""
        return self._run.client.pending if self._run is not None else 0

    def waiting_for(self) -> str:
        """What a caller that runs out of time was waiting for. Constant texts, no times."""
        return self._lifecycle.waiting_for()

    def is_mended(self) -> bool:
        """Whether something outside changed that it lacked. Looks at the disk."""
        start, before = self._lifecycle.prepared, self._lifecycle.outside
        if start is None or start.outside is None:
            return False
        if self.state is not State.READY or not self.shortcomings:
            return False
        return start.outside() != before

    # Its life

    def start(self) -> asyncio.Task[None]:
        """Begins to start, unless it runs or is being started. Never two at a time."""
        self.used = time.monotonic()  # whoever starts it means to ask it
        return self._lifecycle.start()

    def start_over(self) -> None:
        """What it has read counts no longer."""
        if self.running:
            self._lifecycle.start_over()

    def exhausted(self) -> None:
        """It took more memory than it may: its process is ended, and it starts again once."""
        if self._run is not None:
            self._lifecycle.exhausted()

    async def stop(self) -> None:
        """Shutdown, exit, then the whole tree is ended."""
        await self._lifecycle.stop()

    async def close(self) -> None:
        """Stops for good; whoever still asks is told."""
        await self._lifecycle.close()

    async def left(self) -> None:
        """Returns when none of its processes is there that is to be ended."""
        await self._lifecycle.left()

    async def ready(self) -> Run:
        """The run that may be believed and knows every change."""
        lifecycle = self._lifecycle
        while True:
            run = lifecycle.run
            if run is not None and lifecycle.is_ready and run.is_at_rest:
                self.used = time.monotonic()
                return run  # as mostly; what follows would find the same
            lifecycle.check_given_up()
            self._check_sanity()
            self.used = time.monotonic()
            if not await lifecycle.started():
                continue
            run = lifecycle.run
            if run is not None and run.settling is not None:
                settling = run.settling
                await asyncio.wait({settling})
                if not settling.cancelled():
                    settling.result()  # a bug of ours is told as one
                continue
            if run is None or run.client.gone is not None or self.state is not State.READY:
                raise lifecycle.not_ready()
            if run.readiness.broken:
                raise run.could_not_load()
            if not run.pending:
                return run
            run.settle_soon()

    # Questions

    async def ask(
        self,
        method: str,
        params: object,
        result: Any,  # noqa: ANN401 - the decoder's target type
        *,
        wide: bool = True,
    ) -> Any:  # noqa: ANN401
        """One question to the ready server. ``wide``: its answer depends on the whole project."""
        return await self._asking.ask(method, params, result, wide=wide)

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
        return await self._asking.ask_about(file, language, method, params, result, wide=wide)

    async def diagnostics_pushed(self, file: SourceFile, language: str) -> list[Any]:
        """The list the server publishes for exactly this text."""
        return await self._asking.diagnostics_pushed(file, language)

    async def diagnostics_under_own_name(self, file: SourceFile, language: str) -> list[Any]:
        """The list for this text from a server that does not say which text a list is for."""
        return await self._asking.diagnostics_under_own_name(file, language)

    # Changes

    def changed(self, changes: Sequence[Change]) -> None:
        """Tells the server what changed on disk; what it had open is closed or shown anew."""
        if self.state is State.FAILED:
            self._lifecycle.changed(changes)
        if self.state in (State.STOPPED, State.FAILED, State.RESTING):
            return  # it will read the disk when it starts
        if self._run is None or not self._run.initialized:
            self._missed.extend(changes)
        elif self._run.changed(changes):
            self._lifecycle.start_over()

    async def _admit(self) -> None:
        await self.launch.admit(self)
        self._missed.clear()  # what changed until here is on disk before anything is read

    def _begun(self, run: Run) -> None:
        missed, self._missed = self._missed, []
        if missed:
            self.changed(missed)

    def check_silence(self) -> None:
        """Starts over a server that is stuck. One that starts may say nothing for longer."""
        if self.state is State.READY and self._is_stuck():
            self._lifecycle.start_over()

    def _check_sanity(self) -> None:
        """Starts over a server that is stuck, or is to read again what lies outside its project."""
        if self._run is not None and (self._is_stuck() or self._run.catch_up()):
            self._lifecycle.start_over()

    def _is_stuck(self) -> bool:
        run = self._run
        if run is None:
            return False
        unread = run.documents.unseen_for() if self.spec.compile_database else 0.0
        return run.client.silent_for() > _SILENCE_S or unread > _UNREAD_S

    @property
    def _run(self) -> Run | None:
        return self._lifecycle.run
