"""How much the vectors count: by what kind of question is asked.

A name, a quoted phrase or a piece of code is looked up word for word; vectors would only blur it. A
question in plain words gains most. A long text, such as an issue, names what it is about many times
over, so words decide and vectors help a little. And vectors count as far as something stands out
among them. The weights were chosen on repositories that nothing was trained on; the model card says
how.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.index.searching.query import Query

__all__ = ["CANDIDATES", "Fusion", "clearness", "fused", "fusion_for"]

Floats = NDArray[np.float64]

#: How many of the nearest chunks join the ranking.
CANDIDATES = 300
#: Cosines that are no further apart are the same.
_CLOSE = 1e-3
#: How far the nearest chunk stands out from the last candidate where the model knows what is meant.
_CLEAR = 0.3


class Fusion(NamedTuple):
    """The weight of vectors beside words, per kind of question."""

    question: float = 1.0
    #: A question that mentions what looks like a declared name.
    named: float = 0.75
    long: float = 0.5


def fusion_for(query: Query, weights: Fusion = Fusion()) -> float:  # noqa: B008
    """The weight for a query; 0 keeps vectors out."""
    if query.exact or query.phrases or not query.terms or len(query.text.split()) == 1:
        return 0.0
    if query.names and query.wants:
        return 0.0  # it says which declaration, and whether its tests, docs or settings are meant
    if not query.short:
        return weights.long
    return weights.named if query.names else weights.question


def clearness(near: Floats) -> float:
    """How much of their weight vectors keep, from the cosines of the candidates.

    A sentence about one declaration has a nearest chunk that stands out from the last candidate.
    "Fix a typo" is as near to one chunk as to hundreds, and their order says little.
    """
    apart = float(near.max() - near.min()) if len(near) else 0.0
    return round(min(1.0, apart / _CLEAR), 4)


def fused(base: Floats, near: Floats, weight: float) -> Floats:
    """The weighted mean of words and nearness, both between 0 and 1.

    A mean, so that what else speaks for a chunk (a declared name) counts as much as without
    vectors. Nearness is counted from the last of the nearest candidates, which has none, to the
    first: all cosines of a code base lie close together. ``near`` is 0 for every chunk that is not
    one of the nearest.
    """
    kept = _best(near, CANDIDATES)
    if not len(kept) or weight <= 0.0:
        return base
    values = near[kept]
    least, highest = float(values.min()), float(values.max())
    shares = np.clip((values - least) / max(highest - least, _CLOSE), 0.0, 1.0)
    joined = base.copy()
    joined[kept] += weight * shares
    joined /= 1.0 + weight
    # Rounded, so that no order hangs on the last bits of a division.
    np.round(joined, 6, out=joined)
    return joined


def _best(values: Floats, limit: int) -> NDArray[np.int64]:
    """The places of the highest values; all that are equal to the last of them are among them."""
    found: NDArray[np.int64] = np.flatnonzero(values > 0.0)
    if len(found) <= limit:
        return found
    own = values[found]
    least = np.partition(own, len(own) - limit)[len(own) - limit]
    kept: NDArray[np.int64] = found[own >= least]
    return kept
