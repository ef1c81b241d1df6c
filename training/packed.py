"""The numbers that are trained on, as one small file that travels to the machine with the
accelerator.

Two ragged tables (queries, chunks) of piece numbers, and a few columns per pair. Pairs are in the
order of their repositories; those of held-out repositories are last and are never trained on.
"""

import hashlib
import io
import json
import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.index.dense.layout import Layout

__all__ = ["KINDS", "Packed"]

#: The kinds of pairs, numbered by their place.
KINDS = "dnicph"
_ARRAYS = {
    "query_values": "u2",
    "query_lengths": "u1",
    "chunk_values": "u2",
    "chunk_lengths": "u1",
    "repositories": "u2",
    "kinds": "u1",
    "languages": "u1",
    "places": "u4",
}
#: Most of it are numbers of two bytes.
_SQUEEZED = [{"id": lzma.FILTER_LZMA2, "preset": 4, "lc": 3, "lp": 1, "pb": 1}]


@dataclass
class Packed:
    layout: Layout
    pieces: list[str]
    #: Names of repositories and languages; columns hold their numbers.
    repository_names: list[str]
    language_names: list[str]
    #: How many pairs are for training; the rest is held out.
    trained: int
    query_values: NDArray[np.uint16]
    query_lengths: NDArray[np.uint8]
    chunk_values: NDArray[np.uint16]
    chunk_lengths: NDArray[np.uint8]
    repositories: NDArray[np.uint16]
    kinds: NDArray[np.uint8]
    languages: NDArray[np.uint8]
    #: Equal for pairs about the same declaration.
    places: NDArray[np.uint32]
    light_words: list[str]

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def light(self) -> NDArray[np.bool_]:
        """Which pieces are words without much meaning."""
        small = frozenset(self.light_words)
        return np.array([piece in small for piece in self.pieces])

    @property
    def keys(self) -> list[NDArray[np.int64]]:
        """Columns; two pairs with an equal value in one of them are not wrong answers to each
        other."""
        return [
            _row_keys(self.query_values, self.query_lengths),
            _row_keys(self.chunk_values, self.chunk_lengths),
            self.places.astype(np.int64),
        ]

    def write(self, path: Path) -> str:
        """Returns the digest of what is written, whatever the library makes of it on disk."""
        head = {
            "layout": list(self.layout),
            "pieces": self.pieces,
            "repository_names": self.repository_names,
            "language_names": self.language_names,
            "trained": self.trained,
            "light_words": self.light_words,
            "sizes": {name: list(getattr(self, name).shape) for name in _ARRAYS},
        }
        text = json.dumps(head).encode()
        digest = hashlib.sha256()
        with lzma.open(path, "wb", filters=_SQUEEZED) as file:
            for part in self._parts(text):
                digest.update(part)
                file.write(part)
        return digest.hexdigest()

    def _parts(self, head: bytes) -> Iterator[bytes]:
        yield len(head).to_bytes(4, "little") + head
        for name, kind in _ARRAYS.items():
            yield np.ascontiguousarray(getattr(self, name), kind).tobytes()

    @classmethod
    def read(cls, path: Path) -> "Packed":
        with lzma.open(path) as file:
            stream = io.BytesIO(file.read())
        head: dict[str, Any] = json.loads(stream.read(int.from_bytes(stream.read(4), "little")))
        sizes = head.pop("sizes")
        arrays = {}
        for name, kind in _ARRAYS.items():
            count = int(np.prod(sizes[name]))
            data = stream.read(count * np.dtype(kind).itemsize)
            arrays[name] = np.frombuffer(data, kind).reshape(sizes[name])
        return cls(layout=Layout(*head.pop("layout")), **head, **arrays)


def _row_keys(values: NDArray[np.uint16], lengths: NDArray[np.uint8]) -> NDArray[np.int64]:
    """A number for each row that equal rows share."""
    sizes = lengths.astype(np.int64).sum(axis=1)
    ends = np.cumsum(sizes)
    # A rolling sum with odd multipliers by place: equal rows are equal, others meet by chance only.
    place = np.arange(len(values), dtype=np.int64) - np.repeat(ends - sizes, sizes)
    factors = np.random.default_rng(1).integers(1, 2**62, 256) | 1
    mixed = (values.astype(np.int64) + 1) * factors[np.minimum(place, 255)]
    totals = np.concatenate([[0], np.cumsum(mixed)])
    found: NDArray[np.int64] = totals[ends] - totals[ends - sizes]
    return found
