"""How near each chunk of a snapshot is to a query: exact, over all of them.

Vectors are integers, so every sum is exact and no order hangs on the batch or the CPU. The vectors
of a snapshot are put side by side once; a small index keeps them ready to be multiplied, a large
one widens them block by block.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sightline.index.dense.encoder import VECTOR_SCALE
from sightline.index.dense.vectors import VectorLog, Vectors, path_key
from sightline.index.manifest import FileRow
from sightline.index.snapshot import Snapshot

__all__ = ["Matrix", "missing_files"]

Floats = NDArray[np.float64]
#: Rows that are kept as floats: 40 MB.
_KEPT_WIDE = 40_000
_BLOCK = 8_192


def missing_files(rows: Mapping[str, FileRow], log: VectorLog) -> list[str]:
    """The living files whose vectors are not there, sorted by path."""
    missing: list[str] = []
    for path, row in rows.items():
        if row.place < 0 or not row.chunks:
            continue
        key = path_key(path)
        if log.content(key) != row.hash[:16].ljust(16, b"\0") or log.count(key) != row.chunks:
            missing.append(path)
    return sorted(missing)


class Matrix:
    """The vectors of all chunks of a snapshot, by their numbers."""

    @classmethod
    def of(cls, snapshot: Snapshot, log: VectorLog) -> "Matrix":
        """Every living file must have its vectors in the log."""
        small: Vectors = np.zeros((snapshot.chunks, log.width), np.int8)
        first = snapshot.chunk_first
        for path, row in snapshot.rows.items():
            file = snapshot.find(path)
            if file is not None and row.chunks:
                small[first[file] : first[file + 1]] = log.vectors(path_key(path))
        return cls(small)

    def __init__(self, vectors: Vectors) -> None:
        """``vectors``: a row for each chunk."""
        self._small = vectors
        self._wide = self._small.astype(np.float32) if len(self._small) <= _KEPT_WIDE else None

    @property
    def width(self) -> int:
        return int(self._small.shape[1])

    def row(self, chunk: int) -> bytes:
        """The vector of a chunk as it is stored."""
        return bytes(self._small[chunk].tobytes())

    def near(self, query: Vectors, chunk: int | None = None) -> Floats:
        """About the cosine, per chunk or of one."""
        wide = query.astype(np.float32)
        if chunk is not None:
            products = self._small[chunk : chunk + 1].astype(np.float32) @ wide
        elif self._wide is not None:
            products = self._wide @ wide
        else:
            products = np.empty(len(self._small), np.float32)
            for begin in range(0, len(self._small), _BLOCK):
                block = self._small[begin : begin + _BLOCK].astype(np.float32)
                products[begin : begin + _BLOCK] = block @ wide
        return products.astype(np.float64) / VECTOR_SCALE**2
