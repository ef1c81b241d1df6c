"""Ranks of known answers: words alone, vectors alone, both, and SQLite's full-text search beside them."""

import asyncio
import re
import sqlite3
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.meaning.questions import Question
from sightline.index.builder import Builder
from sightline.index.dense.encoder import encode_chunks, encode_query
from sightline.index.dense.fusion import Fusion, fusion_for
from sightline.index.dense.nearness import Matrix
from sightline.index.dense.weights import bundled
from sightline.index.index import Index
from sightline.index.query import understand
from sightline.index.ranked import Near
from sightline.index.records import Record
from sightline.index.results import best
from sightline.index.search import Request, RootSearch
from sightline.index.snapshot import Snapshot
from sightline.tools.tool import silent
from sightline.workspace.roots import open_root
from sightline.workspace.workspace import Workspace

__all__ = ["WAYS", "Measured", "bootstrap", "measure"]

#: Ways of ranking. A number is a fixed weight of vectors.
WAYS = ("fts5", "words", "vectors", "both")
Gains = NDArray[np.float64]
Sets = Mapping[str, Sequence[tuple[Question, str]]]
_TOP = 10


class Speed(NamedTuple):
    """On one thread, by CPU time."""

    chunks_per_s: float
    #: The middle of what vectors add to a search.
    query_ms: float
    bytes_per_chunk: float


class Measured(NamedTuple):
    chunks: int
    files: int
    speed: Speed
    #: Per set and way: the reciprocal rank of each question, 0 below ten.
    gains: dict[str, dict[str, Gains]]


class _Corpus:
    def __init__(
        self,
        index: Index,
        builder: Builder,
        snapshot: Snapshot,
        matrix: Matrix,
        fusion: Fusion,
    ) -> None:
        self.fusion = fusion
        self.index = index
        self.root = builder.library.store.root
        self.snapshot = snapshot
        self.matrix = matrix
        self._records: dict[int, Record] = {}
        self.names = [self._name(chunk) for chunk in range(snapshot.chunks)]
        self.fts = sqlite3.connect(":memory:")
        self.fts.execute("create virtual table t using fts5(path, name, body, tokenize='porter')")

    def _name(self, number: int) -> tuple[str, str]:
        file = int(self.snapshot.chunk_file[number])
        if file not in self._records:
            self._records[file] = self.snapshot.record(file)
        chunk = self._records[file][number - int(self.snapshot.chunk_first[file])]
        return self.snapshot.path(file), f"{chunk.container}.{chunk.name}".lstrip(".")

    def fill_fts(self) -> None:
        cache: dict[str, bytes] = {}
        for number, (path, name) in enumerate(self.names):
            if path not in cache:
                cache = {path: Path(self.root, path).read_bytes()}
            file = int(self.snapshot.chunk_file[number])
            chunk = self._records[file][number - int(self.snapshot.chunk_first[file])]
            text = b"\n".join(cache[path][a:b] for a, b in chunk.spans).decode("utf-8", "replace")
            row = (number, _spread(path), _spread(name), _spread(text))
            self.fts.execute("insert into t(rowid, path, name, body) values (?, ?, ?, ?)", row)

    def ranked(self, query: str, way: str) -> list[int]:
        if way == "fts5":
            words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", _spread(query)))
            sql = "select rowid from t where t match ? order by bm25(t, 2, 6, 1) limit 10"
            return [row[0] for row in self.fts.execute(sql, (words,))] if words else []
        near: Near | None = None
        if way != "words":
            vector = encode_query(bundled(), query)
            if way == "vectors":
                alive = np.flatnonzero(self.snapshot.chunk_alive)
                values = self.matrix.near(vector)[alive]
                return [row[3] for row in best(self.snapshot, alive, values, _TOP)]
            weight = fusion_for(understand(query), self.fusion) if way == "both" else float(way)
            near = Near(self.matrix, vector, weight) if weight > 0 else None
        search = RootSearch(self.snapshot, self.root, self.index.lookup, Request(query), near=near)
        return [found.chunk for found in search.run().found[:_TOP]]

    def speed(self, queries: Sequence[str], size: int) -> Speed:
        chunks: list[tuple[str, str, str]] = []
        for number in range(0, len(self.names), max(1, len(self.names) // 1_500)):
            path, name = self.names[number]
            file = int(self.snapshot.chunk_file[number])
            chunk = self._records[file][number - int(self.snapshot.chunk_first[file])]
            data = Path(self.root, path).read_bytes()
            text = b"\n".join(data[a:b] for a, b in chunk.spans).decode("utf-8", "replace")
            chunks.append((path, name, text))
        began = time.process_time()
        encode_chunks(bundled(), chunks)
        rate = len(chunks) / (time.process_time() - began)
        added: list[float] = []
        for query in queries:
            began = time.process_time()
            self.matrix.near(encode_query(bundled(), query))
            added.append((time.process_time() - began) * 1_000)
        return Speed(rate, float(np.median(added)), size / max(1, len(self.names)))

    def gain(self, question: Question, query: str, way: str) -> float:
        for place, chunk in enumerate(self.ranked(query, way)):
            if self.names[chunk] == (question.path, question.name):
                return 1 / (place + 1)
        return 0.0


def _spread(text: str) -> str:
    """Names taken apart, which FTS5 does not do by itself."""
    return re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text.replace("_", " "))


def measure(
    folder: Path, sets: Sets, ways: Sequence[str], fusion: Fusion | None = None
) -> Measured:
    """Indexes a folder and asks everything in every way."""
    return asyncio.run(_measure(folder, sets, ways, fusion or Fusion()))


async def _measure(folder: Path, sets: Sets, ways: Sequence[str], fusion: Fusion) -> Measured:
    with tempfile.TemporaryDirectory(prefix="sightline-quality-") as cache:
        workspace = Workspace([open_root(str(folder), home=None)])
        await workspace.begin()
        index = Index(workspace, environment={"PATH": "/usr/bin:/bin"}, cache=cache)
        try:
            await index.build(silent, force=False)
            [builder] = index.builders.values()
            standing = await index.dense.finish(builder)
            if not standing.complete or builder.snapshot is None:
                raise SystemExit(f"vectors are not complete: {standing}")
            matrix = await index.dense.matrix(builder, builder.snapshot)
            assert matrix is not None
            corpus = _Corpus(index, builder, builder.snapshot, matrix, fusion)
            if "fts5" in ways:
                corpus.fill_fts()
            gains = {
                name: {
                    way: np.array([corpus.gain(q, text, way) for q, text in asked]) for way in ways
                }
                for name, asked in sets.items()
            }
            snapshot = builder.snapshot
            size = sum(p.stat().st_size for p in Path(cache).rglob("*.vectors"))
            speed = corpus.speed([text for asked in sets.values() for _, text in asked][:200], size)
            return Measured(snapshot.living_chunks, snapshot.living_files, speed, gains)
        finally:
            await index.close()
            workspace.close()


def bootstrap(difference: Gains, times: int = 10_000) -> tuple[float, float]:
    """The middle 95 of 100 means of the paired difference, drawn with a fixed seed."""
    generator = np.random.default_rng(0)
    drawn = generator.integers(0, len(difference), (times, len(difference)))
    means = difference[drawn].mean(axis=1)
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))
