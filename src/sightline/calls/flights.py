"""One computation for everybody who asks the same question of the same state.

Callers join a flight and wait for it within their own time. Whoever cancels leaves; when the last
one has left by cancelling, the work stops. A caller whose time is up leaves too, but where the
family says so the work goes on, so that the retry is quick. Such work is bounded in number and is
stopped when the state it was asked in is gone.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["Flights", "OutOfTime"]

T = TypeVar("T")

MAX_UNATTENDED = 16


class OutOfTime(Exception):
    """The caller's time was up before the work was done."""


class Flight(Generic[T]):
    """Work under way, and those who wait for it."""

    def __init__(self, task: asyncio.Task[T]) -> None:
        self.task = task
        self.waiting: set[asyncio.Future[None]] = set()

    async def wait(self, seconds: float) -> None:
        """Until the work is done or the time is up. Whoever waits is in ``waiting``."""
        loop = asyncio.get_running_loop()
        landed: asyncio.Future[None] = loop.create_future()
        timer = loop.call_later(max(seconds, 0), _wake, landed)
        self.waiting.add(landed)
        try:
            if not self.task.done():
                await landed
        finally:
            timer.cancel()
            self.waiting.remove(landed)


def _wake(landed: asyncio.Future[None]) -> None:
    if not landed.done():
        landed.set_result(None)


class Flights(Generic[T]):
    def __init__(self) -> None:
        self._flights: dict[Hashable, Flight[T]] = {}

    def __len__(self) -> int:
        return len(self._flights)

    async def join(
        self,
        key: Hashable,
        work: Callable[[], Awaitable[T]],
        *,
        seconds: float,
        goes_on: bool,
    ) -> T:
        """The outcome of ``work``, started here unless it already runs under ``key``."""
        flight = self._flights.get(key)
        if flight is None:
            flight = self._start(key, work)
        stays = goes_on
        try:
            await flight.wait(seconds)
            if not flight.task.done():
                raise OutOfTime
            return flight.task.result()
        except asyncio.CancelledError:
            stays = False
            raise
        finally:
            if not flight.waiting and not flight.task.done():
                if not stays:
                    self._drop(key, flight)
                self._bound()

    def abandon(self) -> None:
        """Stops unattended work."""
        for key, flight in list(self._flights.items()):
            if not flight.waiting:
                self._drop(key, flight)

    async def close(self) -> None:
        tasks = [flight.task for flight in self._flights.values()]
        for key, flight in list(self._flights.items()):
            self._drop(key, flight)
        await asyncio.gather(*tasks, return_exceptions=True)

    def _start(self, key: Hashable, work: Callable[[], Awaitable[T]]) -> Flight[T]:
        async def run() -> T:
            try:
                return await work()
            finally:
                self._land(key, flight)  # this task is over when those who wait have their turn

        def over(task: asyncio.Task[T]) -> None:
            self._land(key, flight)  # it may have been cancelled before its first step
            if not task.cancelled():
                task.exception()  # every caller that still waits has it; the others left

        flight = Flight(asyncio.create_task(run(), name="shared computation"))
        self._flights[key] = flight
        flight.task.add_done_callback(over)
        return flight

    def _land(self, key: Hashable, flight: Flight[T]) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
        for landed in flight.waiting:
            _wake(landed)

    def _drop(self, key: Hashable, flight: Flight[T]) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
        flight.task.cancel()

    def _bound(self) -> None:
        unattended = [(k, fl) for k, fl in self._flights.items() if not fl.waiting]
        for key, flight in unattended[:-MAX_UNATTENDED]:
            self._drop(key, flight)
