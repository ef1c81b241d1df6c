"""Figures on the held-out repositories: each query against all chunks of its kind and
repository."""

from collections import defaultdict

import numpy as np
import torch

from training.data import Rows
from training.model import Encoder
from training.packed import KINDS, Packed

__all__ = ["Figures", "validate"]

Figures = dict[str, dict[str, float]]
_MAX_QUERIES = 1_500
_TOGETHER = 512


@torch.no_grad()
def encode_all(
    model: Encoder, rows: Rows, numbers: np.ndarray, *, queries: bool, rounding: bool
) -> torch.Tensor:
    """The vectors of rows as they are, nothing left out."""
    found = []
    for begin in range(0, len(numbers), _TOGETHER):
        batch = rows.batch(numbers[begin : begin + _TOGETHER])
        found.append(model(batch, queries=queries, dropout=0.0, rounding=rounding))
    return torch.cat(found)


@torch.no_grad()
def validate(model: Encoder, packed: Packed, queries: Rows, chunks: Rows) -> Figures:
    """Mean reciprocal rank at 10, by kind and by language."""
    held = np.arange(packed.trained, len(packed))
    keys = list(packed.keys[1:])
    by_kind: dict[str, list[float]] = defaultdict(list)
    by_language: dict[str, list[float]] = defaultdict(list)
    by_repository: dict[str, list[float]] = defaultdict(list)
    for repository in np.unique(packed.repositories[held]):
        for kind, letter in enumerate(KINDS):
            mine = held[(packed.repositories[held] == repository) & (packed.kinds[held] == kind)]
            if len(mine) < 50:
                continue
            asked = mine[:: max(1, len(mine) // _MAX_QUERIES)]
            vectors = encode_all(model, chunks, mine, queries=False, rounding=True)
            wanted = encode_all(model, queries, asked, queries=True, rounding=True)
            scores = (wanted @ vectors.T).float().cpu().numpy()
            for row, number in enumerate(asked):
                same = np.zeros(len(mine), bool)
                for column in keys:  # any chunk with the same text, or of the same declaration
                    same |= column[mine] == column[number]
                best = scores[row][same].max()
                rank = 1 + int((scores[row][~same] > best).sum())
                gain = 1 / rank if rank <= 10 else 0.0
                by_kind[letter].append(gain)
                if letter == "d":
                    by_language[packed.language_names[packed.languages[number]]].append(gain)
                    by_repository[packed.repository_names[repository]].append(gain)
    return {
        "kind": _means(by_kind),
        "language": {k: v for k, v in _means(by_language).items() if len(by_language[k]) >= 50},
        "repository": _means(by_repository),
        "mean": {"mrr": round(float(np.mean([np.mean(v) for v in by_kind.values()])), 4)},
    }


def _means(values: dict[str, list[float]]) -> dict[str, float]:
    return {name: round(float(np.mean(found)), 4) for name, found in sorted(values.items())}
