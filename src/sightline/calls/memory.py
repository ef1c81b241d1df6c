"""What is kept between calls: result sets for paging, and finished answers.

Both are least-recently-used stores with a byte budget. Keys contain the snapshot, so nothing in
them can be stale; they are bounded, so nothing in them can pile up. The budget counts what an entry
takes besides its own bytes too: a hundred thousand empty answers are not free.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Generic, TypeVar, overload

import msgspec
from msgspec import Struct

from sightline.contract import limits
from sightline.contract.failures import CursorExpired, SnapshotTooLarge
from sightline.tools.tool import Paged, always

__all__ = ["AnswerCache", "Newest", "Retained", "RetainedSet", "Store"]

V = TypeVar("V")

_encoder = msgspec.json.Encoder()
#: What an entry takes besides its bytes: its key, and what Python needs to hold both. Measured.
_ENTRY_BYTES = 896
#: The same for an item of a set.
_ITEM_BYTES = 48
#: The same for one that is encoded when asked for, and kept as it came beside that.
_LAZY_ITEM_BYTES = 400


class Store(Generic[V]):
    """Values with sizes, the least recently used dropped first, idle ones after a while."""

    def __init__(
        self, entry_bytes: int, total_bytes: int, idle_s: float, clock: Callable[[], float]
    ) -> None:
        self._entry_bytes = entry_bytes
        self._total_bytes = total_bytes
        self._idle_s = idle_s
        self._clock = clock
        self._entries: OrderedDict[Hashable, tuple[V, int, float]] = OrderedDict()
        self.size = 0

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable) -> V | None:
        self._expire()
        found = self._entries.get(key)
        if found is None:
            return None
        value, size, _ = found
        self._entries[key] = (value, size, self._clock())
        self._entries.move_to_end(key)
        return value

    def put(self, key: Hashable, value: V, size: int, beside: int = 0) -> bool:
        """Whether the value could be kept. ``beside`` its size counts for the budget only."""
        if size > self._entry_bytes:
            return False
        self.drop(key)
        taken = size + beside + _ENTRY_BYTES
        self._entries[key] = (value, taken, self._clock())
        self.size += taken
        self._expire()
        while self.size > self._total_bytes:
            self.drop(next(iter(self._entries)))
        return True

    def drop(self, key: Hashable) -> None:
        found = self._entries.pop(key, None)
        if found is not None:
            self.size -= found[1]

    def _expire(self) -> None:
        oldest = self._clock() - self._idle_s
        while self._entries:
            key, (_, _, used) = next(iter(self._entries.items()))
            if used > oldest:
                return
            self.drop(key)


class Newest(Generic[V]):
    """The few values that were asked for last. Pages of one text are cut from it."""

    def __init__(self, most: int = 8) -> None:
        self._most = most
        self._entries: OrderedDict[Hashable, V] = OrderedDict()

    def get(self, key: Hashable) -> V | None:
        found = self._entries.get(key)
        if found is not None:
            self._entries.move_to_end(key)
        return found

    def put(self, key: Hashable, value: V) -> None:
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)

    def clear(self) -> None:
        self._entries.clear()


class RetainedSet(Struct, eq=False):
    """A full canonical result set, each item encoded."""

    items: Sequence[bytes]
    summary: Callable[[int, bool, Sequence[bool]], str]
    flags: Sequence[bool]
    size: int
    #: Whether making an item may block, so that it is not done where others wait.
    slow: bool = False
    #: How many of the first items do not.
    made: int = 0
    #: Whether another list may take its place though no file changed, and whether it still holds
    #: as the answer to a first page. Its own pages go on either way.
    preliminary: bool = False
    holds: Callable[[], bool] = always
    #: Members of the payload beside the items, as JSON that ends in a comma, or nothing.
    members: bytes = b""
    #: The page that was cut last, and what it was cut by: a page asked for again is there.
    last: tuple[Hashable, bytes, str] | None = None

    @classmethod
    def of(cls, answer: Paged) -> "RetainedSet":
        """A tool's answer, encoded now, or item by item where that is what the tool wants."""
        if answer.item_bytes is not None:
            lazy = LazyItems(answer.items)
            size = answer.item_bytes * len(lazy)
            return cls(
                lazy,
                answer.summary,
                answer.flags,
                size,
                answer.slow,
                answer.made,
                answer.preliminary,
                answer.holds,
                _members(answer.members),
            )
        # Compact JSON has no line break of its own, so the lines are the items.
        items = _encoder.encode_lines(answer.items).splitlines()
        size = sum(map(len, items))
        members = _members(answer.members)
        return cls(items, answer.summary, answer.flags, size, members=members)

    @property
    def beside(self) -> int:
        """What it may come to take besides its items' bytes: their objects, and its last page."""
        each = _LAZY_ITEM_BYTES if isinstance(self.items, LazyItems) else _ITEM_BYTES
        return each * len(self.items) + min(self.size, limits.MAX_RESPONSE_BYTES)

    def waits_for(self, start: int, count: int) -> bool:
        """Whether making the items of a page may block."""
        return self.slow and min(start + count, len(self.items)) > self.made

    def prepare(self, start: int, count: int) -> None:
        """Makes the items of a page. Blocks where that is slow."""
        self.items[start : start + count]


def _members(members: Mapping[str, str]) -> bytes:
    pairs = ((_encoder.encode(name), _encoder.encode(value)) for name, value in members.items())
    return b"".join(b"%b:%b," % pair for pair in pairs)


class LazyItems(Sequence[bytes]):
    """Items that are encoded when they are first asked for."""

    def __init__(self, items: Sequence[msgspec.Struct]) -> None:
        self._items = items
        self._made: dict[int, bytes] = {}

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, place: int) -> bytes: ...

    @overload
    def __getitem__(self, place: slice) -> list[bytes]: ...

    def __getitem__(self, place: int | slice) -> bytes | list[bytes]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        if place not in self._made:
            self._made[place] = _encoder.encode(self._items[place])
        return self._made[place]


class Retained:
    """Result sets that cursors point into."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.store: Store[RetainedSet] = Store(
            limits.RETAINED_SET_BYTES, limits.RETAINED_TOTAL_BYTES, limits.RETAINED_IDLE_S, clock
        )

    def find(self, snapshot: str) -> RetainedSet | None:
        return self.store.get(snapshot)

    def require(self, snapshot: str) -> RetainedSet:
        found = self.find(snapshot)
        if found is None:
            raise CursorExpired
        return found

    def keep(self, snapshot: str, result: RetainedSet) -> None:
        if not self.store.put(snapshot, result, result.size, result.beside):
            raise SnapshotTooLarge


class AnswerCache:
    """Payloads of unpaged answers. What does not fit is simply computed again."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.store: Store[tuple[bytes, str]] = Store(
            limits.ANSWER_CACHE_ENTRY_BYTES,
            limits.ANSWER_CACHE_TOTAL_BYTES,
            limits.RETAINED_IDLE_S,
            clock,
        )
        self.hits = 0

    def get(self, key: Hashable) -> tuple[bytes, str] | None:
        found = self.store.get(key)
        self.hits += found is not None
        return found

    def put(self, key: Hashable, payload: bytes, summary: str) -> None:
        self.store.put(key, (payload, summary), len(payload))
