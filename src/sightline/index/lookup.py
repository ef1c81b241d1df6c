"""Finding lists in a snapshot, with the lists of frequent terms kept decoded.

A list belongs to a segment, which never changes, so what is kept stays right when files change. The
dead are taken out here, so that nobody above ever counts them.
"""

import threading
from collections import OrderedDict
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from sightline.index.segment import Segment
from sightline.index.snapshot import Snapshot

__all__ = ["Lookup", "Postings"]

Ints = NDArray[np.int64]
Small = NDArray[np.int32]

_CACHE_BYTES = 48 << 20
_EMPTY = np.zeros(0, np.int64)


class Postings:
    """The living chunks that have a term, ascending, and how often each has it."""

    __slots__ = ("chunks", "counts")

    def __init__(self, chunks: Ints, counts: NDArray[np.float64]) -> None:
        self.chunks = chunks
        self.counts = counts

    def __len__(self) -> int:
        return len(self.chunks)


class Lookup:
    """Safe for several threads."""

    def __init__(self, limit: int = _CACHE_BYTES) -> None:
        self._limit = limit
        self._kept: OrderedDict[tuple[int, int], tuple[Small, NDArray[np.uint8]]] = OrderedDict()
        #: Segments by a number that none had before: an address may be used again.
        self._numbers: WeakKeyDictionary[Segment, int] = WeakKeyDictionary()
        self._given = 0
        self._size = 0
        self._lock = threading.Lock()

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

    def trigrams(self, snapshot: Snapshot, code: int) -> Ints:
        """The living files whose text has a trigram."""
        found = [
            files[part.alive[files]] + base
            for part, base in zip(snapshot.parts, snapshot.file_base, strict=True)
            if (files := part.segment.trigrams(code)) is not None
        ]
        return np.concatenate(found) if found else _EMPTY

    def _decoded(self, segment: Segment, key: int) -> tuple[Small, NDArray[np.uint8]] | None:
        with self._lock:
            place = (self._number(segment), key)
            kept = self._kept.get(place)
            if kept is not None:
                self._kept.move_to_end(place)
                return kept
        found = segment.terms(key)
        if found is None:
            return None
        decoded = (found[0].astype(np.int32), found[1].astype(np.uint8))
        if len(decoded[0]) >= 256:
            self._keep(place, decoded)
        return decoded

    def _number(self, segment: Segment) -> int:
        number = self._numbers.get(segment)
        if number is None:
            self._given += 1
            number = self._numbers[segment] = self._given
        return number

    def _keep(self, place: tuple[int, int], decoded: tuple[Small, NDArray[np.uint8]]) -> None:
        with self._lock:
            if place not in self._kept:
                self._kept[place] = decoded
                self._size += 5 * len(decoded[0])
            while self._size > self._limit:
                _, (chunks, _) = self._kept.popitem(last=False)
                self._size -= 5 * len(chunks)
