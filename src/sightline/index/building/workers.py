"""The worker processes as the index sees them: give a job, get its reply, or learn what broke it.

A worker that says nothing for too long, or dies, is ended with everything below it; the file it was
at is named, and the next job gets a fresh worker. Cancelling a job ends its worker at once. Idle
workers are kept for a while, so that the update after an edit does not wait for a start.
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence

from sightline.contract.failures import Unavailable
from sightline.index.building.jobs import LENGTH, MAX_FRAME, At, Job, Reply, decode_reply, frame
from sightline.process.child import Child, StartFailed, spawn
from sightline.process.environment import child_environment
from sightline.process.patience import Pulse, starved

__all__ = ["HANG_S", "Stuck", "Workers"]

#: How long one file may take. A merge gets more.
HANG_S = 10.0
_MERGE_S = 300.0
#: So many times as long for a worker that gets no processor.
_PATIENCE = 6
_IDLE_S = 300.0
#: Freed memory is kept for the next tree and the next array instead of being given back and asked
#: for again, which costs more than what is done with it. (Without a threshold of its own, setting
#: any of these has every array of 128 KiB mapped and unmapped.)
_ALLOCATOR = {
    "MALLOC_MMAP_THRESHOLD_": "33554432",
    "MALLOC_TRIM_THRESHOLD_": "134217728",
    "MALLOC_TOP_PAD_": "16777216",
    "MALLOC_ARENA_MAX": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}


class Stuck(Exception):
    """The worker hung or died. ``task`` is the number of the file it was at, or -1."""

    def __init__(self, task: int, *, hung: bool) -> None:
        super().__init__("hung" if hung else "died")
        self.task = task
        self.hung = hung


class _TooLong(Exception):
    """A worker says more than it may at once."""


async def _next_reply(child: Child) -> Reply:
    (length,) = LENGTH.unpack(await child.stdout.readexactly(LENGTH.size))
    if length > MAX_FRAME:
        raise _TooLong
    return decode_reply(await child.stdout.readexactly(length))


class Workers:
    def __init__(
        self,
        environment: Mapping[str, str],
        roots: Sequence[str],
        cwd: str,
        *,
        limit: int | None = None,
        hang_s: float = HANG_S,
        command: Sequence[str] | None = None,
    ) -> None:
        self.limit = limit or max(1, min(4, os.cpu_count() or 1))
        self._hang_s = hang_s
        self._command = command or [sys.executable, "-I", "-m", "sightline.index.building.worker"]
        self._environment = child_environment(environment, roots, _ALLOCATOR)
        self._cwd = cwd
        self._idle: list[tuple[Child, float]] = []
        self._ending: set[asyncio.Task[bool]] = set()
        self._sweeper: asyncio.TimerHandle | None = None
        self.running = 0

    async def do(self, job: Job, at: Callable[[int], None] = lambda task: None) -> Reply:
        """The reply to a job. ``at`` is told which of its files is begun."""
        child = await self._take()
        self.running += 1
        try:
            reply = await self._converse(child, job, at)
        except BaseException:
            self._end(child)
            raise
        finally:
            self.running -= 1
        self._idle.append((child, asyncio.get_running_loop().time()))
        self._schedule()
        return reply

    async def warm(self) -> None:
        """Starts a worker ahead, if none is there."""
        if not self._idle and not self.running:
            with contextlib.suppress(Unavailable):
                child = await self._start()
                self._idle.append((child, asyncio.get_running_loop().time()))
                self._schedule()

    async def close(self) -> None:
        """Ends every worker."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        for child, _ in self._idle:
            self._end(child)
        self._idle.clear()
        await asyncio.gather(*self._ending, return_exceptions=True)

    async def _converse(self, child: Child, job: Job, at: Callable[[int], None]) -> Reply:
        seconds = _MERGE_S if job.__struct_config__.tag == "merge" else self._hang_s
        task = -1
        try:
            child.stdin.write(frame(job))
            await child.stdin.drain()
            while True:
                reply = await self._hear(child, seconds)
                if not isinstance(reply, At):
                    return reply
                task = reply.task
                at(task)
        except TimeoutError:
            raise Stuck(task, hung=True) from None
        except (_TooLong, asyncio.IncompleteReadError, ConnectionError):
            raise Stuck(task, hung=False) from None

    async def _hear(self, child: Child, seconds: float) -> Reply:
        """What a worker says next. One that a busy machine does not let work gets more time."""
        hearing = asyncio.create_task(_next_reply(child), name="hear index worker")
        try:
            for _ in range(_PATIENCE):
                before = Pulse.of(child.pid)
                await asyncio.wait({hearing}, timeout=seconds)
                if hearing.done():
                    return hearing.result()
                if not starved(before, child.pid, seconds):
                    break
            raise TimeoutError
        finally:
            hearing.cancel()

    async def _take(self) -> Child:
        while self._idle:
            child, _ = self._idle.pop()
            if not child.ended:
                return child
        return await self._start()

    async def _start(self) -> Child:
        try:
            return await spawn(self._command, cwd=self._cwd, env=self._environment)
        except StartFailed as failure:
            raise Unavailable(f"an index worker could not be started: {failure}") from None

    def _end(self, child: Child) -> None:
        task = asyncio.create_task(child.end(), name="end index worker")
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def _schedule(self) -> None:
        loop = asyncio.get_running_loop()
        if self._sweeper is None and self._idle:
            self._sweeper = loop.call_later(_IDLE_S, self._sweep)

    def _sweep(self) -> None:
        """Lets go of workers that had nothing to do for a while, and of all but one soon."""
        self._sweeper = None
        now = asyncio.get_running_loop().time()
        for entry in list(self._idle):
            if now - entry[1] >= _IDLE_S:
                self._idle.remove(entry)
                self._end(entry[0])
        self._schedule()

    def trim(self, keep: int = 1) -> None:
        """After a build one idle worker is enough, and after one that was stopped none."""
        for child, _ in self._idle[keep:]:
            self._end(child)
        del self._idle[keep:]
