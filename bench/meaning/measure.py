"""Ranks of known answers: words alone, vectors alone, both, and SQLite's full-text search beside them."""

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from bench.meaning.general import General, GeneralMatrix
from bench.meaning.opened import Asked, Opened, opened
from sightline.index.dense.encoder import encode_chunks, encode_query
from sightline.index.dense.weights import bundled
from sightline.index.searching.fusion import CANDIDATES
from sightline.process.allocator import keep_freed_memory

__all__ = [
    "COMPARED",
    "WAYS",
    "Gains",
    "Measured",
    "bootstrap",
    "compare",
    "load_seconds",
    "measure",
    "ranked",
]

WAYS = ("fts5", "words", "vectors", "both")
COMPARED = ("words", "general", "general and words", "ours", "ours and words")
Gains = NDArray[np.float64]
Sets = Mapping[str, Sequence[Asked]]
_SAMPLE = 1_500
#: Encoded so many times; the middle counts.
_TIMES = 3
_TIMED = 200


class Speed(NamedTuple):
    """On one thread, by CPU time."""

    chunks_per_s: float
    #: The middle of what vectors add to a search.
    query_ms: float
    bytes_per_chunk: float


class Measured(NamedTuple):
    chunks: int
    files: int
    #: Nothing where only ranks were asked for.
    speed: Speed | None
    #: Per set and way: the reciprocal rank of each answer, 0 below ten.
    gains: dict[str, dict[str, Gains]]


def ranked(corpus: Opened, text: str, way: str) -> list[tuple[int, int]]:
    if way == "fts5":
        return corpus.full_text(text)
    if way == "vectors":
        return corpus.nearest(text)
    return corpus.searched(text, vectors=way == "both")


def _speed(corpus: Opened, queries: Sequence[str], size: int) -> Speed:
    step = max(1, len(corpus.names) // _SAMPLE)
    chunks = [(path, name, text) for _, path, name, text in corpus.texts(step)]
    rates: list[float] = []
    for _ in range(_TIMES):
        began = time.process_time()
        encode_chunks(bundled(), chunks)
        rates.append(len(chunks) / (time.process_time() - began))
    added: list[float] = []
    living = corpus.snapshot.chunk_alive
    for query in [*queries] * _TIMES:
        began = time.process_time()
        corpus.matrix.nearest(encode_query(bundled(), query), living, CANDIDATES)
        added.append((time.process_time() - began) * 1_000)
    return Speed(float(np.median(rates)), float(np.median(added)), size / max(1, len(corpus.names)))


async def compare(folder: Path, sets: Sets) -> dict[str, dict[str, Gains]]:
    """Asks everything of a general model and of ours, alone and with words."""
    model = General()
    async with opened(folder) as corpus:
        chunks = model.encode([f"{p} {n}\n{text}" for _, p, n, text in corpus.texts()])
        matrix = GeneralMatrix(chunks)
        every = np.arange(corpus.snapshot.chunks)
        found: dict[str, dict[str, Gains]] = {}
        for name, asked in sets.items():
            queries = model.encode([one.text for one in asked])
            gains: dict[str, list[float]] = {way: [] for way in COMPARED}
            for one, query in zip(asked, queries, strict=True):
                other = (matrix, cast("NDArray[np.int8]", query))
                near = np.maximum(matrix.near(query, every), 0.0) * corpus.snapshot.chunk_alive
                ranks = {
                    "words": corpus.searched(one.text, vectors=False),
                    "general": corpus.nearest_by(near),
                    "general and words": corpus.searched(one.text, vectors=True, other=other),
                    "ours": corpus.nearest(one.text),
                    "ours and words": corpus.searched(one.text, vectors=True),
                }
                for way, ranked in ranks.items():
                    gains[way].append(corpus.gain(ranked, one))
            found[name] = {way: np.array(values) for way, values in gains.items()}
        return found


async def measure(folder: Path, sets: Sets, *, speed: bool = True, ranks: bool = True) -> Measured:
    """Indexes a folder and asks everything in every way."""
    keep_freed_memory()  # as the program does that this stands for
    async with opened(folder) as corpus:
        gains = {
            name: {
                way: np.array([corpus.gain(ranked(corpus, one.text, way), one) for one in asked])
                for way in WAYS
            }
            for name, asked in sets.items()
            if ranks
        }
        texts = [one.text for asked in sets.values() for one in asked][:_TIMED]
        found = _speed(corpus, texts, corpus.vector_bytes) if speed else None
        snapshot = corpus.snapshot
        return Measured(snapshot.living_chunks, snapshot.living_files, found, gains)


def load_seconds(times: int = 5) -> float:
    """The CPU time of loading the model in a fresh process, beyond what numpy takes: the middle."""
    found: list[float] = []
    for _ in range(times):
        child = os.fork()
        if child == 0:
            bundled.cache_clear()
            bundled()
            os._exit(0)
        _, status, usage = os.wait4(child, 0)
        assert status == 0
        found.append(usage.ru_utime + usage.ru_stime)
    return float(np.median(found))


def bootstrap(difference: Gains, times: int = 10_000) -> tuple[float, float]:
    """The middle 95 of 100 means of the paired difference, drawn with a fixed seed."""
    generator = np.random.default_rng(0)
    drawn = generator.integers(0, len(difference), (times, len(difference)))
    means = difference[drawn].mean(axis=1)
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))
