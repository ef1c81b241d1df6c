"""A code base, indexed with its vectors, that can be asked in several ways."""

import re
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.meaning.questions import Question
from sightline.index.building.workers import Workers
from sightline.index.dense.encoder import encode_chunks, encode_query
from sightline.index.dense.nearness import Matrix
from sightline.index.dense.vectors import Vectors
from sightline.index.dense.weights import Weights, bundled
from sightline.index.index import Index
from sightline.index.searching.fusion import fusion_for
from sightline.index.searching.query import understand
from sightline.index.searching.ranked import Near
from sightline.index.searching.results import best
from sightline.index.searching.search import Request, RootSearch
from sightline.index.storage.records import Record
from sightline.index.storage.snapshot import Snapshot
from sightline.tools.tool import silent
from sightline.workspace.roots import open_root
from sightline.workspace.workspace import Workspace

__all__ = ["TOP", "Asked", "Opened", "opened", "watched"]

Floats = NDArray[np.float64]
Ranks = Iterable[tuple[int, int]]

TOP = 10
#: Chunks that are looked at until ten files are seen.
_DEEP = 120
#: On a busy machine a worker may wait longer for the processor than a server would wait for it.
_PATIENCE_S = 300.0


class Asked(NamedTuple):
    """A text and what answers it: a declaration by path and name, or files."""

    text: str
    path: str = ""
    name: str = ""
    files: frozenset[str] = frozenset()

    @classmethod
    def chunk(cls, question: Question, text: str) -> "Asked":
        return cls(text, question.path, question.name)


class Opened:
    def __init__(
        self,
        index: Index,
        root: str,
        snapshot: Snapshot,
        matrix: Matrix | None,
        weights: Weights | None = None,
    ) -> None:
        """``weights``: those of the vectors, if they are not the package's."""
        self.index = index
        self.root = root
        self.snapshot = snapshot
        self._matrix = matrix
        self._weights = weights
        self._records: dict[int, Record] = {}

    @property
    def matrix(self) -> Matrix:
        assert self._matrix is not None
        return self._matrix

    def encoded(self, weights: Weights) -> "Opened":
        """The same with other weights, all chunks encoded here."""
        texts = list(self.texts())
        vectors = np.zeros((self.snapshot.chunks, weights.size), np.int8)
        chunks = [(path, name, text) for _, path, name, text in texts]
        vectors[[number for number, *_ in texts]] = encode_chunks(weights, chunks)
        return Opened(self.index, self.root, self.snapshot, Matrix.whole(vectors), weights)

    def encode(self, text: str) -> Vectors:
        """The vector of a question."""
        return encode_query(self._weights or bundled(), text)

    @property
    def vector_bytes(self) -> int:
        """What the vectors take on disk."""
        folder = Path(self.index.builders[self.root].library.store.folder)
        return sum(path.stat().st_size for path in folder.glob("*.vectors"))

    @cached_property
    def names(self) -> list[tuple[str, str]]:
        """The path and the name of every chunk."""
        return [self._name(chunk) for chunk in range(self.snapshot.chunks)]

    def _name(self, number: int) -> tuple[str, str]:
        file = int(self.snapshot.chunk_file[number])
        if file not in self._records:
            self._records[file] = self.snapshot.record(file)
        chunk = self._records[file][number - int(self.snapshot.chunk_first[file])]
        return self.snapshot.path(file), f"{chunk.container}.{chunk.name}".lstrip(".")

    def texts(self, step: int = 1) -> Iterable[tuple[int, str, str, str]]:
        """Every so manieth living chunk: its number, path, name and text."""
        cache: dict[str, bytes] = {}
        for number in np.flatnonzero(self.snapshot.chunk_alive)[::step].tolist():
            path, name = self.names[number]
            if path not in cache:
                cache = {path: Path(self.root, path).read_bytes()}
            file = int(self.snapshot.chunk_file[number])
            chunk = self._records[file][number - int(self.snapshot.chunk_first[file])]
            text = b"\n".join(cache[path][a:b] for a, b in chunk.spans).decode("utf-8", "replace")
            yield number, path, name, text

    @cached_property
    def _fts(self) -> sqlite3.Connection:
        base = sqlite3.connect(":memory:")
        base.execute("create virtual table t using fts5(path, name, body, tokenize='porter')")
        for number, *texts in self.texts():
            row = (number, *map(_apart, texts))
            base.execute("insert into t(rowid, path, name, body) values (?, ?, ?, ?)", row)
        return base

    # Ways of asking

    def near(self, text: str) -> Floats:
        """The nearness of every living chunk."""
        every = np.arange(self.snapshot.chunks)
        values = self.matrix.near(self.encode(text), every)
        values[~self.snapshot.chunk_alive] = 0.0
        return values

    def nearest(self, text: str) -> list[tuple[int, int]]:
        """By vectors alone."""
        return self.nearest_by(self.near(text))

    def nearest_by(self, values: Floats) -> list[tuple[int, int]]:
        """The chunks with the highest values."""
        living = np.flatnonzero(self.snapshot.chunk_alive)
        found = best(self.snapshot, living, values[living], _DEEP)
        return [(chunk, file) for _, _, _, chunk, file in found]

    def full_text(self, text: str) -> list[tuple[int, int]]:
        """By SQLite's full-text search."""
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", _apart(text)))
        sql = f"select rowid from t where t match ? order by bm25(t, 2, 6, 1) limit {_DEEP}"
        rows = [row[0] for row in self._fts.execute(sql, (words,))] if words else []
        return [(chunk, int(self.snapshot.chunk_file[chunk])) for chunk in rows]

    def searched(
        self, text: str, *, vectors: bool, other: tuple[Matrix, Vectors] | None = None
    ) -> list[tuple[int, int]]:
        """By our search, with the weight that it gives vectors itself, or by words alone. ``other``:
        vectors of another model."""
        weight = fusion_for(understand(text)) if vectors else 0.0
        near: Near | None = None
        if weight > 0.0:
            matrix, query = other or (self.matrix, self.encode(text))
            near = Near(matrix, lambda: query, weight)
        search = RootSearch(self.snapshot, self.root, self.index.lookup, Request(text), near=near)
        chunks = [found.chunk for found in search.run().found[:_DEEP]]
        return [(chunk, int(self.snapshot.chunk_file[chunk])) for chunk in chunks]

    def gain(self, ranks: Ranks, asked: Asked) -> float:
        """The reciprocal rank of the right one, 0 below ten. Files count once."""
        if asked.files:
            paths = dict.fromkeys(self.snapshot.path(file) for _, file in ranks)
            right = [path in asked.files for path in list(paths)[:TOP]]
        else:
            answer = (asked.path, asked.name)
            right = [self.names[chunk] == answer for chunk, _ in list(ranks)[:TOP]]
        return 1 / (right.index(True) + 1) if True in right else 0.0


