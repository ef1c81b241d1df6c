"""How much the vectors count: by what kind of question is asked.

A name, a quoted phrase or a piece of code is looked up word for word; vectors would only blur it. A
question in plain words gains most. A long text, such as an issue, names what it is about many times
over, so words decide and vectors help a little. The weights were chosen on the held-out
repositories; the model card says how.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.index.query import Query

__all__ = ["CANDIDATES", "Fusion", "fused", "fusion_for"]

Floats = NDArray[np.float64]

#: How many of the nearest chunks join the ranking.
CANDIDATES = 300


class Fusion(NamedTuple):
    """The weight of vectors beside words, per kind of question."""

    question: float = 1.5
    long: float = 0.25
    #: A few plain words; they may be a name that is remembered loosely.
    words: float = 1.5


def fusion_for(query: Query, weights: Fusion = Fusion()) -> float:  # noqa: B008
    """The weight for a query; 0 keeps vectors out."""
    if query.exact or query.phrases or not query.terms:
        return 0.0
    count = len(query.text.split())
    if count == 1:
        return 0.0
    if not query.short:
        return weights.long
    if query.names:
        return weights.long
    return weights.question if count >= 4 else weights.words


def fused(base: Floats, near: Floats, weight: float) -> Floats:
    """Words and nearness added, for the best of both; both between 0 and 1.

    ``near`` is the nearness of every chunk, at most 0 for those that must not appear.
    """
    highest = float(near.max(initial=0.0))
    if highest <= 0.0 or weight <= 0.0:
        return base
    kept = _best(near, CANDIDATES) | _best(base, CANDIDATES)
    # Rounded, so that no order hangs on the last bits of a division.
    shares = np.round(np.where(kept, np.maximum(near, 0.0) * (weight / highest), 0.0), 6)
    joined: Floats = base + shares
    return joined


def _best(values: Floats, limit: int) -> NDArray[np.bool_]:
    """Whether each value is among the highest; all that are equal to the last of them are."""
    positive: NDArray[np.bool_] = values > 0.0
    if int(positive.sum()) <= limit:
        return positive
    least = np.partition(values, len(values) - limit)[len(values) - limit]
    found: NDArray[np.bool_] = positive & (values >= least)
    return found
