"""Sketches: one bit per component of a vector, by which the near ones are told from the rest.

A bit says whether a component is positive. A sketch is far from a query by the bits that differ,
those count three times where the query's component is larger than its mean. That is a whole number
which depends on the two vectors alone, so whoever is nearer than some distance is so in every
index, in whatever order its files lie. Nothing here decides a rank: what a sketch lets through is
compared exactly afterwards (see ``nearness``).

    sketches = sketch(vectors)                  # words x rows: 32 bytes for 256 components
    cut = within(distances([sketches], query), 4_000)
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Distances", "Sketches", "distances", "sketch", "within"]

#: A word of 64 bits of every vector, then the next: (words, vectors).
Sketches = NDArray[np.uint64]
Distances = NDArray[np.uint16]
Vectors = NDArray[np.int8]

_WORD = 64
#: How much a bit counts where the query's component is larger than its mean.
_STRONG = 3
#: How many vectors are compared at a time, so that little room is needed besides.
_TOGETHER = 65_536


def sketch(vectors: Vectors) -> Sketches:
    """The sketches of vectors, a column for each. The last word is filled up with zeros."""
    rows, width = vectors.shape
    words = -(-width // _WORD)
    raw = np.zeros((rows, words * 8), np.uint8)
    raw[:, : -(-width // 8)] = np.packbits(vectors > 0, axis=1)
    return np.ascontiguousarray(raw.view(np.uint64).T)


def distances(parts: Sequence[Sketches], query: Vectors) -> Distances:
    """How far each of the vectors is from a query, part after part."""
    found = np.zeros(sum(part.shape[1] for part in parts), np.uint16)
    own = sketch(query[None])[:, 0]
    sizes = np.abs(query.astype(np.int64))
    strong = sketch((sizes * len(sizes) > sizes.sum()).astype(np.int8)[None])[:, 0]
    room = min(len(found), _TOGETHER)
    bits, counts = np.empty(room, np.uint64), np.empty((2, room), np.uint8)
    end = 0
    for part in parts:
        for first in range(0, part.shape[1], _TOGETHER):
            some = part[:, first : first + _TOGETHER]
            begin, end = end, end + some.shape[1]
            _add(found[begin:end], some, own, strong, bits[: end - begin], counts[:, : end - begin])
    return found


def _add(
    total: Distances,
    sketches: Sketches,
    own: NDArray[np.uint64],
    strong: NDArray[np.uint64],
    bits: NDArray[np.uint64],
    counts: NDArray[np.uint8],
) -> None:
    """Adds how far sketches are, in the room of ``bits`` and ``counts``."""
    every, those = counts
    for word, mine, mask in zip(sketches, own, strong, strict=True):
        np.bitwise_xor(word, mine, out=bits)
        np.bitwise_count(bits, out=every)
        np.bitwise_and(bits, mask, out=bits)
        np.bitwise_count(bits, out=those)
        those *= _STRONG - 1
        every += those  # at most 3 * 64: a byte is enough
        total += every


def within(found: Distances, least: int) -> int:
    """The smallest distance that at least so many are within, or the largest there is."""
    upto = np.bincount(found).cumsum()
    return min(int(np.searchsorted(upto, least)), len(upto) - 1)
