"""Sketches: one bit per component of a vector, by which the near ones are told from the rest.

A bit says whether a component is positive. A sketch is far from a query by the bits that differ,
those count three times where the query's component is larger than its mean. That is a whole number
which depends on the two vectors alone, so whoever is nearer than some distance is so in every
index, in whatever order its files lie. Nothing here decides a rank: what a sketch lets through is
compared exactly afterwards (see ``nearness``).

    sketches = sketch(vectors)                  # words x rows: 32 bytes for 256 components
    cut = within(distances(sketches, query), 4_000, 256)
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["NEVER", "Distances", "Sketches", "distances", "sketch", "within"]

#: A word of 64 bits of every vector, then the next: (words, vectors).
Sketches = NDArray[np.uint64]
Distances = NDArray[np.uint16]
Vectors = NDArray[np.int8]

_WORD = 64
#: The distance of what is not to be found. No other is as large.
NEVER = 0xFFFF
#: How much a bit counts where the query's component is larger than its mean.
_STRONG = 3
#: So many words differ in less bits than a byte can count.
_SUMMED = 3
#: How many vectors are compared at a time, so that little room is needed besides.
_TOGETHER = 65_536


def sketch(vectors: Vectors) -> Sketches:
    """The sketches of vectors, a column for each. The last word is filled up with zeros."""
    rows, width = vectors.shape
    words = -(-width // _WORD)
    raw = np.zeros((rows, words * 8), np.uint8)
    raw[:, : -(-width // 8)] = np.packbits(vectors > 0, axis=1)
    return np.ascontiguousarray(raw.view(np.uint64).T)


def distances(sketches: Sketches, query: Vectors, out: Distances | None = None) -> Distances:
    """How far each of the vectors is from a query."""
    words, rows = sketches.shape
    found = np.empty(rows, np.uint16) if out is None else out
    own = sketch(query[None])[:, 0]
    sizes = np.abs(query.astype(np.int64))
    strong = sketch((sizes * len(sizes) > sizes.sum()).astype(np.int8)[None])[:, 0]
    room = _Room(min(rows, _TOGETHER))
    for begin in range(0, rows, _TOGETHER):
        part = slice(begin, begin + _TOGETHER)
        total = found[part]
        total[:] = 0
        for word in range(0, words, _SUMMED):
            some = slice(word, word + _SUMMED)
            room.add(total, sketches[some, part], own[some], strong[some])
    return found


class _Room:
    """What adding up distances needs besides, made once."""

    def __init__(self, size: int) -> None:
        self._bits = np.empty(size, np.uint64)
        self._count, self._all, self._strong = np.empty((3, size), np.uint8)
        self._wide = np.empty(size, np.uint16)

    def add(
        self,
        total: Distances,
        sketches: Sketches,
        own: NDArray[np.uint64],
        strong: NDArray[np.uint64],
    ) -> None:
        """Adds the distances in a few words of the sketches."""
        size = len(total)
        bits, count, wide = self._bits[:size], self._count[:size], self._wide[:size]
        every, those = self._all[:size], self._strong[:size]
        for number, (word, mine, mask) in enumerate(zip(sketches, own, strong, strict=True)):
            np.bitwise_xor(word, mine, out=bits)
            np.bitwise_count(bits, out=count if number else every)
            if number:
                every += count
            bits &= mask
            np.bitwise_count(bits, out=count if number else those)
            if number:
                those += count
        wide[:] = those
        wide *= _STRONG - 1
        total += wide
        wide[:] = every
        total += wide


def within(found: Distances, least: int, width: int) -> int:
    """The smallest distance that at least so many are within, or the largest there is."""
    low, high = 0, _STRONG * width
    while low < high:
        middle = (low + high) // 2
        if np.count_nonzero(found <= middle) >= least:
            high = middle
        else:
            low = middle + 1
    return low
