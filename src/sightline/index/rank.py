"""Scores: BM25F over chunks and over whole files, mixed, from exact counts of the living.

Only additions, multiplications and divisions of the same numbers in the same order decide a score,
so the same living files give the same bits however the index came to hold them. Ties are broken by
the caller, by path and line.

A term counts in the chunk's own text, in its name, in the names around it, in the names declared
inside it and in the path of its file. Each place has a weight; all are added before the one
saturation that BM25 applies, so that a term found everywhere does not count five times.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.index.lookup import Lookup, Postings
from sightline.index.segment import term_key
from sightline.index.snapshot import Snapshot

__all__ = ["Scores", "Term", "Weights", "score"]

Floats = NDArray[np.float64]


class Weights(NamedTuple):
    """What the ranking was tuned to. bench/quality says what each brings."""

    k1: float = 2.0
    b: float = 0.85
    name: float = 6.0
    container: float = 1.0
    inner: float = 0.3
    path: float = 2.5
    file_k1: float = 1.2
    file_b: float = 0.6
    file_name: float = 1.0
    file_path: float = 3.0


class Term(NamedTuple):
    """A term of a query and how much it counts."""

    text: str
    weight: float = 1.0


class Scores(NamedTuple):
    """Per chunk and per file, 0 where nothing matches."""

    chunks: Floats
    files: Floats


def score(snapshot: Snapshot, lookup: Lookup, terms: Sequence[Term], weights: Weights) -> Scores:
    """The scores of every chunk and every file."""
    total, files = snapshot.living_chunks, snapshot.living_files
    chunk_scores = np.zeros(snapshot.chunks)
    file_scores = np.zeros(snapshot.files)
    if not total:
        return Scores(chunk_scores, file_scores)
    norm = snapshot.norm(weights.b)
    file_norm = snapshot.file_norm(weights.file_b)
    tf = np.zeros(snapshot.chunks)
    file_tf = np.zeros(snapshot.files)
    for term in terms:
        found = _Found.of(snapshot, lookup, term.text)
        if not found.any():
            continue
        touched = found.weigh(snapshot, tf, norm, weights)
        idf = _idf(total, max(len(found.body), 1))
        values = tf[touched]
        chunk_scores[touched] += (
            term.weight * idf * (weights.k1 + 1) * values / (values + weights.k1)
        )
        tf[touched] = 0.0
        where = found.weigh_files(snapshot, file_tf, file_norm, weights)
        idf = _idf(files, max(found.file_count, 1))
        values = file_tf[where]
        gain = (weights.file_k1 + 1) * values / (values + weights.file_k1)
        file_scores[where] += term.weight * idf * gain
        file_tf[where] = 0.0
    return Scores(chunk_scores, file_scores)


def _idf(total: int, having: int) -> float:
    return math.log(1 + (total - having + 0.5) / (having + 0.5)) if having <= total else 0.0


class _Found(NamedTuple):
    """Everywhere a term was found."""

    body: Postings
    name: Postings
    container: Postings
    inner: Postings
    path: NDArray[np.int64]
    body_files: NDArray[np.int64]
    body_counts: Floats

    @classmethod
    def of(cls, snapshot: Snapshot, lookup: Lookup, term: str) -> "_Found":
        body = lookup.terms(snapshot, term_key("b" + term))
        owners = snapshot.chunk_file[body.chunks]
        first = (
            np.flatnonzero(np.append(True, owners[1:] != owners[:-1])) if len(owners) else owners
        )
        counts = np.add.reduceat(body.counts, first) if len(owners) else body.counts
        return cls(
            body,
            lookup.terms(snapshot, term_key("n" + term)),
            lookup.terms(snapshot, term_key("c" + term)),
            lookup.terms(snapshot, term_key("d" + term)),
            lookup.path_words(snapshot, term_key("p" + term)),
            owners[first],
            counts,
        )

    def any(self) -> bool:
        return bool(len(self.body) or len(self.name) or len(self.container) or len(self.path))

    @property
    def file_count(self) -> int:
        return len(self.body_files)

    def weigh(
        self, snapshot: Snapshot, tf: Floats, norm: Floats, weights: Weights
    ) -> NDArray[np.int64]:
        """Adds the weighted counts to ``tf``; which chunks have any."""
        chunks = self.body.chunks
        tf[chunks] += self.body.counts / norm[chunks]
        tf[self.name.chunks] += weights.name * self.name.counts
        tf[self.container.chunks] += weights.container * self.container.counts
        tf[self.inner.chunks] += weights.inner * np.minimum(self.inner.counts, 2.0)
        parts = [chunks, self.name.chunks, self.container.chunks, self.inner.chunks]
        if len(self.path):
            of_files = _chunks_of(snapshot, self.path)
            tf[of_files] += weights.path
            parts.append(of_files)
        return _union(parts, snapshot.chunks)

    def weigh_files(
        self, snapshot: Snapshot, tf: Floats, norm: Floats, weights: Weights
    ) -> NDArray[np.int64]:
        tf[self.body_files] += self.body_counts / norm[self.body_files]
        names = snapshot.chunk_file[self.name.chunks]
        np.add.at(tf, names, weights.file_name * self.name.counts)
        tf[self.path] += weights.file_path
        return _union([self.body_files, names, self.path], snapshot.files)


def _chunks_of(snapshot: Snapshot, files: NDArray[np.int64]) -> NDArray[np.int64]:
    """Every chunk of the given files."""
    first = snapshot.chunk_first
    starts, sizes = first[files], first[files + 1] - first[files]
    offsets = np.repeat(np.cumsum(sizes) - sizes, sizes)
    found: NDArray[np.int64] = np.repeat(starts, sizes) + np.arange(int(sizes.sum())) - offsets
    return found


def _union(parts: Sequence[NDArray[np.int64]], size: int) -> NDArray[np.int64]:
    filled = [part for part in parts if len(part)]
    if len(filled) == 1:
        return filled[0]
    seen = np.zeros(size, bool)
    for part in filled:
        seen[part] = True
    return np.flatnonzero(seen)
