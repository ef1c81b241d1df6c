"""Whether the package's integer arithmetic gives the vectors that were trained."""

from pathlib import Path

import numpy as np
import torch

from sightline.index.dense.encoder import encode_rows
from sightline.index.dense.layout import BODY, NAME, PATH, QUERY, Row
from sightline.index.dense.weights import read_weights
from training.data import Rows
from training.model import Encoder
from training.packed import Packed
from training.validate import encode_all

__all__ = ["agreement"]

_ROWS = 400


def agreement(
    model: Encoder, packed: Packed, queries: Rows, chunks: Rows, path: Path
) -> dict[str, float]:
    """The cosine between both vectors of the same held-out rows: mean and least."""
    weights = read_weights(str(path))
    numbers = np.linspace(packed.trained, len(packed) - 1, _ROWS).astype(np.int64)
    found: dict[str, float] = {}
    for side, rows, tower in (
        ("query", queries, weights.queries),
        ("chunk", chunks, weights.chunks),
    ):
        with torch.no_grad():
            trained = encode_all(model, rows, numbers, queries=side == "query", rounding=False)
        exact = encode_rows(weights, tower, [_row(packed, side, int(n)) for n in numbers])
        small = exact.astype(np.float32)
        small /= np.linalg.norm(small, axis=1, keepdims=True)
        cosines = (small * trained.float().cpu().numpy()).sum(axis=1)
        found[f"{side}_mean"] = round(float(cosines.mean()), 4)
        found[f"{side}_least"] = round(float(cosines.min()), 4)
    return found


def _row(packed: Packed, side: str, number: int) -> Row:
    lengths = packed.query_lengths if side == "query" else packed.chunk_lengths
    values = packed.query_values if side == "query" else packed.chunk_values
    begin = int(lengths[:number].astype(np.int64).sum())
    own = lengths[number].tolist()
    fields = (QUERY,) if side == "query" else (PATH, NAME, BODY)
    return Row(
        values[begin : begin + sum(own)].tolist(),
        [field for field, count in zip(fields, own, strict=True) for _ in range(count)],
        [place for count in own for place in range(count)],
    )
