"""Keeping one root's index in step with its files: the first build and every refresh after it.

All work on a root happens in one order under two locks, one for the tasks of this process and one
file lock for other processes. Each finished batch is recorded at once, so a build that is cancelled
or killed loses only what was in the workers' hands, and the next one goes on from there. Where the
disk lets nothing be written, an index that has what the files hold answers all the same.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

import msgspec

from sightline.contract.failures import Unavailable
from sightline.index.building.discover import Discovery, Found
from sightline.index.building.jobs import Broken, Done, IndexJob, Merged, MergeJob, Task
from sightline.index.building.library import Library
from sightline.index.building.planning import Plan, batches, plan_all, plan_some
from sightline.index.building.workers import Stuck, Workers
from sightline.index.storage.disk import DiskRefuses
from sightline.index.storage.manifest import SegmentRow
from sightline.index.storage.snapshot import Snapshot
from sightline.index.storage.store import Store
from sightline.workspace.changes import Change
from sightline.workspace.tree import Tree

__all__ = ["Builder", "Phase", "Progress", "Tally"]

T = TypeVar("T")

_LOCK_POLL_S = 0.05
_MAX_STRIKES = 2


class Progress(Protocol):
    """Told how far the work is."""

    def __call__(
        self, message: str, *, phase: str, done: int | None = None, total: int | None = None
    ) -> None: ...


@dataclass(frozen=True)
class Phase:
    """What is being done now."""

    name: str
    done: int
    total: int


@dataclass
class Tally:
    """What one refresh did."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0


@dataclass
class _Run:
    """A refresh under way."""

    task: asyncio.Task[Tally]
    force: bool
    waiting: int = 0

    def serves(self, *, force: bool) -> bool:
        """Whether somebody else may wait for it too."""
        return self.waiting > 0 and not self.task.done() and self.force >= force

    async def join(self) -> Tally:
        self.waiting += 1
        try:
            await asyncio.wait({self.task})
        finally:
            self.waiting -= 1
            if not self.waiting and not self.task.done():
                self.task.cancel()
                await asyncio.wait({self.task})  # what it has in hand is let go of in order
                if not self.task.cancelled():
                    self.task.exception()  # nobody is left to be told
        return self.task.result()


