"""The file of weights: one file in the package, checked before it is believed.

The file begins with a mark and a header in JSON that names every array with its kind and shape; the
arrays follow, then the SHA-256 of everything before it. A file that is missing, damaged, of another
format or with shapes that do not fit together is ``Unavailable`` with the reason; it is never used
in part.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.contract.failures import Unavailable
from sightline.index.dense.layout import FIELDS, Layout
from sightline.index.dense.vocabulary import Vocabulary

__all__ = ["DIGEST", "FORMAT", "Tower", "Weights", "bundled", "pack", "read_weights"]

#: Rises when files of weights are laid out, or texts are turned into numbers, in another way.
FORMAT = 1
MARK = b"sightline-dense\n"
MAX_BYTES = 16_000_000
#: The digest of the weights that this version was measured with.
DIGEST = "66cb8e4aead8b597c47db0b6bacfbd9788566463f8e403fed26b9175ba15d33a"
_BUNDLED = os.path.join(os.path.dirname(__file__), "model.weights")
_KINDS: dict[str, np.dtype[Any]] = {"i1": np.dtype("<i1"), "f4": np.dtype("<f4")}
_DIGEST = 32

Ints = NDArray[np.int8]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Linear:
    """A matrix of small integers with a scale per column."""

    matrix: Floats  # integers, widened once: sums of their products are exact in 32-bit floats
    scale: Floats


@dataclass(frozen=True)
class Block:
    attention: Linear
    mixed: Linear
    wide: Linear
    narrow: Linear


@dataclass(frozen=True)
class Tower:
    """The layers of one side: of chunks or of queries."""

    blocks: tuple[Block, ...]
    pool: Linear
    output: Linear


@dataclass(frozen=True)
class Weights:
    digest: str
    layout: Layout
    heads: int
    pool_heads: int
    vocabulary: Vocabulary
    tokens: Ints
    token_scale: Floats
    #: Per field, what each place adds.
    places: Floats
    chunks: Tower
    queries: Tower

    @property
    def size(self) -> int:
        """The numbers of a vector."""
        return int(self.chunks.output.matrix.shape[1])


def read_weights(path: str) -> Weights:
    """Reads and checks a file of weights."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError:
        raise Unavailable(_advice("is missing")) from None
    if not data.startswith(MARK):
        raise Unavailable(_advice("is not a file of weights"))
    if len(data) > MAX_BYTES or hashlib.sha256(data[:-_DIGEST]).digest() != data[-_DIGEST:]:
        raise Unavailable(_advice("is damaged"))
    try:
        return _unpack(data)
    except (KeyError, ValueError, TypeError, IndexError):
        raise Unavailable(_advice("does not fit this version")) from None


@lru_cache(maxsize=1)
def bundled() -> Weights:
    """The weights in the package, read when first needed."""
    weights = read_weights(_BUNDLED)
    if weights.digest != DIGEST:
        raise Unavailable(_advice("is not the one of this version"))
    return weights


def _advice(what: str) -> str:
    return f"the search model {what}; install Sightline again, or go on with lexical search"


# Laying out


def pack(
    settings: Mapping[str, Any], pieces: list[str], arrays: Mapping[str, NDArray[Any]]
) -> bytes:
    """The bytes of a file of weights."""
    listed = []
    body = bytearray()
    for name, array in arrays.items():
        kind = "i1" if array.dtype == np.int8 else "f4"
        listed.append([name, kind, list(array.shape)])
        body += np.ascontiguousarray(array, _KINDS[kind]).tobytes()
    words = "\n".join(pieces).encode()
    header = {"format": FORMAT, **settings, "pieces": len(words), "arrays": listed}
    head = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    data = MARK + len(head).to_bytes(4, "little") + head + words + bytes(body)
    return data + hashlib.sha256(data).digest()


def _unpack(data: bytes) -> Weights:
    start = len(MARK) + 4
    end = start + int.from_bytes(data[len(MARK) : start], "little")
    header = json.loads(data[start:end])
    if header["format"] != FORMAT:
        raise ValueError("format")
    pieces = data[end : end + header["pieces"]].decode().split("\n")
    place = end + header["pieces"]
    arrays: dict[str, NDArray[Any]] = {}
    for name, kind, shape in header["arrays"]:
        dtype = _KINDS[kind]
        count = int(np.prod(shape, dtype=np.int64))
        array = np.frombuffer(data, dtype, count, place).reshape(shape)
        place += count * dtype.itemsize
        if kind == "f4" and not np.isfinite(array).all():
            raise ValueError(name)
        arrays[name] = array
    if place != len(data) - _DIGEST:
        raise ValueError("length")
    return _fitted(header, pieces, arrays, data[-_DIGEST:].hex())


def _fitted(
    header: Mapping[str, Any], pieces: list[str], arrays: Mapping[str, NDArray[Any]], digest: str
) -> Weights:
    layout = Layout(*header["layout"])
    width, heads, pool = int(header["width"]), int(header["heads"]), int(header["pool"])
    tokens, places = arrays["tokens"], arrays["places"]
    _fits(tokens, (len(pieces), width))
    _fits(arrays["tokens.scale"], (len(pieces),))
    _fits(places, (FIELDS, layout.longest, width))
    if width % pool or not 0 < layout.longest <= 128:
        raise ValueError("width")
    towers = [
        _tower(arrays, name, int(header[name]), width, heads, pool)
        for name in ("chunks", "queries")
    ]
    if towers[0].output.matrix.shape != towers[1].output.matrix.shape:
        raise ValueError("output")
    return Weights(
        digest,
        layout,
        heads,
        pool,
        Vocabulary(pieces),
        tokens,
        arrays["tokens.scale"],
        places,
        *towers,
    )


def _tower(
    arrays: Mapping[str, NDArray[Any]], name: str, depth: int, width: int, heads: int, pool: int
) -> Tower:
    def linear(part: str, rows: int, columns: int | None = None) -> Linear:
        matrix = arrays[f"{name}.{part}"]
        columns = columns or matrix.shape[1]
        _fits(matrix, (rows, columns))
        scale = arrays[f"{name}.{part}.scale"]
        _fits(scale, (columns,))
        return Linear(matrix.astype(np.float32), scale)

    blocks = []
    for number in range(depth):
        wide = linear(f"{number}.wide", width)
        hidden = wide.matrix.shape[1]
        mixed = linear(f"{number}.mixed", arrays[f"{name}.{number}.mixed"].shape[0], width)
        inner = mixed.matrix.shape[0]
        if max(width, hidden, inner) > 1024 or inner % heads:
            raise ValueError("sums of products would no longer be exact")
        blocks.append(
            Block(
                linear(f"{number}.attention", width, 3 * inner),
                mixed,
                wide,
                linear(f"{number}.narrow", hidden, width),
            )
        )
    return Tower(
        tuple(blocks),
        linear("pool", width, pool),
        linear("output", width),
    )


def _fits(array: NDArray[Any], shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise ValueError("shape")
