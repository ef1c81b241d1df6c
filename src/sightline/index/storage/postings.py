"""Posting lists as bytes: gaps between document numbers, and counts, seven bits to a byte.

One number per posting: the gap to the document before, times sixteen, plus the count less one.
Counts stop at sixteen: the ranking hardly tells larger ones apart. Lists without counts (path
words, trigrams) hold the gaps alone, or a bitmap where that is shorter. Everything is encoded and
decoded for whole arrays at once.

>>> data, offsets, _ = encode_counted(*lists([3, 3, 9], [2, 5, 5], [1, 20, 4]))
>>> decode_counted(data[: offsets[1]])
(array([2, 5]), array([ 1, 16]))
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "COUNT_BITS",
    "MAX_COUNT",
    "add_up",
    "bitmap_width",
    "bitmaps",
    "bitmaps_at",
    "contains",
    "decode_counted",
    "decode_plain",
    "encode_counted",
    "encode_plain",
    "lists",
    "pack",
    "pieces",
    "read_varints",
    "unpack",
    "write_varints",
]

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]

MAX_COUNT = 16
COUNT_BITS = 4
_FEW_BYTES = 200
#: About how many bytes of bitmaps are made at a time.
_MARKED = 1 << 19


def lists(keys: list[int], documents: list[int], counts: list[int]) -> tuple[Ints, Ints, Ints]:
    """Small lists as the arrays that the encoders take."""
    return np.array(keys, np.int64), np.array(documents, np.int64), np.array(counts, np.int64)


# A posting as one number: 28 bits for the rank of its key, 32 for its document, 4 for its count.
# Such numbers sort in the right order without being taken apart.


def pack(
    ranks: NDArray[Any], documents: NDArray[Any], counts: NDArray[Any] | None = None
) -> NDArray[np.uint64]:
    packed = ranks.astype(np.uint64) << np.uint64(32)
    packed |= documents.astype(np.uint64)
    packed <<= np.uint64(COUNT_BITS)
    if counts is not None:
        packed |= (np.minimum(counts, MAX_COUNT) - 1).astype(np.uint64)
    return packed


def unpack(packed: NDArray[np.uint64]) -> tuple[Ints, Ints, Ints]:
    """(rank, document, count) of packed postings."""
    rest = (packed >> np.uint64(COUNT_BITS)).view(np.int64)
    counts = (packed & np.uint64(MAX_COUNT - 1)).view(np.int64) + 1
    return rest >> 32, rest & 0xFFFF_FFFF, counts


def add_up(packed: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Sorted postings with those of one key and document made into one."""
    if not len(packed):
        return packed
    places = packed >> np.uint64(COUNT_BITS)
    new = np.empty(len(packed), bool)
    new[0] = True
    np.not_equal(places[1:], places[:-1], out=new[1:])
    if new.all():
        return packed
    first = np.flatnonzero(new)
    counts = (packed & np.uint64(MAX_COUNT - 1)).astype(np.int64) + 1
    total = np.minimum(np.add.reduceat(counts, first), MAX_COUNT) - 1
    return (places[first] << np.uint64(COUNT_BITS)) | total.astype(np.uint64)


