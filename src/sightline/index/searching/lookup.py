"""Finding lists in a snapshot, with the lists of frequent terms kept decoded.

A list belongs to a segment, which never changes, so what is kept stays right when files change. The
dead are taken out here, so that nobody above ever counts them. What a term is worth in each chunk
of a snapshot is kept too (see ``rank``); that belongs to the one snapshot and is forgotten with it.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from sightline.index.storage.segment import Segment
from sightline.index.storage.snapshot import Snapshot

__all__ = ["Lookup", "Postings", "Worth"]

Ints = NDArray[np.int64]
Small = NDArray[np.int32]

_CACHE_BYTES = 32 << 20
_WORTH_BYTES = 64 << 20
_FEW = 256
_EMPTY = np.zeros(0, np.int64)

Owner = TypeVar("Owner", bound=Hashable)
Value = TypeVar("Value")


class Kept(Generic[Owner, Value]):
    """The values that were last asked for, up to some bytes. Safe for several threads."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: OrderedDict[tuple[int, Hashable], tuple[Value, int]] = OrderedDict()
        #: Owners by a number that none had before: an address may be used again.
        self._numbers: WeakKeyDictionary[Owner, int] = WeakKeyDictionary()
        self._given = 0
        self._size = 0
        self._lock = threading.Lock()

    def get(self, owner: Owner, key: Hashable) -> Value | None:
        with self._lock:
            place = (self._number(owner), key)
            kept = self._values.get(place)
            if kept is None:
                return None
            self._values.move_to_end(place)
            return kept[0]

    def put(self, owner: Owner, key: Hashable, value: Value, size: int) -> None:
        with self._lock:
            place = (self._number(owner), key)
            if place not in self._values:
                self._values[place] = (value, size)
                self._size += size
            while self._size > self._limit:
                _, (_, dropped) = self._values.popitem(last=False)
                self._size -= dropped

    def _number(self, owner: Owner) -> int:
        number = self._numbers.get(owner)
        if number is None:
            self._given += 1
            number = self._numbers[owner] = self._given
        return number


class Postings:
    """The living chunks that have a term, ascending, and how often each has it."""

    __slots__ = ("chunks", "counts")

    def __init__(self, chunks: Ints, counts: NDArray[np.float64]) -> None:
        self.chunks = chunks
        self.counts = counts

    def __len__(self) -> int:
        return len(self.chunks)


class Worth(NamedTuple):
    """What a term adds to the scores of the chunks and files that have it."""

    chunks: Small
    gains: NDArray[np.float64]
    files: Small
    file_gains: NDArray[np.float64]


class Lookup:
    """Safe for several threads."""

    def __init__(self, limit: int = _CACHE_BYTES) -> None:
        self._lists: Kept[Segment, tuple[Small, NDArray[np.uint8]]] = Kept(limit)
        self._worths: Kept[Snapshot, Worth] = Kept(_WORTH_BYTES)
        self._own = threading.local()

    def worth(self, snapshot: Snapshot, key: Hashable, make: Callable[[], Worth]) -> Worth:
        """What a term is worth in a snapshot, worked out once."""
        kept = self._worths.get(snapshot, key)
        if kept is None:
            kept = make()
            size = len(kept.chunks) + len(kept.files)
            self._worths.put(snapshot, key, kept, 12 * size + 500)
        return kept

    def zeros(self, size: int) -> NDArray[np.float64]:
        """Room to count in, all 0. It is the thread's own and has to be left all 0."""
        kept: NDArray[np.float64] | None = getattr(self._own, "zeros", None)
        if kept is None or len(kept) != size:
            kept = self._own.zeros = np.zeros(size)
        return kept

    def terms(self, snapshot: Snapshot, key: int) -> Postings:
        """The chunks under a term."""
        chunks: list[Ints] = []
        counts: list[NDArray[np.float64]] = []
        for part, base in zip(snapshot.parts, snapshot.chunk_base, strict=True):
            found = self._decoded(part.segment, key)
            if found is None:
                continue
            own, own_counts = found
            if part.living < part.segment.files:
                alive = part.chunks_alive[own]
                own, own_counts = own[alive], own_counts[alive]
            chunks.append(own.astype(np.int64) + base)
            counts.append(own_counts.astype(np.float64))
        if not chunks:
            return Postings(_EMPTY, np.zeros(0))
        if len(chunks) == 1:
            return Postings(chunks[0], counts[0])
        return Postings(np.concatenate(chunks), np.concatenate(counts))

    def path_words(self, snapshot: Snapshot, key: int) -> Ints:
        """The living files whose path has a word."""
        found = [
            files[part.alive[files]] + base
            for part, base in zip(snapshot.parts, snapshot.file_base, strict=True)
            if (files := part.segment.path_words(key)) is not None
        ]
        return np.concatenate(found) if found else _EMPTY

    def having(self, snapshot: Snapshot, code: int) -> NDArray[np.bool_]:
        """Per file, the dead included: whether its text has a trigram."""
        flags = np.zeros(snapshot.files, bool)
        for part, base in zip(snapshot.parts, snapshot.file_base, strict=True):
            part.segment.mark_trigram(code, flags[base : base + part.segment.files])
        return flags

    def among(self, snapshot: Snapshot, code: int, files: Ints) -> NDArray[np.bool_]:
        """The same for each of some files, which are ascending."""
        flags = np.zeros(len(files), bool)
        for part, base in zip(snapshot.parts, snapshot.file_base, strict=True):
            begin, end = np.searchsorted(files, (base, base + part.segment.files)).tolist()
            if begin < end:
                flags[begin:end] = part.segment.with_trigram(code, files[begin:end] - base)
        return flags

    def _decoded(self, segment: Segment, key: int) -> tuple[Small, NDArray[np.uint8]] | None:
        kept = self._lists.get(segment, key)
        if kept is not None:
            return kept
        found = segment.terms(key)
        if found is None:
            return None
        decoded = (found[0].astype(np.int32), found[1].astype(np.uint8))
        if len(decoded[0]) >= _FEW:
            self._lists.put(segment, key, decoded, 5 * len(decoded[0]))
        return decoded
