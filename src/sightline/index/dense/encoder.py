"""The forward pass, exact to the last bit on every machine.

Matrices and what is multiplied with them are integers of at most seven bits and a sign, kept in
32-bit floats. Every product and every partial sum of such a multiplication is an integer below
2**24 and therefore exact, in whatever order a library adds. Everything between the multiplications
is single additions, multiplications, divisions, square roots, roundings and comparisons, which IEEE
754 defines to the bit. So a vector does not depend on the batch, the number of threads or the CPU.

Numbers are made small per row, never per batch: a row is divided by its largest member and rounded
to integers up to 127. The root mean square that normalises a row is taken of these integers.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby

import numpy as np
from numpy.typing import NDArray

from sightline.index.dense.layout import Row
from sightline.index.dense.weights import Block, Linear, Tower, Weights

__all__ = ["VECTOR_SCALE", "encode_chunks", "encode_query", "encode_rows"]

Floats = NDArray[np.float32]
Shape = tuple[slice, int, int]

#: A unit vector times this, rounded, is what is stored. Larger components are cut off at 127.
VECTOR_SCALE = 384
_LEVELS = np.float32(127)
_TINY = np.float32(1e-30)
#: Weights of attention are integers up to this: 1023 * 127 * 128 is still below 2**24.
_SHARES = 1023
#: Steps of the table of exponentials, per unit.
_STEPS = 64
_TABLE = np.array([round(_SHARES * 2.0 ** (-i / _STEPS)) for i in range(12 * _STEPS)], np.float32)
_TABLE[-1] = 0.0
#: Rows of about so many pieces are computed together: more would not stay in the cache, fewer would
#: have more of them wait for numpy than for arithmetic.
_TOGETHER = 1_280


def encode_chunks(weights: Weights, chunks: Sequence[tuple[str, str, str]]) -> NDArray[np.int8]:
    """The vectors of chunks, given as path, qualified name and text."""
    spell = weights.layout.chunk
    rows = [spell(weights.vocabulary, *chunk) for chunk in chunks]
    return encode_rows(weights, weights.chunks, rows)


def encode_query(weights: Weights, query: str) -> NDArray[np.int8]:
    """The vector of a query."""
    row = weights.layout.question(weights.vocabulary, query)
    vector: NDArray[np.int8] = encode_rows(weights, weights.queries, [row])[0]
    return vector


def encode_rows(weights: Weights, tower: Tower, rows: Sequence[Row]) -> NDArray[np.int8]:
    """The vectors of rows, in their order."""
    vectors = np.zeros((len(rows), weights.size), np.int8)
    groups = list(_together(rows))
    most = max((sum(len(rows[number].pieces) for number in group) for group in groups), default=0)
    # Compared with number by number: numpy is slow at comparing with a single one.
    zeros = np.zeros((most, tower.widest), np.float32)
    for group in groups:
        vectors[group] = _forward(weights, tower, [rows[number] for number in group], zeros)
    return vectors


def _together(rows: Sequence[Row]) -> Iterator[list[int]]:
    """Numbers of rows of about the same length."""
    order = sorted(range(len(rows)), key=lambda number: len(rows[number].pieces))
    group: list[int] = []
    size = 0
    for number in order:
        length = len(rows[number].pieces)
        if group and size + length > _TOGETHER:
            yield group
            group, size = [], 0
        group.append(number)
        size += length
    if group:
        yield group


def _forward(
    weights: Weights, tower: Tower, rows: Sequence[Row], zeros: Floats
) -> NDArray[np.int8]:
    """The vectors of rows that are sorted by length."""
    pieces = _joined(row.pieces for row in rows)
    fields, places = _joined(row.fields for row in rows), _joined(row.places for row in rows)
    shapes = _shapes(rows)
    x = weights.tokens[pieces].astype(np.float32)
    x *= weights.token_scale[pieces, None]
    x += weights.places[fields, places]
    for block in tower.blocks:
        x += _attend(block, x, shapes, weights.heads)
        x += _think(block, x, zeros)
    return _pool(tower, x, shapes, weights.pool_heads)


def _joined(lists: Iterable[list[int]]) -> NDArray[np.intp]:
    return np.fromiter(chain.from_iterable(lists), np.intp)


def _shapes(rows: Sequence[Row]) -> list[Shape]:
    """Runs of rows of one length: where their pieces lie, how many rows, how long."""
    shapes: list[Shape] = []
    begin = 0
    for length, run in groupby(len(row.pieces) for row in rows):
        count = len(list(run))
        shapes.append((slice(begin, begin + count * length), count, length))
        begin += count * length
    return shapes


def _whole(x: Floats) -> tuple[Floats, Floats]:
    """Rows as integers up to 127, and what undoes it per row."""
    return _scaled(x, np.abs(x).max(axis=-1, keepdims=True))


def _scaled(x: Floats, largest: Floats) -> tuple[Floats, Floats]:
    np.maximum(largest, _TINY, out=largest)
    small = x * (_LEVELS / largest)
    np.rint(small, out=small)
    largest /= _LEVELS
    return small, largest


def _normal(x: Floats) -> tuple[Floats, Floats]:
    """Rows as integers, and what makes their root mean square one."""
    small, _ = _whole(x)
    squares = np.vecdot(small, small)  # integers: exact in any order
    np.maximum(squares, np.float32(1), out=squares)
    return small, np.sqrt(np.float32(x.shape[-1]) / squares)[:, None]


def _together_whole(x: Floats) -> tuple[Floats, Floats]:
    """The same with one scale for all that belongs to a row of pieces (all axes but the first)."""
    return _scaled(x, np.abs(x).max(axis=tuple(range(1, x.ndim)), keepdims=True))


def _apply(linear: Linear, small: Floats, undo: Floats) -> Floats:
    product = small @ linear.matrix
    product *= linear.scale
    product *= undo
    return product


def _shares(scores: Floats, factor: Floats) -> Floats:
    """Integer scores, in powers of two once multiplied by ``factor``, as integer shares."""
    np.subtract(scores.max(axis=-1, keepdims=True), scores, out=scores)
    scores *= factor * np.float32(_STEPS)
    np.minimum(scores, np.float32(len(_TABLE) - 1), out=scores)
    return _TABLE.take(scores.astype(np.intp))


def _sums(shares: Floats) -> Floats:
    """What shares add up to, along the last axis. Integers: exact in any order."""
    return shares @ np.ones((shares.shape[-1], 1), np.float32)


def _attend(block: Block, x: Floats, shapes: Sequence[Shape], heads: int) -> Floats:
    inner = block.mixed.matrix.shape[0]
    mixed = _apply(block.attention, *_normal(x))
    asked, asked_undo = _whole(mixed[:, :inner])
    joined = np.empty((len(x), inner), np.float32)
    for where, count, length in shapes:
        parted = (count, length, heads, inner // heads)
        known, known_undo = _together_whole(mixed[where, inner : 2 * inner].reshape(parted))
        values, values_undo = _together_whole(mixed[where, 2 * inner :].reshape(parted))
        scores = asked[where].reshape(parted).transpose(0, 2, 1, 3) @ known.transpose(0, 2, 3, 1)
        factor = asked_undo[where].reshape(count, 1, length, 1) * known_undo
        shares = _shares(scores, factor)
        found = shares @ values.transpose(0, 2, 1, 3)
        found *= values_undo / _sums(shares)
        joined[where] = found.transpose(0, 2, 1, 3).reshape(-1, inner)
    return _apply(block.mixed, *_whole(joined))


def _think(block: Block, x: Floats, zeros: Floats) -> Floats:
    small, undo = _normal(x)
    hidden = small @ block.wide.matrix
    hidden *= block.wide.scale
    np.maximum(hidden, zeros[: len(hidden), : hidden.shape[1]], out=hidden)
    largest = hidden.max(axis=-1, keepdims=True)
    np.maximum(largest, _TINY, out=largest)
    hidden *= _LEVELS / largest
    np.rint(hidden, out=hidden)
    return _apply(block.narrow, hidden, largest * undo / _LEVELS)


def _pool(tower: Tower, x: Floats, shapes: Sequence[Shape], heads: int) -> NDArray[np.int8]:
    """One vector for each row of pieces: a share of every piece, per head."""
    width = x.shape[-1]
    small, undo = _normal(x)
    scores = _apply(tower.pool, small, undo)
    spread = small * undo
    one = np.ones((1, 1, 1), np.float32)
    pooled: list[Floats] = []
    for where, count, length in shapes:
        shares = _shares(scores[where].reshape(count, length, heads).transpose(0, 2, 1).copy(), one)
        parted = spread[where].reshape(count, length, heads, width // heads)
        values, values_undo = _together_whole(parted)
        found = shares[:, :, None, :] @ values.transpose(0, 2, 1, 3)
        found *= values_undo / _sums(shares)[..., None]
        pooled.append(found.reshape(count, width))
    small, _ = _whole(_apply(tower.output, *_whole(np.concatenate(pooled))))
    squares = np.maximum(np.vecdot(small, small), np.float32(1))
    small *= (np.float32(VECTOR_SCALE) / np.sqrt(squares))[:, None]
    np.rint(small, out=small)
    return np.clip(small, -127, 127).astype(np.int8)
