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
_ONES = np.ones((128, 1), np.float32)
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
    rows = [weights.layout.question(weights.vocabulary, query)]
    vector: NDArray[np.int8] = _forward(weights, weights.queries, rows)[0]
    return vector


def encode_rows(weights: Weights, tower: Tower, rows: Sequence[Row]) -> NDArray[np.int8]:
    """The vectors of rows, in their order."""
    vectors = np.zeros((len(rows), weights.size), np.int8)
    for group in _together(rows):
        vectors[group] = _forward(weights, tower, [rows[number] for number in group])
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


def _forward(weights: Weights, tower: Tower, rows: Sequence[Row]) -> NDArray[np.int8]:
    """The vectors of rows that are sorted by length."""
    pieces = _joined(row.pieces for row in rows)
    fields, places = _joined(row.fields for row in rows), _joined(row.places for row in rows)
    shapes = _shapes(rows)
    x = np.zeros((_padded(len(pieces)), weights.tokens.shape[1]), np.float32)
    own = x[: len(pieces)]
    np.multiply(weights.tokens[pieces], weights.token_scale[pieces, None], out=own)
    own += weights.places[fields, places]
    for block in tower.blocks:
        x += _attend(block, x, shapes, weights.heads)
        x += _think(block, x)
    return _pool(tower, x, shapes, weights.pool_heads)


def _padded(pieces: int) -> int:
    """Rows of zeros are added up to this, and stay zeros: matrices are multiplied by four rows at
    a time, and single ones take longer."""
    return -(-pieces // 4) * 4


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


def _largest(x: Floats) -> Floats:
    """The largest size along the last axis, above 0."""
    found: Floats = np.maximum.reduce(np.abs(x), axis=-1, keepdims=True, initial=_TINY)
    return found


def _small(x: Floats, largest: Floats) -> Floats:
    """Numbers as integers up to 127, where the largest is known."""
    small = x * (_LEVELS / largest)
    return np.rint(small, out=small)


def _whole(x: Floats) -> tuple[Floats, Floats]:
    """Rows as integers up to 127, and what undoes it per row."""
    largest = _largest(x)
    return _small(x, largest), largest / _LEVELS


def _normal(x: Floats) -> tuple[Floats, Floats]:
    """Rows as integers, and what makes their root mean square one."""
    small = _small(x, _largest(x))
    squares = np.vecdot(small, small)  # integers: exact in any order
    np.maximum(squares, np.float32(1), out=squares)
    return small, np.sqrt(np.float32(x.shape[-1]) / squares)[:, None]


def _apply(linear: Linear, small: Floats, undo: Floats) -> Floats:
    product = small @ linear.matrix
    product *= linear.scale
    product *= undo
    return product


def _shares(scores: Floats, factor: Floats) -> Floats:
    """Integer scores, in powers of two once multiplied by ``factor``, as integer shares."""
    np.subtract(np.maximum.reduce(scores, axis=-1, keepdims=True), scores, out=scores)
    scores *= factor * np.float32(_STEPS)
    np.minimum(scores, np.float32(len(_TABLE) - 1), out=scores)
    return _TABLE.take(scores.astype(np.intp))


def _sums(shares: Floats) -> Floats:
    """What shares add up to, along the last axis. Integers: exact in any order."""
    return shares @ _ONES[: shares.shape[-1]]


def _attend(block: Block, x: Floats, shapes: Sequence[Shape], heads: int) -> Floats:
    inner = block.mixed.matrix.shape[0]
    # Of each piece: what it asks, what it is known by, and its value.
    mixed = _apply(block.attention, *_normal(x)).reshape(len(x), 3, inner)
    largest = _largest(mixed)
    for where, count, length in shapes:
        # What is known has one scale in a row of pieces, and so have values.
        shared = largest[where].reshape(count, length, 3)[..., 1:]
        shared[...] = np.maximum.reduce(shared, axis=1, keepdims=True)
    mixed = _small(mixed, largest)
    largest /= _LEVELS
    joined = np.zeros((len(x), inner), np.float32)
    for where, count, length in shapes:
        parts = mixed[where].reshape(count, length, 3, heads, -1).transpose(2, 0, 3, 1, 4)
        undo = largest[where].reshape(count, 1, length, 3, 1)
        shares = _shares(parts[0] @ parts[1].swapaxes(2, 3), undo[..., 0, :] * undo[:, :, :1, 1])
        found = shares @ parts[2]
        found *= undo[:, :, :1, 2] / _sums(shares)
        joined[where] = found.transpose(0, 2, 1, 3).reshape(-1, inner)
    return _apply(block.mixed, *_whole(joined))


def _think(block: Block, x: Floats) -> Floats:
    small, undo = _normal(x)
    hidden = small @ block.wide.matrix
    hidden *= block.wide.scale
    # Compared with a row of zeros: numpy is slow at comparing with a single one.
    np.maximum(hidden, np.zeros(hidden.shape[1], np.float32), out=hidden)
    largest = np.maximum.reduce(hidden, axis=-1, keepdims=True, initial=_TINY)
    hidden *= _LEVELS / largest
    np.rint(hidden, out=hidden)
    return _apply(block.narrow, hidden, largest * undo / _LEVELS)


def _pool(tower: Tower, x: Floats, shapes: Sequence[Shape], heads: int) -> NDArray[np.int8]:
    """One vector for each row of pieces: a share of every piece, per head."""
    width = x.shape[-1]
    small, undo = _normal(x)
    scores = _apply(tower.pool, small, undo)
    small *= undo
    one = np.ones((1, 1, 1), np.float32)
    pooled: list[Floats] = []
    for where, count, length in shapes:
        shares = _shares(scores[where].reshape(count, length, heads).transpose(0, 2, 1).copy(), one)
        values, values_undo = _whole(small[where].reshape(count, length * width))
        parted = values.reshape(count, length, heads, width // heads).transpose(0, 2, 1, 3)
        found = shares[:, :, None, :] @ parted
        found *= values_undo[..., None, None] / _sums(shares)[..., None]
        pooled.append(found.reshape(count, width))
    small, _ = _whole(_apply(tower.output, *_whole(np.concatenate(pooled))))
    squares = np.maximum(np.vecdot(small, small), np.float32(1))
    small *= (np.float32(VECTOR_SCALE) / np.sqrt(squares))[:, None]
    np.rint(small, out=small)
    return np.clip(small, -127, 127).astype(np.int8)
