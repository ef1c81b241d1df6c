"""The life of one server: its starts, rests, crashes and stops. The one owner of its processes.

    STOPPED -> STARTING -> LOADING -> READY
       ^          ^           |         |
       |          +- RESTING <+---------+   it ended by itself, or was ended for its memory
       |                |
       |             FAILED                 so often that it is left alone for a while
       +- from everywhere, by ``stop``

A server that ends by itself is started again after a rest that doubles each time; one that keeps
ending is left alone, and the callers are told. Only ends without an answer to anybody in between
count, however much time lies between them: nobody is to do without a server that mostly answers.
One that takes more memory than it may is left alone after the second time within ten minutes, also
if it answered in between, and until the project changes: each start would take as much again.

There is never more than one process. One start goes on at a time: a new one, or a stop, cancels the
one before. And whoever starts or ends a process has the turn until that is done, so that nobody
starts one before every other has ended.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from enum import Enum

from sightline.contract.failures import NotReady, Unavailable
from sightline.contract.uris import is_under
from sightline.lsp.server.launch import Launch
from sightline.lsp.server.run import Run
from sightline.lsp.start.launcher import Start
from sightline.lsp.start.versions import is_older
from sightline.lsp.wire.client import ServerError, ServerGone
from sightline.process.child import StartFailed
from sightline.workspace.changes import Change

__all__ = ["Lifecycle", "State"]

_FIRST_REST_S = 0.5
_LONGEST_REST_S = 30.0
#: So many ends in a row without an answer, and the server is left alone until it is asked later.
_MAX_CRASHES = 5
_GIVE_UP_S = 60.0
#: One that ran out of memory twice within this time is left alone.
_EXHAUSTED_S = 600.0
#: What helps where nothing else is known.
_STEP = "run sightline doctor"
#: A server that takes so long to start is stuck.
_START_S = 600.0
#: So often it is started to load what it kept; each time but the last it has read something.
_MOST_LOADS = 6


class State(Enum):
    STOPPED = "stopped"
    STARTING = "starting"
    LOADING = "loading"
    READY = "ready"
    RESTING = "restarting"
    FAILED = "failed"


class _LoadAgain(Exception):
    """What it has read is to be loaded from what it kept, which is more than it knows now."""


class _ReadMore(Exception):
    """It has read a part of the project, and is to read the rest."""


class _TooOld(Exception):
    """The server calls itself a version that must not read a project."""


class Lifecycle:
    def __init__(
        self,
        launch: Launch,
        *,
        admit: Callable[[], Awaitable[None]],
        begun: Callable[[Run], None],
        is_used: Callable[[str], bool],
    ) -> None:
        self._launch = launch
        #: Waits until one more server may run.
        self._admit = admit
        #: Called when a run may be told of changes.
        self._begun = begun
        #: Whether somebody waits for an answer about a document.
        self._is_used = is_used
        self.state = State.STOPPED
        #: The run of now, from the start of its process on.
        self.run: Run | None = None
        #: What the last start was given, and how what lies outside was before it.
        self.prepared: Start | None = None
        self.outside: object = None
        self.version = ""
        #: The end of what its last process said on standard error.
        self.complaint = ""
        #: Why it is not ready, where that is known.
        self._reason = ""
        #: The start that goes on, or the last one.
        self._starting: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._endings: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()
        #: Runs that are over, with processes that are to be ended before the next one starts.
        self._leaving: list[Run] = []
        self._none_leaving = asyncio.Event()
        self._none_leaving.set()
        #: How often it has ended since it last answered.
        self._crashes = 0
        #: When it was left alone, and what helps.
        self._gave_up = 0.0
        self._step = _STEP
        #: When it last ran out of memory, and whether that was the second time.
        self._ran_out = float("-inf")
        self._again = False
        #: Whether it is left alone for that until something changes, and the file that is probably
        #: the cause.
        self._until_changed = False
        self._cause = ""
        self._closed = False

    @property
    def active(self) -> bool:
        """Whether it has, or is about to have, a process."""
        return self.state not in (State.STOPPED, State.FAILED)

    @property
    def is_ready(self) -> bool:
        """Whether its last start is over, and has succeeded."""
        start = self._starting
        if self.state is not State.READY or start is None or not start.done():
            return False
        return not start.cancelled() and start.exception() is None

    # Events

    def start(self) -> asyncio.Task[None]:
        """Begins to start, unless it runs or is being started. Never two at a time."""
        if self._starting is not None:
            return self._starting
        return self._begin(self._start)

    def start_over(self) -> None:
        """A new start because of a change; what runs is ended first."""
        self.state = State.STARTING
        self._begin(self._start)

    def crashed(self, reason: str = "") -> None:
        """Its process has ended, or must end: it starts again after a rest."""
        self._reason = reason or self._reason
        self.state = State.RESTING
        self._begin(self._restart)
        self._launch.ended()

    def exhausted(self) -> None:
        """It took more memory than it may, and must end."""
        self._note_exhausted()
        self.crashed()

    def changed(self, changes: Sequence[Change]) -> None:
        """Something changed while it is left alone: if that was for its memory, it may be tried
        again, at once where the file changed that is probably the cause.
        """
        paths = [change.path for change in changes if is_under(change.path, self._launch.folder)]
        if self._cause in paths:
            self._gave_up = float("-inf")
        if paths:
            self._until_changed = False

    def answered(self) -> None:
        """It has answered somebody's question: it is worth starting."""
        self._crashes = 0

    async def stop(self) -> None:
        """Shutdown, exit, then the whole tree is ended, even if nobody waits for it any more."""
        if self._starting is not None:
            self._starting.cancel()
        run = self.run
        self._leave()
        self._starting, self.state = None, State.STOPPED
        ending = asyncio.create_task(self._end(run), name=f"end {self._launch.name}")
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)
        await asyncio.shield(ending)

    async def close(self) -> None:
        """Stops for good: nobody would end what starts after that."""
        self._closed, self._reason = True, "was closed"
        await self.stop()

    async def started(self) -> bool:
        """Waits for the start that goes on; whether it is still the last one. Raises why not."""
        start = self.start()
        if not start.done():
            # Not awaited itself: a start that is replaced by another one is cancelled.
            await asyncio.wait({start})
        if not start.cancelled():
            start.result()
        elif self._starting is None or self._starting is start:
            raise self.not_ready()
        return self._starting is start

    def check_given_up(self) -> None:
        """Raises while a server that failed is left alone; after that it is tried once more."""
        if self.state is State.FAILED:
            if self._until_changed or time.monotonic() - self._gave_up < _GIVE_UP_S:
                raise self._given_up()
            self._starting = None

    async def left(self) -> None:
        """Returns when no process is there that is to be ended."""
        await self._none_leaving.wait()

    # Words

    def waiting_for(self) -> str:
        """What a caller that runs out of time was waiting for. Constant texts, no times."""
        if self.state is State.READY:
            settling = self.run is not None and self.run.settling is not None
            return f"{self._launch.name} to {'take in the changes' if settling else 'answer'}"
        words = {State.RESTING: "restart", State.LOADING: "load the project"}
        return f"{self._launch.name} to {words.get(self.state, 'start')}"

    def not_ready(self) -> NotReady:
        cause = f" because it {self._reason}" if self._reason else ""
        return NotReady(
            f"{self._launch.name} is not ready{cause}; retry in a moment",
            waiting_for=self.waiting_for(),
        )

    def _given_up(self) -> Unavailable:
        return Unavailable(f"{self._launch.name} {self._reason}; {self._step}")

    # Starts

    def _begin(self, starting: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        """A new start in place of one that goes on, if there is one, and of what runs."""
        if self._starting is not None:
            self._starting.cancel()
        self._leave()
        task = asyncio.create_task(self._alone(starting), name=f"start {self._launch.name}")
        # Whoever asks is told; a start that nobody waits for may fail in silence.
        task.add_done_callback(lambda task: task.cancelled() or task.exception())
        self._starting = task
        return task

    async def _alone(self, starting: Callable[[], Awaitable[None]]) -> None:
        if self._closed:
            raise self.not_ready()
        if self.state is State.STOPPED:
            self.state = State.STARTING
        self._launch.ahead()
        async with self._turn:
            try:
                await self._end_leaving()
                await starting()
            finally:
                current = self._starting is asyncio.current_task()
                if current and self.state not in (State.READY, State.FAILED):
                    # It failed without a process to start again: the next question tries again.
                    self._starting, self.state = None, State.STOPPED
                    await self._end_run()

    async def _restart(self) -> None:
        await self._rest()
        await self._start()

    async def _start(self) -> None:
        """Attempts until one succeeds; raises when there is no sense in another one."""
        has_read_parts, loads = False, 1
        while True:
            self.state = State.STARTING
            try:
                async with asyncio.timeout(_START_S):
                    await self._attempt(is_last=loads == _MOST_LOADS, has_read_parts=has_read_parts)
            except StartFailed as failed:
                self._give_up(f"could not be started ({failed})")
                raise self._given_up() from None
            except _TooOld:
                await self._end_run()
                self._give_up(f"{self.version} is not used: {self._launch.spec.oldest_why}")
                raise self._given_up() from None
            except _ReadMore:
                await self._end_run()
                has_read_parts = True
            except _LoadAgain:
                await self._end_run()
                loads += 1
            except (ServerGone, ServerError, TimeoutError):
                await self._end_run()
                has_read_parts = False  # what it was given last it has not read
                await self._rest()
            else:
                return

    async def _attempt(self, *, is_last: bool, has_read_parts: bool) -> None:
        self._launch.ahead()
        await self._admit()
        start = self.prepared = await self._prepare(has_read_parts)
        self._launch.relies_on(start.beside)
        if start.outside is not None:
            self.outside = await asyncio.to_thread(start.outside)
        child = await self._launch.spawn(start)
        run = self.run = Run(
            self._launch, start, child, unsettled=self._unsettled, is_used=self._is_used
        )
        self.version = await run.initialize() or self.version or self._launch.version
        if is_older(self.version, self._launch.spec.oldest):
            raise _TooOld
        self.state = State.LOADING
        run.begin()
        self._begun(run)
        await run.loaded()
        if run.is_to_read_more:
            raise _ReadMore
        if not is_last and await run.knows_less_than_it_kept():
            raise _LoadAgain
        self.state = State.READY
        self._reason = ""
        self._watching = asyncio.create_task(self._watch(run), name=f"watch {self._launch.name}")

    async def _prepare(self, has_read_parts: bool) -> Start:
        name = self._launch.name
        try:
            start = await self._launch.prepare(has_read_parts)
        except OSError as error:  # such as a full disk: its text would name a path
            why = error.strerror or "the disk is at fault"
            raise Unavailable(f"{name} could not be started ({why}); try again") from None
        if start is None:
            raise Unavailable(f"{name} is not installed any more; run sightline doctor")
        return start

    async def _watch(self, run: Run) -> None:
        """Notices the end of a running server, or of its sanity, and starts it again."""
        await run.client.ended.wait()
        if self.run is run:
            self.crashed()

    def _unsettled(self, run: Run) -> None:
        if self.run is run:
            self.start_over()  # nobody knows what it has taken in

    async def _rest(self) -> None:
        """Waits before the next start; raises when it has ended too often."""
        self._crashes += 1
        if self._again:
            told = self._launch.exhausted()
            self._give_up(told.reason, told.step)
            self._until_changed, self._cause = True, told.file
            raise self._given_up()
        if self._crashes >= _MAX_CRASHES:
            self._give_up(self._reason or f"ended {self._crashes} times in a row")
            raise self._given_up()
        self.state = State.RESTING
        await asyncio.sleep(min(_FIRST_REST_S * 2 ** (self._crashes - 1), _LONGEST_REST_S))

    def _note_exhausted(self) -> None:
        now = time.monotonic()
        self._again = now - self._ran_out < _EXHAUSTED_S
        self._ran_out = now
        self._reason = self._launch.exhausted().reason

    def _give_up(self, reason: str, step: str = _STEP) -> None:
        self.state = State.FAILED
        self._reason, self._step = reason, step
        self._again, self._until_changed, self._cause = False, False, ""
        self._gave_up = time.monotonic()
        self._crashes = 0

    # Ends

    def _leave(self) -> None:
        """Lets go of the run, if there is one; whoever has the turn ends its process."""
        if self.run is not None:
            self.run.leave()
            self._leaving.append(self.run)
            self._none_leaving.clear()
            self.run = None

    async def _end(self, run: Run | None) -> None:
        async with self._turn:
            if run is not None:
                await run.say_goodbye()
            await self._end_leaving()

    async def _end_run(self) -> None:
        self._leave()
        await self._end_leaving()

    async def _end_leaving(self) -> None:
        """Only for whoever has the turn. What was begun is gone on with after a cancellation."""
        while self._leaving:
            run = self._leaving[0]
            ended_itself = run.client.gone is not None
            await run.end()
            self.complaint = run.child.stderr_tail() or self.complaint
            if ended_itself and run.child.out_of_memory:
                self._note_exhausted()
            self._leaving.remove(run)
        self._none_leaving.set()
