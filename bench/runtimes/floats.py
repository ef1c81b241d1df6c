"""The model with plain 32-bit floats in numpy: what exactness costs is the difference to this.

Rows are padded to the longest of their group, and what is not there is masked, as in the graph.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sightline.index.dense.layout import Row
from sightline.index.dense.weights import Linear, Tower, Weights

__all__ = ["EPSILON", "FAR", "FloatTower", "encode", "groups", "padded", "plain"]

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]

EPSILON = np.float32(1e-7)
#: Added to the score of what is not there.
FAR = np.float32(-1e4)
#: As many pieces together as the package takes.
_TOGETHER = 1_280
_LN2 = np.float32(np.log(2.0))


def plain(linear: Linear) -> Floats:
    """A matrix with its scales multiplied in."""
    return np.ascontiguousarray(linear.matrix * linear.scale)


def groups(rows: Sequence[Row]) -> Iterator[list[int]]:
    """Numbers of rows of about the same length."""
    group: list[int] = []
    for number in sorted(range(len(rows)), key=lambda number: len(rows[number].pieces)):
        if group and (len(group) + 1) * len(rows[number].pieces) > _TOGETHER:
            yield group
            group = []
        group.append(number)
    if group:
        yield group


def padded(rows: Sequence[Row], longest: int) -> tuple[Numbers, Numbers, Floats]:
    """Pieces, numbers of field and place, and what to add to scores; one row each."""
    shape = len(rows), max(len(row.pieces) for row in rows)
    pieces, places = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    mask = np.full(shape, FAR, np.float32)
    for number, row in enumerate(rows):
        length = len(row.pieces)
        pieces[number, :length] = row.pieces
        places[number, :length] = np.array(row.fields) * longest + row.places
        mask[number, :length] = 0
    return pieces, places, mask


class FloatTower:
    """One side of the model."""

    def __init__(self, weights: Weights, tower: Tower) -> None:
        self._heads, self._pool_heads = weights.heads, weights.pool_heads
        self._tokens = weights.tokens.astype(np.float32) * weights.token_scale[:, None]
        self._places = weights.places.reshape(-1, weights.places.shape[-1])
        self._longest = weights.layout.longest
        self._blocks = [
            tuple(map(plain, (block.attention, block.mixed, block.wide, block.narrow)))
            for block in tower.blocks
        ]
        self._pool, self._output = plain(tower.pool), plain(tower.output)

    def encode(self, rows: Sequence[Row]) -> Floats:
        pieces, places, mask = padded(rows, self._longest)
        x: Floats = self._tokens[pieces] + self._places[places]
        count, length, width = x.shape
        for attention, mixed, wide, narrow in self._blocks:
            parts = (_normal(x) @ attention).reshape(count, length, 3, self._heads, -1)
            q, k, v = parts.transpose(2, 0, 3, 1, 4)
            shares = _softmax(q @ k.swapaxes(2, 3) * _LN2 + mask[:, None, None, :])
            x = x + (shares @ v).transpose(0, 2, 1, 3).reshape(count, length, -1) @ mixed
            x = x + _linear_unit(_normal(x) @ wide) @ narrow
        x = _normal(x)
        scores = (x @ self._pool).transpose(0, 2, 1) * _LN2 + mask[:, None, :]
        parts = x.reshape(count, length, self._pool_heads, -1).transpose(0, 2, 1, 3)
        pooled = _softmax(scores)[:, :, None, :] @ parts
        found = pooled.reshape(count, width) @ self._output
        unit: Floats = found / np.linalg.norm(found, axis=1, keepdims=True)
        return unit


def encode(tower: FloatTower, rows: Sequence[Row]) -> Floats:
    """Unit vectors of rows, in their order."""
    parts = [(group, tower.encode([rows[number] for number in group])) for group in groups(rows)]
    found = np.zeros((len(rows), parts[0][1].shape[1]), np.float32)
    for group, vectors in parts:
        found[group] = vectors
    return found


def _normal(x: Floats) -> Floats:
    found: Floats = x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON)
    return found


def _linear_unit(x: Floats) -> Floats:
    found: Floats = np.maximum(x, 0)
    return found


def _softmax(x: Floats) -> Floats:
    powers = np.exp(x - x.max(-1, keepdims=True))
    found: Floats = powers / powers.sum(-1, keepdims=True)
    return found