def _apart(text: str) -> str:
    """Names taken apart, which FTS5 does not do by itself."""
    return re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text.replace("_", " "))


@asynccontextmanager
async def watched(
    folder: Path, *, vectors: bool = True
) -> AsyncIterator[Callable[[], Awaitable[Opened]]]:
    """A folder whose state may change: each call indexes what changed, and encodes it if wanted."""
    with tempfile.TemporaryDirectory(prefix="sightline-quality-") as scratch:
        workspace = Workspace([open_root(str(folder), home=None)])
        await workspace.begin()
        environment = {"PATH": "/usr/bin:/bin"}
        workers = Workers(environment, [str(folder)], scratch, hang_s=_PATIENCE_S)
        index = Index(
            workspace, environment=environment, cache=scratch, workers=workers, dense=vectors
        )

        async def current() -> Opened:
            await workspace.begin()
            await index.build(silent, force=False)
            [builder] = index.builders.values()
            assert builder.snapshot is not None
            matrix: Matrix | None = None
            if vectors:
                standing = await index.dense.finish(builder)
                if not standing.complete:
                    raise SystemExit(f"vectors are not complete: {standing}")
                matrix = await index.dense.matrix(builder, builder.snapshot)
                assert matrix is not None
            return Opened(index, builder.library.store.root, builder.snapshot, matrix)

        try:
            yield current
        finally:
            await index.close()
            workspace.close()


@asynccontextmanager
async def opened(folder: Path, weights: Weights | None = None) -> AsyncIterator[Opened]:
    """Indexes a folder and encodes all of it, with the package's weights or others."""
    async with watched(folder, vectors=weights is None) as current:
        corpus = await current()
        yield corpus if weights is None else corpus.encoded(weights)