def write_varints(values: Ints) -> tuple[Bytes, Ints]:
    """The values as bytes, and where each begins, with the total at the end."""
    sizes = np.ones(len(values), np.int64)
    for step in range(1, 6):
        larger = values >= 1 << (7 * step)
        if not larger.any():
            break
        sizes += larger
    offsets = np.zeros(len(values) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    out = np.empty(int(offsets[-1]), np.uint8)
    starts = offsets[:-1]
    out[starts] = (values & 127) | ((sizes > 1) << 7)
    for step in range(1, int(sizes.max(initial=1))):
        longer = np.flatnonzero(sizes > step)
        more = (sizes[longer] > step + 1) << 7
        out[starts[longer] + step] = ((values[longer] >> (7 * step)) & 127) | more
    return out, offsets


def read_varints(data: Bytes) -> Ints:
    """The values that ``write_varints`` wrote."""
    if len(data) <= _FEW_BYTES:
        return _read_few(data.tobytes())
    last = data < 128
    if last.all():
        return data.astype(np.int64)
    ends = np.flatnonzero(last)
    starts = np.empty_like(ends)
    starts[0] = 0
    starts[1:] = ends[:-1] + 1
    # Each byte with the one after it, if that belongs to it: most values are there already.
    pairs = (data & 127).astype(np.uint16)
    pairs[:-1] |= np.where(last[:-1], 0, pairs[1:] << 7)
    values = pairs[starts].astype(np.int64)
    sizes = ends - starts
    for step in range(2, int(sizes.max()) + 1):
        longer = np.flatnonzero(sizes >= step)
        values[longer] |= (data[starts[longer] + step] & 127).astype(np.int64) << (7 * step)
    return values


def _read_few(data: bytes) -> Ints:
    """The same for so few that the overhead of arrays is dearer."""
    values: list[int] = []
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        if byte < 128:
            values.append(value)
            value = shift = 0
        else:
            shift += 7
    return np.array(values, np.int64)


def encode_counted(keys: Ints, documents: Ints, counts: Ints) -> tuple[Bytes, Ints, Ints]:
    """Postings sorted by key and document: bytes, the offset of each key's list, the first rows."""
    first, gaps = _gaps(keys, documents)
    values = (gaps << COUNT_BITS) | (np.minimum(counts, MAX_COUNT) - 1)
    data, offsets = write_varints(values)
    return data, np.append(offsets[first], offsets[-1]), first


def decode_counted(data: Bytes) -> tuple[Ints, Ints]:
    """The documents and counts of one list."""
    values = read_varints(data)
    return np.cumsum(values >> COUNT_BITS), (values & (MAX_COUNT - 1)) + 1


def encode_plain(
    keys: Ints, documents: Ints, total: int
) -> tuple[Bytes, Ints, NDArray[np.uint8], Ints]:
    """Lists without counts: bytes, offsets, which lists are bitmaps, the first rows.

    ``total`` is the number of documents, the length of a bitmap.
    """
    first, gaps = _gaps(keys, documents)
    width = bitmap_width(total)
    sizes = 1 + (gaps >= 1 << 7).astype(np.int64) + (gaps >= 1 << 14) + (gaps >= 1 << 21)
    lengths = np.add.reduceat(sizes, first) if len(first) else sizes
    dense = lengths > width
    if not dense.any():
        data, offsets = write_varints(gaps)
        flags = dense.astype(np.uint8)
        return data, np.append(offsets[first], offsets[-1]), flags, first
    rows = np.diff(np.append(first, len(keys)))
    in_dense = np.repeat(dense, rows)
    sparse, places = write_varints(gaps[~in_dense])
    marked = bitmaps(rows[dense], documents[in_dense], total)
    # Where each list lies in what was written, and how long it is.
    sizes = np.where(dense, width, lengths)
    starts = np.empty(len(first), np.int64)
    starts[~dense] = places[np.cumsum(rows[~dense]) - rows[~dense]]
    starts[dense] = len(sparse) + np.arange(len(starts[dense])) * width
    offsets = np.zeros(len(first) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    out = pieces(np.concatenate([sparse, marked]), starts, sizes)
    return out, offsets, dense.astype(np.uint8), first


def bitmap_width(total: int) -> int:
    """The bytes of a bitmap of so many documents."""
    return (total + 7) // 8


def bitmaps(rows: Ints, documents: Ints, total: int) -> Bytes:
    """The bitmaps of lists side by side, each given by how many of the documents it has."""
    width = bitmap_width(total)
    out = np.empty((len(rows), width), np.uint8)
    last = np.cumsum(rows)
    step = max(1, _MARKED // max(1, width))
    for begin in range(0, len(rows), step):
        part = rows[begin : begin + step]
        low = int(last[begin] - rows[begin])
        high = int(last[begin + len(part) - 1])
        bits = np.zeros((len(part), width * 8), bool)
        of = np.repeat(np.arange(len(part)) * (width * 8), part)
        bits.reshape(-1)[of + documents[low:high]] = True
        out[begin : begin + len(part)] = np.packbits(bits, axis=1)
    return out.reshape(-1)


def bitmaps_at(marked: Bytes) -> tuple[Ints, Ints]:
    """The row and the document of every bit that is set in bitmaps of one length."""
    width = marked.shape[1] * 8
    places = np.flatnonzero(np.unpackbits(marked, axis=1))
    rows = places // width
    return rows, places - rows * width


def pieces(data: Bytes, starts: Ints, sizes: Ints) -> Bytes:
    """Ranges of bytes one after the other."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    places = np.repeat(starts - ends + sizes, sizes)
    places += np.arange(total)
    return data[places]


def decode_plain(data: Bytes, *, dense: bool) -> Ints:
    """The documents of one list without counts."""
    if dense:
        return np.flatnonzero(np.unpackbits(data))
    return np.cumsum(read_varints(data))


def contains(ascending: Ints, wanted: Ints) -> NDArray[np.bool_]:
    """Whether each of some numbers is in a list."""
    if not len(ascending):
        return np.zeros(len(wanted), bool)
    places = np.searchsorted(ascending, wanted)
    np.minimum(places, len(ascending) - 1, out=places)
    found: NDArray[np.bool_] = ascending[places] == wanted
    return found


def _gaps(keys: Ints, documents: Ints) -> tuple[Ints, Ints]:
    """The first row of each key, and every document less the one before in its list."""
    if not len(keys):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    starts = np.empty(len(keys), bool)
    starts[0] = True
    np.not_equal(keys[1:], keys[:-1], out=starts[1:])
    gaps = documents.astype(np.int64)
    gaps[1:] -= documents[:-1]
    gaps[starts] = documents[starts]
    return np.flatnonzero(starts), gaps
