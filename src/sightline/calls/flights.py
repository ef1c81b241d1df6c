"""One computation for everybody who asks the same question of the same state.

Callers join a flight and wait for it within their own time. Whoever cancels leaves; when the last
one has left by cancelling, the work stops. A caller whose time is up leaves too, but where the
family says so the work goes on, so that the retry is quick. Such work is bounded in number and is
stopped when the state it was asked in is gone.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Flights", "OutOfTime"]

T = TypeVar("T")

MAX_UNATTENDED = 16


class OutOfTime(Exception):
    """The caller's time was up before the work was done."""


@dataclass(eq=False)
class Flight(Generic[T]):
    task: asyncio.Task[T]
    waiting: int = 0


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
        flight.waiting += 1
        stays = goes_on
        try:
            done, _ = await asyncio.wait({flight.task}, timeout=max(seconds, 0))
            if not done:
                raise OutOfTime
            return flight.task.result()
        except asyncio.CancelledError:
            stays = False
            raise
        finally:
            flight.waiting -= 1
            if flight.waiting == 0 and not flight.task.done():
                if not stays:
                    self._drop(key, flight)
                self._bound()

    def abandon(self, stale: Callable[[Hashable], bool]) -> None:
        """Stops unattended work whose key is stale."""
        for key, flight in list(self._flights.items()):
            if flight.waiting == 0 and stale(key):
                self._drop(key, flight)

    async def close(self) -> None:
        tasks = [flight.task for flight in self._flights.values()]
        for key, flight in list(self._flights.items()):
            self._drop(key, flight)
        await asyncio.gather(*tasks, return_exceptions=True)

    def _start(self, key: Hashable, work: Callable[[], Awaitable[T]]) -> Flight[T]:
        async def run() -> T:
            return await work()

        flight = Flight(asyncio.create_task(run(), name="shared computation"))
        self._flights[key] = flight
        flight.task.add_done_callback(lambda task: self._landed(key, flight))
        return flight

    def _landed(self, key: Hashable, flight: Flight[T]) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
        if not flight.task.cancelled():
            flight.task.exception()  # every caller that still waits has it; the others left

    def _drop(self, key: Hashable, flight: Flight[T]) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
        flight.task.cancel()

    def _bound(self) -> None:
        unattended = [(k, fl) for k, fl in self._flights.items() if fl.waiting == 0]
        for key, flight in unattended[:-MAX_UNATTENDED]:
            self._drop(key, flight)