class Builder:
    def __init__(self, store: Store, discovery: Discovery, workers: Workers) -> None:
        self.library = Library(store)
        self.discovery = discovery
        self.phase: Phase | None = None
        self.snapshot: Snapshot | None = None
        #: What the last look at the whole root left out.
        self.found: Found | None = None
        self._workers = workers
        self._working = asyncio.Lock()
        self._run: _Run | None = None
        self._listeners: list[Progress] = []
        #: Files that may differ from the snapshot; ``None`` before the first look.
        self._pending: set[str] | None = None
        #: Those of them that were found changed though their stamps had not moved.
        self._doubted: set[str] = set()
        #: What a running refresh has taken up but not finished; ``None`` stands for everything.
        self._in_hand: list[set[str] | None] = []
        #: Files that a search had taken up during this refresh: older readings of them are void.
        self._overtaken: set[str] = set()
        #: One piece of work on the library at a time.
        self._disk = asyncio.Lock()
        #: Searches that wait for a running build to take up what changed meanwhile.
        self._urgent: list[asyncio.Future[None]] = []

    # What changed

    def note(self, changes: Iterable[Change]) -> None:
        """Files of this root that were announced as changed."""
        if self._pending is not None:
            prefix = self.discovery.root + "/"
            for change in changes:
                if change.path.startswith(prefix):
                    path = change.path[len(prefix) :]
                    self._pending.add(path)
                    if change.disguised:
                        self._doubted.add(path)

    def distrust(self) -> None:
        """The rules changed: everything has to be looked at again."""
        self._pending = None

    @property
    def pending(self) -> int | None:
        """How many files may differ from the index, if that is known."""
        return None if self._pending is None else len(self._pending)

    @property
    def fresh(self) -> bool:
        if self.snapshot is None or self._pending is None or self._pending:
            return False
        return all(taken is not None and not taken for taken in self._in_hand)

    # Work

    async def refresh(
        self, tree: Callable[[], Tree], progress: Progress, *, force: bool = False
    ) -> Tally:
        """Brings the index up to the tree as it is now.

        Whoever asks while the work is done joins it. A joiner that cancels leaves; the work stops
        when the last one left.
        """
        self._listeners.append(progress)
        try:
            run = self._run
            if run is not None and run.serves(force=force):
                tally = await run.join()
                if force or self.fresh:
                    return tally  # else something changed after that work began
            work = self._work(tree, force=force)
            self._run = _Run(asyncio.create_task(work, name="refresh the index"), force)
            return await self._run.join()
        finally:
            self._listeners.remove(progress)

    async def _work(self, tree: Callable[[], Tree], *, force: bool) -> Tally:
        async with self._working:
            if self.fresh and not force:
                return Tally(unchanged=len(self.library.rows))
            return await self._refresh(tree, force=force)

    async def catch_up(self, tree: Callable[[], Tree], progress: Progress) -> Snapshot:
        """A snapshot that has every change announced so far.

        While a rebuild runs it is asked to take the changes up between two batches, so that a
        search does not have to wait for the end of it.
        """
        while not self.fresh:
            if self._working.locked() and self.snapshot is not None and self._pending is not None:
                turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._urgent.append(turn)
                await turn
            else:
                await self.refresh(tree, progress)
        assert self.snapshot is not None
        return self.snapshot

    async def peek(self) -> None:
        """Loads what is on disk, for whoever asks how things stand. Changes nothing."""
        if self.library.unread and not self._working.locked():
            async with self._working:
                await self._keep(self.library.peek)

    async def _keep(self, work: Callable[[], T]) -> T:
        """Runs blocking work on the library, one piece at a time."""
        async with self._disk:
            return await _in_thread(work)

    async def _refresh(self, tree: Callable[[], Tree], *, force: bool) -> Tally:
        announced, self._pending = self._pending, set()
        self._in_hand.append(announced)
        self._overtaken = set()
        try:
            refusal = await self._take_lock()
            self._say("scan", 0, 0, "looking for changes")
            known = self.library.state
            await self._keep(self.library.load)
            seen = tree()
            doubted, self._doubted = self._doubted, set()
            # Another process wrote, perhaps by other rules: its settings may exclude other files.
            told = announced if self.library.state == known else None
            plan = await self._keep(partial(self._plan, seen, told, doubted, force=force))
            try:
                if refusal is not None and self._writes(plan):
                    raise refusal
                tally = await self._carry_out(plan, tree)
            except DiskRefuses:
                if force or not await self._keep(partial(self._is_current, plan)):
                    raise
                tally = Tally(unchanged=len(self.library.rows))
            self.snapshot = await self._keep(self.library.snapshot)
        except DiskRefuses as refused:
            self._give_up()
            raise Unavailable(str(refused)) from None
        except BaseException:
            self._give_up()
            raise
        finally:
            self._in_hand.remove(announced)
            self.phase = None
            self.library.store.unlock()
            self._wake()
        return tally

    def _give_up(self) -> None:
        # What was announced has not been dealt with; neither has what a lost plan held.
        self._pending = None
        self._workers.trim(keep=0)

    def _writes(self, plan: Plan) -> bool:
        """Whether there is anything to write for a plan."""
        return bool(plan) or not self.library.complete

    def _is_current(self, plan: Plan) -> bool:
        """Whether the index has what the files hold though the plan could not be carried out: all
        that differs are stamps, or the disk was full only after the last file."""
        library = self.library
        gone = all(path not in library.rows for path in plan.removed)
        return library.complete and gone and library.holds(task.path for task in plan.tasks)

    def _plan(
        self, tree: Tree, announced: set[str] | None, doubted: set[str], *, force: bool
    ) -> Plan:
        rows = self.library.rows
        if announced is None or force or not self.discovery.knows(announced):
            plan = plan_all(self.discovery, tree, rows, force=force)
            self.found = plan.found
            return plan
        if self.found is not None:
            self.found.closed = self.discovery.closed(tree)
        return plan_some(self.discovery, tree, rows, announced, doubted)

    async def _carry_out(self, plan: Plan, tree: Callable[[], Tree]) -> Tally:
        library = self.library
        before = set(library.rows)
        tally = Tally(removed=len(plan.removed))
        tally.added = sum(task.path not in before for task in plan.tasks)
        tally.changed = len(plan.tasks) - tally.added
        tally.unchanged = len(before) - tally.removed - tally.changed
        if plan.tasks:
            await self._index(plan, tree)
        if plan.removed:
            await self._keep(partial(library.remove, plan.removed))
        if self._writes(plan):
            await self._merge()
            await self._keep(library.finish)
        return tally

    async def _take_lock(self) -> DiskRefuses | None:
        """Waits while another process works on the same index. Where there is an index that nobody
        can change, it may be read without the lock: the reason is returned."""
        try:
            while not self.library.store.try_lock():
                self._say("wait", 0, 0, "another process is building this index")
                await asyncio.sleep(_LOCK_POLL_S)
        except DiskRefuses as refused:
            if not self.library.store.exists():
                raise
            return refused
        return None

    def _say(self, phase: str, done: int, total: int, message: str) -> None:
        self.phase = Phase(phase, done, total)
        for listener in list(self._listeners):
            listener(message, phase=phase, done=done, total=total or None)

    # Batches

    async def _index(self, plan: Plan, tree: Callable[[], Tree]) -> None:
        waiting = deque(batches(plan))
        total = len(plan.tasks)
        finished = 0
        current: dict[int, int] = {}

        def moved(runner: int, at: int) -> None:
            current[runner] = at
            done = min(total, finished + sum(current.values()))
            self._say("index", done, total, f"indexed {done} of {total} files")

        async def run(runner: int) -> None:
            nonlocal finished
            while waiting:
                # From both ends: neighbouring files share words, which a worker remembers.
                batch = waiting.popleft() if runner % 2 == 0 else waiting.pop()
                await self._batch(plan, batch, lambda at: moved(runner, at), self._overtaken)
                current[runner] = 0
                finished += len(batch)
                moved(runner, 0)
                if self._urgent:
                    await self._between(tree)

        runners = min(self._workers.limit, len(waiting))
        try:
            async with asyncio.TaskGroup() as group:
                for runner in range(runners):
                    group.create_task(run(runner), name="index batches")
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None
        self._workers.trim()

    async def _batch(
        self,
        plan: Plan,
        tasks: Sequence[Task],
        at: Callable[[int], None],
        overtaken: Container[str] = (),
    ) -> None:
        """Indexes one batch, without the help of a grammar for files that break theirs."""
        library = self.library
        strikes: dict[str, int] = {}
        careful = False
        while tasks:
            number = await self._keep(lambda: library.store.open().next_segment())
            target = library.store.segment_path(number)
            job = IndexJob(library.store.root, target, list(tasks), careful)
            try:
                reply = await self._workers.do(job, at)
            except Stuck as stuck:
                if not careful:
                    careful = True
                    continue
                path = tasks[stuck.task].path if stuck.task >= 0 else ""
                strikes[path] = strikes.get(path, 0) + 1
                if not path and strikes[path] > _MAX_STRIKES:
                    raise Unavailable("the index workers end as soon as they start") from None
                tasks = [
                    msgspec.structs.replace(task, parse=False) if task.path == path else task
                    for task in tasks
                    if task.path != path or strikes[path] < _MAX_STRIKES
                ]
                if path and strikes[path] >= _MAX_STRIKES:
                    await self._keep(partial(library.fail, path, plan))
                continue
            if isinstance(reply, Broken):
                raise DiskRefuses(reply.problem)
            assert isinstance(reply, Done)
            files = [file for file in reply.files if file.path not in overtaken]
            segment = SegmentRow(number, len(files), reply.chunks, reply.size)
            await self._keep(partial(library.take, files, plan, segment))
            return

    async def _between(self, tree: Callable[[], Tree]) -> None:
        """Takes up what changed during a rebuild, for the searches that wait."""
        announced = self._pending
        if announced is None or not self.discovery.knows(announced):
            return
        self._pending = set()
        self._overtaken |= announced
        self._in_hand.append(announced)
        doubted, self._doubted = self._doubted, set()
        try:
            plan = plan_some(self.discovery, tree(), self.library.rows, announced, doubted)
            for batch in batches(plan):
                await self._batch(plan, batch, lambda at: None)
            if plan.removed:
                await self._keep(partial(self.library.remove, plan.removed))
            self.snapshot = await self._keep(self.library.snapshot)
        finally:
            # A failure here ends the whole refresh, which then distrusts everything.
            self._in_hand.remove(announced)
        self._wake()

    def _wake(self) -> None:
        urgent, self._urgent = self._urgent, []
        for turn in urgent:
            if not turn.done():
                turn.set_result(None)

    # Merging

    async def _merge(self) -> None:
        library = self.library
        chosen = library.to_merge()
        if not chosen:
            return
        self._say("merge", 0, 0, "merging")
        living = [library.living(number) for number in chosen]
        number = await self._keep(lambda: library.store.open().next_segment())
        job = MergeJob(
            library.store.segment_path(number), [(path, alive) for path, alive, _ in living]
        )
        try:
            reply = await self._workers.do(job)
        except Stuck:
            raise Unavailable("an index worker died while merging; build again") from None
        if isinstance(reply, Broken):
            if reply.damaged:
                self.library.forget()
                raise Unavailable("the index is damaged and will be built again") from None
            raise DiskRefuses(reply.problem)
        assert isinstance(reply, Merged)
        order = [path for _, _, paths in living for path in paths]
        await self._keep(partial(library.replace, chosen, number, reply, order))


async def _in_thread(work: Callable[[], T]) -> T:
    """Runs blocking work and waits for its end even when cancelled: the disk must not be raced."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise
