"""Work in a thread that can be told to stop.

Loading a cache takes processor time, so it runs beside the event loop. Whoever waits may leave, by
cancelling or because time is up; the work then ends at its next ``check``, a few milliseconds on.
"""

import asyncio
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

__all__ = ["Stop", "Stopped", "Workers"]

T = TypeVar("T")

_THREADS = 4


class Stopped(Exception):
    """The work was told to stop."""


class Stop:
    """A flag that one side sets and the other looks at."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        self._event.set()

    def check(self) -> None:
        if self._event.is_set():
            raise Stopped


class Workers:
    """A few threads for work that is given a ``check`` to call."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None

    async def run(self, work: Callable[[Callable[[], None]], T]) -> T:
        """The outcome of ``work``. When the caller is cancelled, the work has ended too."""
        from concurrent.futures import ThreadPoolExecutor

        if self._pool is None:
            self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="context")
        stop = Stop()
        future = asyncio.get_running_loop().run_in_executor(self._pool, work, stop.check)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            stop.set()
            await asyncio.wait({future})
            if not future.cancelled():
                future.exception()  # seen, and of no interest any more
            raise

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
