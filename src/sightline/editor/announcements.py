"""Which changes on disk the editor's language extensions have been told of.

The child finds a change the moment a call begins. The editor's own watcher is slower, and until it
has told the language extensions they answer from the past. So a change is expected here until an
announcement covers it: one that came after the file was written, since whoever is told reads the
file after that. What is never announced (a file that came and went between two looks of the
editor, a folder it does not watch) is given up after a while; ``given_up`` counts it.
"""

import asyncio
import os
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import NamedTuple

from sightline.workspace.changes import Change, Kind
from sightline.workspace.tree import stamp_of

__all__ = ["Announcements"]

_MAX_TOLD = 65_536
#: After this the editor is asked which of the files it does not watch.
ASK_AFTER_S = 1.0
#: After this a change is taken as one that is never announced.
GIVE_UP_AFTER_S = 5.0

Unwatched = Callable[[list[str]], Awaitable[Collection[str]]]


class Told(NamedTuple):
    kind: int
    at_ns: int


class Expected(NamedTuple):
    kind: int
    written_ns: int
    since: float


class Announcements:
    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._told: OrderedDict[str, Told] = OrderedDict()
        self._expected: dict[str, Expected] = {}
        self._news = asyncio.Event()
        self.given_up = 0

    def __len__(self) -> int:
        return len(self._expected)

    def expect(self, changes: Sequence[Change]) -> None:
        """Changes found on disk. Told by the workspace before their view is handed out."""
        for path, kind, _ in changes:
            stamp = stamp_of(path) if kind != Kind.DELETED else None
            if stamp is None:
                self._expected[path] = Expected(Kind.DELETED, 0, self._clock())
            else:
                self._expected[path] = Expected(kind, stamp.ctime_ns, self._clock())
        self._drop_covered()

    def told(self, path: str, kind: int, at_ms: int) -> None:
        """The editor's extensions were told of a file at this moment."""
        # Whoever is told within a millisecond reads the file after that millisecond.
        self._told[path] = Told(kind, at_ms * 1_000_000 + 999_999)
        self._told.move_to_end(path)
        while len(self._told) > _MAX_TOLD:
            self._told.popitem(last=False)
        self._drop_covered()
        self._news.set()

    async def settled(self, unwatched: Unwatched) -> None:
        """Returns when every change found so far has been announced or given up."""
        asked = False
        while self._expected:
            now = self._clock()
            oldest = min(expected.since for expected in self._expected.values())
            if now - oldest >= GIVE_UP_AFTER_S:
                self._give_up(now)
                continue
            if not asked and now - oldest >= ASK_AFTER_S:
                asked = True
                for path in await unwatched(sorted(self._expected)):
                    self._expected.pop(path, None)
                continue
            limit = GIVE_UP_AFTER_S if asked else ASK_AFTER_S
            self._news.clear()
            try:
                async with asyncio.timeout(oldest + limit - now):
                    await self._news.wait()
            except TimeoutError:
                continue

    def _drop_covered(self) -> None:
        for path in [p for p, expected in self._expected.items() if self._covers(p, expected)]:
            del self._expected[path]

    def _covers(self, path: str, expected: Expected) -> bool:
        deleted = expected.kind == Kind.DELETED
        folder = path
        while True:
            told = self._told.get(folder)
            if told is not None and (folder == path or told.kind != Kind.CHANGED):
                gone = told.kind == Kind.DELETED
                if deleted and gone:
                    return True
                if not deleted and (folder == path or not gone):
                    return told.at_ns >= expected.written_ns
            parent = os.path.dirname(folder)
            if parent == folder:
                return False
            folder = parent

    def _give_up(self, now: float) -> None:
        late = [p for p, e in self._expected.items() if now - e.since >= GIVE_UP_AFTER_S]
        for path in late:
            del self._expected[path]
        self.given_up += len(late)
