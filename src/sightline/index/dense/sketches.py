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
#: How many vectors are compared at a time: what that needs stays in the cache.
_TOGETHER = 32_768


def sketch(vectors: Vectors) -> Sketches:
    """The sketches of vectors, a column for each. The last word is filled up with zeros."""
    rows, width = vectors.shape
    words = -(-width // _WORD)
    raw = np.zeros((rows, words * 8), np.uint8)
    raw[:, : -(-width // 8)] = np.packbits(vectors > 0, axis=1)
    return np.ascontiguousarray(raw.view(np.uint64).T)


def distances(sketches: Sketches, query: Vectors, out: Distances | None = None) -> Distances:
    """How far each of the vectors is from a query."""
    rows = sketches.shape[1]
    found = np.empty(rows, np.uint16) if out is None else out
    own = sketch(query[None])[:, 0]
    sizes = np.abs(query.astype(np.int64))
    strong = sketch((sizes * len(sizes) > sizes.sum()).astype(np.int8)[None])[:, 0]
    room = min(rows, _TOGETHER)
    differ, masked = np.empty(room, np.uint64), np.empty(room, np.uint64)
    counts = np.empty(room, np.uint8)
    some, more = np.empty(room, np.uint16), np.empty(room, np.uint16)
    for begin in range(0, rows, _TOGETHER):
        size = min(_TOGETHER, rows - begin)
        total = found[begin : begin + size]
        total[:] = 0
        some[:size] = 0
        for word, bits, mask in zip(sketches, own, strong, strict=True):
            np.bitwise_xor(word[begin : begin + size], bits, out=differ[:size])
            np.bitwise_count(differ[:size], out=counts[:size])
            more[:size] = counts[:size]
            total += more[:size]
            np.bitwise_and(differ[:size], mask, out=masked[:size])
            np.bitwise_count(masked[:size], out=counts[:size])
            more[:size] = counts[:size]
            some[:size] += more[:size]
        some[:size] *= _STRONG - 1
        total += some[:size]
    return found


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
