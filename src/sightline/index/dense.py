"""The place where dense vectors will join the ranking. Nothing here computes one yet.

A ``DenseScorer`` knows a model and keeps one vector per chunk text, found by the hash of that text,
so that an edit re-encodes only what it changed. ``Ranked`` asks it for the values of its
candidates, divides them by the highest and adds them with a weight, as it does with its own. Until
a scorer is installed the capability is missing, and ``check_status`` says so.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["DenseScorer"]


class DenseScorer(Protocol):
    def identity(self) -> str:
        """The model and its version: part of every key under which an answer is remembered."""
        ...

    def candidates(self, query: str, limit: int) -> Sequence[int]:
        """The chunks nearest to a query, to be ranked beside the lexical ones."""
        ...

    def values(self, query: str, chunks: Sequence[int]) -> NDArray[np.float64]:
        """How near each chunk is, 0 for not at all."""
        ...
