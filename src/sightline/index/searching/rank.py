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
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.index.searching.lookup import Lookup, Postings, Worth
from sightline.index.storage.segment import term_key
from sightline.index.storage.snapshot import Snapshot

__all__ = ["Scores", "Term", "Weights", "score"]

Floats = NDArray[np.float64]


class Weights(NamedTuple):
    """What the ranking was tuned to, each more than 0. bench/quality says what each brings."""

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
    chunk_scores = np.zeros(snapshot.chunks)
    file_scores = np.zeros(snapshot.files)
    if not snapshot.living_chunks:
        return Scores(chunk_scores, file_scores)
    for term in terms:
        make = partial(_worth, snapshot, lookup, term.text, weights)
        worth = lookup.worth(snapshot, (term.text, weights), make)
        plain = term.weight == 1.0
        gains = worth.gains if plain else term.weight * worth.gains
        np.add.at(chunk_scores, worth.chunks.astype(np.int64), gains)
        gains = worth.file_gains if plain else term.weight * worth.file_gains
        np.add.at(file_scores, worth.files.astype(np.int64), gains)
    return Scores(chunk_scores, file_scores)


def _worth(snapshot: Snapshot, lookup: Lookup, term: str, weights: Weights) -> Worth:
    """What one term adds."""
    found = _Found.of(snapshot, lookup, term)
    chunks, tf = found.weigh(snapshot, lookup, weights)
    idf = _idf(snapshot.living_chunks, max(len(found.body), 1))
    gains = _saturated(tf, idf, weights.k1)
    file_tf, having = found.weigh_files(snapshot, weights)
    idf = _idf(snapshot.living_files, max(having, 1))
    files = np.flatnonzero(file_tf > 0.0)
    file_gains = _saturated(file_tf[files], idf, weights.file_k1)
    return Worth(chunks.astype(np.int32), gains, files.astype(np.int32), file_gains)


def _saturated(values: Floats, weight: float, k1: float) -> Floats:
    """What counts are worth: more of them less and less."""
    gain: Floats = (weight * (k1 + 1)) * values
    gain /= values + k1
    return gain


def _idf(total: int, having: int) -> float:
    return math.log(1 + (total - having + 0.5) / (having + 0.5)) if having <= total else 0.0


class _Found(NamedTuple):
    """Everywhere a term was found."""

    body: Postings
    name: Postings
    container: Postings
    inner: Postings
    path: NDArray[np.int64]

    @classmethod
    def of(cls, snapshot: Snapshot, lookup: Lookup, term: str) -> "_Found":
        return cls(
            lookup.terms(snapshot, term_key("b" + term)),
            lookup.terms(snapshot, term_key("n" + term)),
            lookup.terms(snapshot, term_key("c" + term)),
            lookup.terms(snapshot, term_key("d" + term)),
            lookup.path_words(snapshot, term_key("p" + term)),
        )

    def weigh(
        self, snapshot: Snapshot, lookup: Lookup, weights: Weights
    ) -> tuple[NDArray[np.int64], Floats]:
        """The chunks that have the term anywhere, and its weighted counts in them."""
        chunks = self.body.chunks
        own = self.body.counts / snapshot.norm(weights.b)[chunks]
        others = [
            (self.name.chunks, weights.name * self.name.counts),
            (self.container.chunks, weights.container * self.container.counts),
            (self.inner.chunks, weights.inner * np.minimum(self.inner.counts, 2.0)),
        ]
        if len(self.path):
            inside = _chunks_of(snapshot, self.path)
            others.append((inside, np.full(len(inside), weights.path)))
        if not any(len(more) for more, _ in others):
            return chunks, own
        tf = lookup.zeros(snapshot.chunks)
        tf[chunks] = own
        touched = [chunks]
        for more, values in others:
            touched.append(more[tf[more] == 0.0])
            tf[more] += values
        where = np.concatenate(touched)
        counted = tf[where]
        tf[where] = 0.0
        return where, counted

    def weigh_files(self, snapshot: Snapshot, weights: Weights) -> tuple[Floats, int]:
        """The weighted count per file, and in how many files the term stands."""
        owners = snapshot.chunk_file
        # Counts are whole numbers, so no order changes the sums.
        counts = np.bincount(owners[self.body.chunks], self.body.counts, snapshot.files)
        having = int(np.count_nonzero(counts))
        tf: Floats = counts / snapshot.file_norm(weights.file_b)
        np.add.at(tf, owners[self.name.chunks], weights.file_name * self.name.counts)
        tf[self.path[snapshot.file_counts[self.path]]] += weights.file_path
        return tf, having


def _chunks_of(snapshot: Snapshot, files: NDArray[np.int64]) -> NDArray[np.int64]:
    """Every chunk of the given files, ascending. Neighbours are taken as one."""
    opens = np.flatnonzero(np.append(True, np.diff(files) != 1))
    closes = np.append(opens[1:], len(files)) - 1
    first = snapshot.chunk_first
    starts = first[files[opens]]
    sizes = first[files[closes] + 1] - starts
    offsets = np.repeat(starts - np.cumsum(sizes) + sizes, sizes)
    return offsets + np.arange(len(offsets))
