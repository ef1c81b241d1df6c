"""The open connections, and how many there may be.

A connection that has shown a valid token is known. Strangers have places of their own: when those
are taken, or the system has no descriptor left, the oldest stranger makes room, so that no number
of them keeps a client out, and they never take a place of the known. Of the known, the one that was
idle longest makes room.
"""

import asyncio
import contextlib
from typing import Protocol

from sightline.contract.limits import MAX_CONNECTIONS

__all__ = ["Connections", "Guest"]

_LAST_WORDS_S = 1.0


class Guest(Protocol):
    """A connection, as far as its place is concerned."""

    def is_recognized(self) -> bool:
        """Whether a request of it was let in."""
        ...

    def idle_since(self) -> float | None:
        """Since when it waits for a request; ``None`` while it has one."""
        ...

    def shutdown(self) -> None: ...
    def cancel(self) -> None: ...
    def abort(self) -> None: ...


class Connections:
    def __init__(self, places: int = MAX_CONNECTIONS) -> None:
        self._places = places  # for the known, and as many for strangers
        #: In the order in which they came.
        self._strangers: dict[Guest, None] = {}
        self._known: dict[Guest, None] = {}
        self._empty = asyncio.Event()

    def add(self, guest: Guest) -> None:
        """Gives a newcomer a place. Another may lose its place, or the newcomer gets none."""
        self._empty.clear()
        if len(self._strangers) >= self._places:
            self._make_room()
        if len(self._strangers) >= self._places:
            guest.abort()
        self._strangers[guest] = None

    def recognize(self, guest: Guest) -> None:
        """A guest has shown a valid token."""
        if guest not in self._strangers:
            return
        if len(self._known) >= self._places:
            idle = [(since, g) for g in self._known if (since := g.idle_since()) is not None]
            if not idle:
                return  # it keeps the place it has
            self._drop(min(idle, key=lambda entry: entry[0])[1])
        del self._strangers[guest]
        self._known[guest] = None

    def discard(self, guest: Guest) -> None:
        self._strangers.pop(guest, None)
        self._known.pop(guest, None)
        if not self._strangers and not self._known:
            self._empty.set()

    async def end(self, seconds: float) -> None:
        """Lets running answers end; what takes longer is cancelled, and told so."""
        for guest in self._all():
            guest.shutdown()
        if not await self._gone(seconds):
            for guest in self._all():
                guest.cancel()
            await self._gone(_LAST_WORDS_S)

    def abort(self) -> None:
        for guest in self._all():
            guest.abort()

    def drop_stranger(self) -> bool:
        """Closes the oldest stranger, if there is one."""
        oldest = next((guest for guest in self._strangers if not guest.is_recognized()), None)
        if oldest is not None:
            self._drop(oldest)
        return oldest is not None

    def _make_room(self) -> None:
        for guest in list(self._strangers):
            if guest.is_recognized():
                self.recognize(guest)
            else:
                self._drop(guest)
            if len(self._strangers) < self._places:
                return

    def _drop(self, guest: Guest) -> None:
        """The place is free at once; the loop tells a moment later that the guest is gone."""
        self._strangers.pop(guest, None)
        self._known.pop(guest, None)
        guest.abort()

    def _all(self) -> list[Guest]:
        return [*self._known, *self._strangers]

    async def _gone(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._known or self._strangers:
                    await self._empty.wait()
        return not self._known and not self._strangers
