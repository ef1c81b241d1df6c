"""Which chunks of a snapshot are nearest to a query, and how near they are.

Two steps. Sketches of one bit per component, kept in memory, choose the few thousand chunks that
may be near; everything that is as far as the last of them is among them, so the choice depends on
the vectors alone. Then the vectors themselves are read, from where they lie on disk, and compared
exactly: they are integers, so no sum hangs on the order, the batch or the CPU. A small index is
compared as a whole.

The vectors of a segment never change. What is known of a segment is kept when the index moves on,
so an edit costs what it changed.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sightline.index.dense.encoder import VECTOR_SCALE
from sightline.index.dense.sketches import Sketches, distances, sketch, within
from sightline.index.dense.vectors import VectorLog, Vectors, path_key
from sightline.index.storage.manifest import FileRow
from sightline.index.storage.snapshot import Part

__all__ = ["LOOKED_AT", "Block", "Matrix", "missing_files"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

#: So many chunks at least are compared exactly. What the sketches lose by that is measured in
#: docs/evidence/dense-scale.md.
LOOKED_AT = 4_000
#: So many vectors are sketched at a time.
_BLOCK = 2_048
#: So many are multiplied at a time: widened to floats they stay in the cache.
_MULTIPLIED = 512


def missing_files(rows: Mapping[str, FileRow], log: VectorLog) -> list[str]:
    """The living files whose vectors are not there, sorted by path."""
    return sorted(path for path, row in rows.items() if _missing(row, log, path_key(path)))


def _missing(row: FileRow, log: VectorLog, key: bytes) -> bool:
    if row.place < 0 or not row.chunks:
        return False
    return log.content(key) != row.hash[:16].ljust(16, b"\0") or log.count(key) != row.chunks


class Block:
    """The vectors of a segment's chunks where they lie, and their sketches."""

    def __init__(self, data: Vectors, starts: Ints, width: int, part: Part | None = None) -> None:
        """``data``: what they lie in; ``starts``: where each begins. Of a part's dead files they
        may be gone."""
        self.width = width
        self._part = part
        self._starts = starts
        # A vector may begin at every byte. Each is one member, which is copied as a whole.
        every = max(0, len(data) - width + 1)
        self._windows = np.ndarray((every,), f"V{width}", data, strides=(1,))

    @classmethod
    def of(
        cls,
        part: Part,
        rows: Mapping[str, FileRow],
        log: VectorLog,
        missing: list[str] | None = None,
    ) -> "Block | None":
        """The block of a part if every living file of it has its vectors in the log. The paths of
        those that have not are added to ``missing``."""
        begins = np.zeros(part.segment.files, np.int64)
        lacking: list[str] = []
        for place in np.flatnonzero(part.alive).tolist():
            path = part.paths[place]
            row, key = rows[path], path_key(path)
            if _missing(row, log, key):
                lacking.append(path)
            elif row.chunks:
                begins[place] = log.begin(key)
        if lacking:
            if missing is not None:
                missing += lacking
            return None
        first = part.segment.columns["chunk_first"].astype(np.int64)
        sizes = first[1:] - first[:-1]
        starts = np.repeat(begins - first[:-1] * log.width, sizes)
        starts += np.arange(len(starts)) * log.width
        starts[np.repeat(~part.alive, sizes)] = 0  # a place that is there; nobody looks at it
        return cls(log.data, starts, log.width, part)

    @classmethod
    def whole(cls, vectors: Vectors) -> "Block":
        """Vectors that lie side by side, a row for each chunk."""
        rows, width = vectors.shape
        starts = np.arange(rows, dtype=np.int64) * width
        return cls(np.ascontiguousarray(vectors).reshape(-1), starts, width)

    def __len__(self) -> int:
        return len(self._starts)

    def holds(self, part: Part) -> bool:
        """Whether all living files of a part have their vectors here."""
        own = self._part
        return own is part or (
            own is not None and own.segment is part.segment and bool(own.alive[part.alive].all())
        )

    def rows(self, chunks: Ints | slice) -> Vectors:
        """The vectors of some chunks, copied."""
        starts = self._starts[chunks]
        if not len(self._windows):
            return np.zeros((len(starts), self.width), np.int8)
        return self._windows[starts].view(np.int8).reshape(-1, self.width)

    def products(self, query: NDArray[np.float32], chunks: Ints, out: NDArray[np.float32]) -> None:
        """The products with some chunks: whole numbers below 2**24, so exact in any order."""
        room = np.empty((min(len(chunks), _MULTIPLIED), self.width), np.float32)
        for begin in range(0, len(chunks), _MULTIPLIED):
            rows = self.rows(chunks[begin : begin + _MULTIPLIED])
            wide = room[: len(rows)]
            wide[...] = rows
            np.dot(wide, query, out=out[begin : begin + _MULTIPLIED])

    @cached_property
    def sketches(self) -> Sketches:
        parts = [
            sketch(self.rows(slice(begin, begin + _BLOCK))) for begin in range(0, len(self), _BLOCK)
        ]
        return np.concatenate(parts, axis=1) if parts else sketch(self.rows(slice(0)))


class Matrix:
    """The vectors of all chunks of a snapshot, by their numbers."""

    def __init__(self, blocks: Sequence[Block], width: int) -> None:
        self._blocks = tuple(blocks)
        self.width = width
        self._bases = np.cumsum([0, *map(len, blocks)])

    @classmethod
    def whole(cls, vectors: Vectors) -> "Matrix":
        """``vectors``: a row for each chunk."""
        return cls([Block.whole(vectors)], int(vectors.shape[1]))

    def __len__(self) -> int:
        return int(self._bases[-1])

    def row(self, chunk: int) -> bytes:
        """The vector of a chunk as it is stored."""
        block = int(np.searchsorted(self._bases, chunk, "right")) - 1
        return self._blocks[block].rows(np.array([chunk - self._bases[block]])).tobytes()

    def near(self, query: Vectors, chunks: Ints) -> Floats:
        """About the cosine, for each of some chunks, which are ascending."""
        wide = query.astype(np.float32)
        products = np.empty(len(chunks), np.float32)
        ends = np.searchsorted(chunks, self._bases).tolist()
        for block, base, begin, end in zip(
            self._blocks, self._bases.tolist(), ends, ends[1:], strict=False
        ):
            block.products(wide, chunks[begin:end] - base, products[begin:end])
        return products.astype(np.float64) / VECTOR_SCALE**2

    def nearest(self, query: Vectors, among: Flags, count: int) -> tuple[Ints, Floats]:
        """The chunks that are nearest to a query, ascending, and how near each is.

        Those with the highest nearness above 0, and all that are as near as the last of them.
        """
        chunks = self.looked_at(query, among)
        values = self.near(query, chunks)
        least = 0.0
        if len(values) > count:
            least = float(np.partition(values, len(values) - count)[len(values) - count])
        kept = (values >= least) & (values > 0.0)
        return chunks[kept], values[kept]

    def looked_at(self, query: Vectors, among: Flags) -> Ints:
        """The chunks that are compared exactly: all of few, or those whose sketches are near."""
        count = np.count_nonzero(among)
        if count <= LOOKED_AT:
            return np.flatnonzero(among)
        found = distances([block.sketches for block in self._blocks], query)
        every = count == len(found)
        near = found <= within(found if every else found[among], LOOKED_AT)
        return np.flatnonzero(near if every else near & among)
