"""Several segments made into one, without the files that are no longer alive.

Postings are merged range by range of their keys, so that memory does not grow with the index. The
result is the segment that would have been made from the living files in the same order. Runs in
worker processes only.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.index.postings import encode_counted, encode_plain, pack, read_varints, unpack
from sightline.index.segment import Columns, Segment

__all__ = ["Living", "merge"]

Ints = NDArray[np.int64]

#: About how many bytes of lists are taken apart at a time.
_PORTION = 1 << 20
_COUNT_BITS = 4
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
    flags: list[NDArray[np.uint8]] = []
    data: list[NDArray[np.uint8]] = []
    size = 0
    for low, high in _ranges(kind, sources):
        range_keys, packed = _postings(kind, sources, low, high)
        if not len(packed):
            continue
        ranks, documents, counts = unpack(packed)
        del packed
        if kind == "term":
            encoded, offsets, first = encode_counted(ranks, documents, counts)
        else:
            encoded, offsets, dense, first = encode_plain(ranks, documents, total)
            flags.append(dense)
        keys.append(range_keys[ranks[first]])
        firsts.append(offsets[:-1] + size)
        data.append(encoded)
        size += len(encoded)
    made: dict[str, NDArray[Any]] = {
        f"{kind}_keys": _joined(keys),
        f"{kind}_first": np.append(_joined(firsts).astype(np.int64), size),
        f"{kind}s": _joined(data).astype(np.uint8),
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
    """The lists of one segment in a range of keys: rows per list, and all rows."""

    keys: NDArray[Any]
    rows: Ints
    documents: Ints
    counts: Ints | None


def _postings(
    kind: str, sources: Sequence[_Source], low: int, high: int
) -> tuple[NDArray[Any], NDArray[np.uint64]]:
    """The distinct keys in a range, and every living posting, sorted."""
    found: list[_Lists] = []
    for source in sources:
        lists = _decode(kind, source.segment, low, high)
        new = (source.chunks if kind == "term" else source.files)[lists.documents]
        found.append(lists._replace(documents=new))
    keys, ranks = np.unique(_joined([lists.keys for lists in found]), return_inverse=True)
    packed: list[NDArray[np.uint64]] = []
    begin = 0
    for lists in found:
        rank = np.repeat(ranks[begin : begin + len(lists.keys)], lists.rows)
        begin += len(lists.keys)
        living = lists.documents >= 0
        if living.all():
            packed.append(pack(rank, lists.documents, lists.counts))
        else:
            counts = None if lists.counts is None else lists.counts[living]
            packed.append(pack(rank[living], lists.documents[living], counts))
    joined = _joined(packed)
    del packed, found
    joined.sort()
    return keys, joined


def _decode(kind: str, segment: Segment, low: int, high: int) -> _Lists:
    """The lists of a segment whose keys lie in a range."""
    keys = segment.columns[f"{kind}_keys"]
    start = int(np.searchsorted(keys, keys.dtype.type(low)))
    top = np.iinfo(keys.dtype).max
    end = len(keys) if high > top else int(np.searchsorted(keys, keys.dtype.type(high)))
    keys = keys[start:end]
    none = np.zeros(0, np.int64)
    if not len(keys):
        return _Lists(keys, none, none, none if kind == "term" else None)
    first = segment.columns[f"{kind}_first"][start : end + 1].astype(np.int64)
    data = segment.columns[f"{kind}s"][first[0] : first[-1]]
    first -= first[0]
    if kind == "term":
        values = read_varints(data)
        rows = _rows_per_list(data, first)
        return _Lists(keys, rows, _running(values >> _COUNT_BITS, rows), (values & 15) + 1)
    return _decode_plain(keys, first, data, segment.columns[f"{kind}_dense"][start:end] > 0)


def _decode_plain(
    keys: NDArray[Any], first: Ints, data: NDArray[np.uint8], dense: NDArray[np.bool_]
) -> _Lists:
    none = np.zeros(0, np.int64)
    sizes = np.diff(first)
    sparse = data[~np.repeat(dense, sizes)] if dense.any() else data
    sparse_first = np.append(0, np.cumsum(sizes[~dense]))
    rows = [_rows_per_list(sparse, sparse_first)]
    documents = [_running(read_varints(sparse), rows[0]) if len(sparse) else none]
    for place in np.flatnonzero(dense):
        found = np.flatnonzero(np.unpackbits(data[first[place] : first[place + 1]]))
        rows.append(np.array([len(found)]))
        documents.append(found)
    ordered = np.concatenate([keys[~dense], keys[dense]])
    return _Lists(
        ordered, _joined(rows).astype(np.int64), _joined(documents).astype(np.int64), None
    )


def _rows_per_list(data: NDArray[np.uint8], first: Ints) -> Ints:
    """How many numbers each list holds: bytes that end one."""
    ends = np.append(0, np.cumsum(data < 128))
    return np.diff(ends[first])


def _running(gaps: Ints, rows: Ints) -> Ints:
    """Sums of gaps that begin anew with each list."""
    total = np.cumsum(gaps)
    begins = np.cumsum(rows) - rows
    filled = rows > 0
    before = np.zeros(len(rows), np.int64)
    before[filled] = total[begins[filled]] - gaps[begins[filled]]
    return total - np.repeat(before, rows)


def _first(sizes: NDArray[Any]) -> Ints:
    return np.append(0, np.cumsum(sizes.astype(np.int64)))


def _joined(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(arrays) if arrays else np.zeros(0, np.int64)
