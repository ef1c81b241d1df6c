"""From a trained model to the file that the package loads: integers of seven bits and scales.

The scale of attention and the change from powers of e to powers of two are multiplied into the
matrices.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.index.dense.layout import Layout
from sightline.index.dense.weights import pack
from training.model import Encoder, Tower

__all__ = ["export", "small"]

_LOG2E = math.log2(math.e)


def small(matrix: NDArray[np.float32], axis: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """A matrix as integers up to 127, and the scale along ``axis`` that undoes it."""
    scale = np.maximum(np.abs(matrix).max(axis=axis, keepdims=True), 1e-12) / 127
    return np.rint(matrix / scale).astype(np.int8), scale.squeeze(axis).astype(np.float32)


def export(model: Encoder, layout: Layout, pieces: list[str]) -> bytes:
    """The bytes of the file of weights."""
    shape = model.shape
    arrays: dict[str, NDArray[Any]] = {}
    arrays["tokens"], arrays["tokens.scale"] = small(_numbers(model.tokens.weight), 1)
    arrays["places"] = _numbers(model.places)
    _tower(arrays, "chunks", model.chunks, shape.inner // shape.heads)
    _tower(arrays, "queries", model.queries, shape.inner // shape.heads)
    settings = {
        "layout": list(layout),
        "width": shape.width,
        "heads": shape.heads,
        "pool": shape.pool_heads,
        "chunks": len(model.chunks.layers),
        "queries": len(model.queries.layers),
    }
    return pack(settings, pieces, arrays)


def _tower(arrays: dict[str, NDArray[Any]], name: str, tower: Tower, size: int) -> None:
    def add(part: str, matrix: NDArray[np.float32]) -> None:
        key = f"{name}.{part}"
        arrays[key], arrays[f"{key}.scale"] = small(matrix, 0)

    for number, layer in enumerate(tower.layers):
        attention = _numbers(layer.attention.weight).T.copy()
        attention[:, : attention.shape[1] // 3] *= _LOG2E / math.sqrt(size)
        add(f"{number}.attention", attention)
        add(f"{number}.mixed", _numbers(layer.mixed.weight).T)
        add(f"{number}.wide", _numbers(layer.wide.weight).T)
        add(f"{number}.narrow", _numbers(layer.narrow.weight).T)
    add("pool", _numbers(tower.pool.weight).T * _LOG2E)
    add("output", _numbers(tower.output.weight).T)


def _numbers(tensor: Any) -> NDArray[np.float32]:
    array: NDArray[np.float32] = tensor.detach().float().cpu().numpy()
    return array
