"""What is trained on, on the device: rows of numbers without padding, and batches cut from them.

A batch is six groups; all pairs of a group come from one repository, so that the wrong answers are
as near as they are when a user searches. Words and whole fields are left out at random. Everything
random comes from one generator with a given seed.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sightline.index.dense.layout import BODY, NAME, PATH, QUERY
from training.model import Batch

__all__ = ["Drop", "Groups", "Rows", "batches_of"]

Ints = NDArray[np.int64]


@dataclass
class Rows:
    """Ragged rows: all pieces in one line, and where each row begins; for chunks three fields."""

    values: Tensor
    begins: Tensor
    lengths: Tensor
    #: Pieces of the path and of the name, for chunks; nothing for queries.
    fields: Tensor | None
    sizes: Ints

    @classmethod
    def of(
        cls, values: NDArray[np.uint16], lengths: NDArray[np.uint8], device: torch.device
    ) -> "Rows":
        """``lengths``: one column for queries, three (path, name, body) for chunks."""
        sizes = lengths.astype(np.int64).sum(axis=1)
        begins = np.cumsum(sizes) - sizes
        fields = (
            torch.from_numpy(lengths.astype(np.int64)).to(device) if lengths.shape[1] > 1 else None
        )
        return cls(
            torch.from_numpy(values.astype(np.int32)).to(device),
            torch.from_numpy(begins).to(device),
            torch.from_numpy(sizes).to(device),
            fields,
            sizes,
        )

    def batch(self, numbers: Ints, drop: "Drop | None" = None) -> Batch:
        """The given rows, padded to the longest of them."""
        device = self.values.device
        rows = torch.from_numpy(numbers).to(device, non_blocking=True)
        longest = -(-max(1, int(self.sizes[numbers].max())) // 8) * 8
        line = torch.arange(longest, device=device)
        lengths = self.lengths[rows]
        real = line < lengths[:, None]
        where = (self.begins[rows][:, None] + line).clamp_max(len(self.values) - 1)
        pieces = self.values[where].long() * real
        if self.fields is None:
            fields = torch.full_like(pieces, QUERY)
        else:
            path, name = self.fields[rows, 0][:, None], self.fields[rows, 1][:, None]
            fields = torch.where(line < path, PATH, torch.where(line < path + name, NAME, BODY))
        if drop is not None:
            real = drop.apply(pieces, fields, real)
        real[:, 0] |= ~real.any(1)  # something must be there
        return Batch(pieces, fields, _places(fields, real), real)


def _places(fields: Tensor, real: Tensor) -> Tensor:
    """The place of each piece within its field, counting only what is there."""
    places = torch.zeros_like(fields)
    for field in (PATH, NAME, BODY, QUERY):
        mine = real & (fields == field)
        places += torch.where(mine, mine.cumsum(1) - 1, 0)
    return places


@dataclass
class Drop:
    """What is left out at random."""

    generator: torch.Generator
    #: Which pieces are words without much meaning.
    light: Tensor
    queries: bool
    piece: float = 0.1
    path: float = 0.25
    name: float = 0.2

    def apply(self, pieces: Tensor, fields: Tensor, real: Tensor) -> Tensor:
        def chance(*shape: int) -> Tensor:
            return torch.rand(*shape, generator=self.generator, device=pieces.device)

        count = len(pieces)
        kept = real & (chance(*pieces.shape) >= self.piece)
        if self.queries:
            # Some queries as people type them: without the small words, or only some of the words.
            short = chance(count, 1) < 0.25
            some = chance(count, 1) < 0.2
            kept &= ~(short & self.light[pieces])
            kept &= ~(some & (chance(*pieces.shape) < 0.4))
            return kept
        kept &= ~((fields == PATH) & (chance(count, 1) < self.path))
        kept &= ~((fields == NAME) & (chance(count, 1) < self.name))
        return kept


class Groups:
    """Endless batches of pair numbers, the same for the same seed."""

    def __init__(self, repositories: Ints, seed: int, groups: int, size: int) -> None:
        """``repositories``: of each pair, in ascending order."""
        self._random = np.random.default_rng(seed)
        self._groups = groups
        self._size = size
        bounds = np.flatnonzero(np.append(True, repositories[1:] != repositories[:-1]))
        self._parts = np.split(np.arange(len(repositories)), bounds[1:])

    def __iter__(self) -> Iterator[Ints]:
        waiting: list[Ints] = []
        while True:
            waiting += self._epoch()
            while len(waiting) >= self._groups:
                yield np.concatenate([waiting.pop() for _ in range(self._groups)])

    def _epoch(self) -> list[Ints]:
        whole: list[Ints] = []
        rest: list[Ints] = []
        for part in self._parts:
            mixed = self._random.permutation(part)
            full = len(mixed) // self._size * self._size
            whole += np.split(mixed[:full], full // self._size) if full else []
            rest.append(mixed[full:])
        left = np.concatenate([rest[i] for i in self._random.permutation(len(rest))])
        full = len(left) // self._size * self._size
        whole += np.split(left[:full], full // self._size) if full else []
        return [whole[i] for i in self._random.permutation(len(whole))]


def batches_of(sizes: Ints, parts: int) -> list[Ints]:
    """Places of a batch sorted by size, in parts of as many rows each.

    Together with lengths in steps of eight this gives few shapes, which a GPU's libraries remember.
    """
    return [part for part in np.array_split(np.argsort(sizes, kind="stable"), parts) if len(part)]
