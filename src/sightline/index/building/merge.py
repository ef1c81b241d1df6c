"""Several segments made into one, without the files that are no longer alive.

Within a list documents are told by their gaps, which stay the same when all files of a segment are
alive. So the bytes of such a list are copied, all but the first gap, which now begins at the last
document of the segment before. Other segments' lists are first written anew without the dead.

Lists are merged range by range of their keys, so that memory does not grow with the index. The
result is the segment that would have been made from the living files in the same order. Runs in
worker processes only.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.index.storage.postings import (
    COUNT_BITS,
    bitmap_width,
    bitmaps,
    bitmaps_at,
    pieces,
    read_varints,
    write_varints,
)
from sightline.index.storage.segment import Columns, Segment

__all__ = ["Living", "merge"]

Ints = NDArray[np.int64]

#: About how many bytes of lists are taken apart at a time.
_PORTION = 1 << 20
_PER_CHUNK = ("chunk_length", "chunk_kinds")


class Living(NamedTuple):
    """A segment and the numbers of its files that are alive, ascending."""

    segment: Segment
    files: Ints


class _Source(NamedTuple):
    """A segment with the new numbers of its files and chunks; -1 for those that are gone."""

    segment: Segment
    files: Ints
    chunks: Ints

    @property
    def whole(self) -> bool:
        """Whether every file is alive, so that all numbers rise by the same."""
        return bool(self.files.min(initial=0) >= 0)


def merge(parts: Sequence[Living]) -> Columns:
    """The columns of one segment with the living files of all parts, in their order."""
    sources: list[_Source] = []
    columns: dict[str, list[NDArray[Any]]] = {
        name: [] for name in ("sizes", *_PER_CHUNK, "record_sizes", "records")
    }
    files = chunks = 0
    for segment, alive in parts:
        source, counted = _renumber(segment, alive, files, chunks, columns)
        sources.append(source)
        files += len(alive)
        chunks += counted
    made: dict[str, NDArray[Any]] = {
        "chunk_first": _first(_joined(columns["sizes"])),
        **{name: _joined(columns[name]) for name in _PER_CHUNK},
        "record_first": _first(_joined(columns["record_sizes"])),
        "records": _joined(columns["records"]).astype(np.uint8),
    }
    made |= _merge_lists("term", sources, chunks)
    made |= _merge_lists("path", sources, files)
    made |= _merge_lists("gram", sources, files)
    return made


def _renumber(
    segment: Segment,
    alive: Ints,
    files: int,
    chunks: int,
    columns: dict[str, list[NDArray[Any]]],
) -> tuple[_Source, int]:
    new_files = np.full(segment.files, -1, np.int64)
    new_files[alive] = np.arange(files, files + len(alive))
    first = segment.columns["chunk_first"].astype(np.int64)
    sizes = np.diff(first)
    living = np.repeat(new_files >= 0, sizes)
    counted = int(living.sum())
    new_chunks = np.full(segment.chunks, -1, np.int64)
    new_chunks[living] = np.arange(chunks, chunks + counted)
    columns["sizes"].append(sizes[alive])
    for name in _PER_CHUNK:
        columns[name].append(segment.columns[name][living])
    record_first = segment.columns["record_first"].astype(np.int64)
    record_sizes = np.diff(record_first)
    columns["record_sizes"].append(record_sizes[alive])
    kept = np.repeat(new_files >= 0, record_sizes)
    columns["records"].append(segment.columns["records"][kept])
    return _Source(segment, new_files, new_chunks), counted


def _merge_lists(kind: str, sources: Sequence[_Source], total: int) -> dict[str, NDArray[Any]]:
    keys: list[NDArray[Any]] = []
    firsts: list[Ints] = []
    flags: list[NDArray[np.bool_]] = []
    data: list[NDArray[np.uint8]] = []
    size = 0
    for low, high in _ranges(kind, sources):
        found = [_lists(kind, source, low, high) for source in sources]
        found = [lists for lists in found if len(lists.keys)]
        if not found:
            continue
        range_keys, offsets, encoded = _chained(found, COUNT_BITS if kind == "term" else 0)
        if kind != "term":
            offsets, encoded, dense = _shortest(offsets, encoded, total)
            flags.append(dense)
        keys.append(range_keys)
        firsts.append(offsets[:-1] + size)
        data.append(encoded)
        size += len(encoded)
    made: dict[str, NDArray[Any]] = {
        f"{kind}_keys": _joined(keys),
        f"{kind}_first": np.append(_joined(firsts).astype(np.int64), size),
        f"{kind}s": _joined(data).astype(np.uint8, copy=False),
    }
    if kind != "term":
        made[f"{kind}_dense"] = _joined(flags)
    return made


def _ranges(kind: str, sources: Sequence[_Source]) -> Iterator[tuple[int, int]]:
    """Half-open ranges of keys that cover all, each with a bounded amount of lists."""
    total = sum(len(source.segment.columns[f"{kind}s"]) for source in sources)
    portions = max(1, -(-total // _PORTION))
    largest = max(sources, key=lambda source: len(source.segment.columns[f"{kind}s"]))
    keys = largest.segment.columns[f"{kind}_keys"]
    first = largest.segment.columns[f"{kind}_first"].astype(np.int64)
    if not len(keys):
        portions = 1
    bounds = [0]
    for portion in range(1, portions):
        place = int(np.searchsorted(first, portion * first[-1] // portions))
        bound = int(keys[min(place, len(keys) - 1)])
        if bound > bounds[-1]:
            bounds.append(bound)
    bounds.append(1 << 64)
    yield from itertools.pairwise(bounds)


class _Lists(NamedTuple):
    """The lists of one segment in a range of keys, with the new numbers of the documents."""

    keys: NDArray[Any]
    #: The first and the last document of each list.
    heads: Ints
    lasts: Ints
    #: What stands in the first number of each list beside its gap.
    counts: Ints
    #: Where the bytes of each list lie in ``data``, without its first number.
    starts: Ints
    sizes: Ints
    data: NDArray[np.uint8]


def _lists(kind: str, source: _Source, low: int, high: int) -> _Lists:
    """The lists of a segment whose keys lie in a range."""
    columns = source.segment.columns
    keys = columns[f"{kind}_keys"]
    start = int(np.searchsorted(keys, keys.dtype.type(low)))
    top = np.iinfo(keys.dtype).max
    end = len(keys) if high > top else int(np.searchsorted(keys, keys.dtype.type(high)))
    keys = keys[start:end]
    if not len(keys):
        none = np.zeros(0, np.int64)
        return _Lists(keys, none, none, none, none, none, np.zeros(0, np.uint8))
    first = columns[f"{kind}_first"][start : end + 1].astype(np.int64)
    data = columns[f"{kind}s"][first[0] : first[-1]]
    first -= first[0]
    bits = COUNT_BITS
    if kind != "term":
        bits = 0
        dense = columns[f"{kind}_dense"][start:end] > 0
        if dense.any():
            first, data = _spelled(first, data, dense)
    new = source.chunks if kind == "term" else source.files
    if source.whole:
        return _measured(keys, first, data, bits, int(new[0]))
    keys, first, data = _without_dead(keys, first, data, bits, new)
    return _measured(keys, first, data, bits, 0)


def _spelled(
    first: Ints, data: NDArray[np.uint8], dense: NDArray[np.bool_]
) -> tuple[Ints, NDArray[np.uint8]]:
    """Lists of which some are bitmaps, as gaps throughout."""
    places = np.flatnonzero(dense)
    starts = first[places]
    width = int(first[places[0] + 1] - starts[0])
    row, documents = bitmaps_at(data[starts[:, None] + np.arange(width)])
    gaps = documents.copy()
    gaps[1:] -= documents[:-1]
    begins = np.searchsorted(row, np.arange(len(places)))
    gaps[begins] = documents[begins]
    spelled, offsets = write_varints(gaps)
    offsets = np.append(offsets[begins], offsets[-1])
    sizes = np.diff(first)
    origin = first[:-1].copy()
    sizes[places] = np.diff(offsets)
    origin[places] = offsets[:-1] + len(data)
    return _first(sizes), pieces(np.concatenate([data, spelled]), origin, sizes)


def _without_dead(
    keys: NDArray[Any], first: Ints, data: NDArray[np.uint8], bits: int, new: Ints
) -> tuple[NDArray[Any], Ints, NDArray[np.uint8]]:
    """Lists written anew with the new numbers of the living documents."""
    values = read_varints(data)
    ends = np.append(0, np.cumsum(data < 128))
    rows = np.diff(ends[first])
    documents = new[_running(values >> bits, rows)]
    living = documents >= 0
    of = np.repeat(np.arange(len(keys)), rows)[living]
    documents, values = documents[living], values[living]
    gaps = documents.copy()
    gaps[1:] -= documents[:-1]
    begins = np.flatnonzero(np.append(True, of[1:] != of[:-1])) if len(of) else of
    gaps[begins] = documents[begins]
    encoded, offsets = write_varints((gaps << bits) | (values & ((1 << bits) - 1)))
    return keys[of[begins]], np.append(offsets[begins], offsets[-1]), encoded


def _measured(
    keys: NDArray[Any], first: Ints, data: NDArray[np.uint8], bits: int, base: int
) -> _Lists:
    """Lists with their first and last documents told, ``base`` added to all."""
    if not len(keys):
        none = np.zeros(0, np.int64)
        return _Lists(keys, none, none, none, none, none, data)
    starts = first[:-1]
    low = data & 127
    more = data > 127
    # What each byte adds to the sum of the gaps of its list, which is the last document.
    adds = (low >> bits).astype(np.int32)
    sizes = np.ones(len(starts), np.int64)
    heads = low[starts].astype(np.int64)
    later = np.flatnonzero(more[:-1]) + 1
    longer = np.flatnonzero(more[starts])
    step = 1
    while len(later):
        adds[later] = low[later].astype(np.int32) << (7 * step - bits)
        places = starts[longer] + step
        heads[longer] |= low[places].astype(np.int64) << (7 * step)
        sizes[longer] += 1
        longer = longer[more[places]]
        later = later[1:][np.diff(later) == 1]
        step += 1
    lasts = np.add.reduceat(adds, starts, dtype=np.int64)
    return _Lists(
        keys,
        (heads >> bits) + base,
        lasts + base,
        heads & ((1 << bits) - 1),
        starts + sizes,
        np.diff(first) - sizes,
        data,
    )


def _chained(found: Sequence[_Lists], bits: int) -> tuple[NDArray[Any], Ints, NDArray[np.uint8]]:
    """The lists of each key one after the other: the keys, where their lists begin, the bytes."""
    every = _joined([lists.keys for lists in found])
    order = np.argsort(every, kind="stable")
    keys = every[order]
    new = np.append(True, keys[1:] != keys[:-1])
    gaps = _joined([lists.heads for lists in found])[order]
    before = _joined([lists.lasts for lists in found])[order][:-1]
    before[new[1:]] = 0
    gaps[1:] -= before
    counts = _joined([lists.counts for lists in found])[order]
    heads, head_first = write_varints((gaps << bits) | counts)
    # The first number of a list, then the rest of it as it was.
    base = np.cumsum([len(heads), *(len(lists.data) for lists in found)])
    rests = [lists.starts + begin for lists, begin in zip(found, base, strict=False)]
    starts = np.empty(2 * len(order), np.int64)
    starts[::2] = head_first[:-1]
    starts[1::2] = _joined(rests)[order]
    sizes = np.empty(2 * len(order), np.int64)
    sizes[::2] = np.diff(head_first)
    sizes[1::2] = _joined([lists.sizes for lists in found])[order]
    data = pieces(_joined([heads, *(lists.data for lists in found)]), starts, sizes)
    offsets = _first(sizes[::2] + sizes[1::2])
    return keys[new], np.append(offsets[:-1][new], offsets[-1]), data


def _shortest(
    first: Ints, data: NDArray[np.uint8], total: int
) -> tuple[Ints, NDArray[np.uint8], NDArray[np.bool_]]:
    """Lists of gaps with those that are shorter as bitmaps made so, and which these are."""
    sizes = np.diff(first)
    width = bitmap_width(total)
    dense = sizes > width
    places = np.flatnonzero(dense)
    if not len(places):
        return first, data, dense
    long = pieces(data, first[places], sizes[places])
    ends = np.append(0, np.cumsum(long < 128))
    rows = np.diff(ends[_first(sizes[places])])
    marked = bitmaps(rows, _running(read_varints(long), rows), total)
    origin = first[:-1].copy()
    origin[places] = len(data) + np.arange(len(places)) * width
    sizes[places] = width
    return _first(sizes), pieces(np.concatenate([data, marked]), origin, sizes), dense


def _running(gaps: Ints, rows: Ints) -> Ints:
    """Sums of gaps that begin anew with each list, none of them empty."""
    total: Ints = np.cumsum(gaps)
    begins = np.cumsum(rows) - rows
    total -= np.repeat(total[begins] - gaps[begins], rows)
    return total


def _first(sizes: NDArray[Any]) -> Ints:
    return np.append(0, np.cumsum(sizes.astype(np.int64)))


def _joined(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(arrays) if arrays else np.zeros(0, np.int64)
