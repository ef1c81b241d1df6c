"""The answer of a search before it is shown: an ordered list, materialised item by item.

Ranking knows chunks by number. What a caller sees of a chunk (its name, lines, text) is read from
its record and its file only when its page is asked for.
"""

from collections import OrderedDict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.index.cutting.chunks import Chunk, Symbol
from sightline.index.searching.hits import Hit, Part
from sightline.index.storage.records import Record
from sightline.index.storage.snapshot import Snapshot
from sightline.index.terms.words import compact

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

__all__ = ["SCALE", "Candidate", "Found", "Missing", "Records", "Results", "best", "pick_symbol"]

_MAX_SORTED_BY_NAME = 4_000
SCALE = 10_000


class Found(NamedTuple):
    """A chunk by its number in the snapshot, its score, and where in it a text search matched."""

    chunk: int
    score: float
    matches: tuple[tuple[int, int], ...] = ()
    part: Part | None = None


class Missing(NamedTuple):
    """A name that was asked for and is not there."""

    name: str
    #: Whether it had to be declared; otherwise no text has it either.
    symbol: bool
    #: Declared names that are spelled nearly so, the closest first.
    near: tuple[str, ...] = ()


class Results(NamedTuple):
    found: list[Found]
    #: Whether there is more than could be kept.
    capped: bool = False
    #: What should be said about the whole, such as a phrase that was not found.
    note: str = ""
    #: How many matches were counted, and lines in which they begin, in text searches.
    matches: int = 0
    lines: int = 0
    #: How much vectors counted beside words.
    weight: float = 0.0
    missing: Missing | None = None


class Records:
    """The chunks of files, kept for one search."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._kept: OrderedDict[int, Record] = OrderedDict()

    def of(self, file: int) -> Record:
        kept = self._kept.get(file)
        if kept is None:
            kept = self._kept[file] = self._snapshot.record(file)
            if len(self._kept) > 1_000:
                self._kept.popitem(last=False)
        return kept

    def place(self, chunk: int) -> tuple[int, int]:
        """The file of a chunk, and its number in it."""
        file = int(self._snapshot.chunk_file[chunk])
        return file, chunk - int(self._snapshot.chunk_first[file])

    def chunk(self, chunk: int) -> Chunk:
        file, number = self.place(chunk)
        return self.of(file)[number]

    def hit(self, found: Found, name: str, kind: str) -> Hit:
        """A chunk as a hit. ``name`` and ``kind`` say which of its symbols was asked for."""
        file, number = self.place(found.chunk)
        chunk = self.of(file)[number]
        return Hit(
            file,
            number,
            self._snapshot.path(file),
            chunk,
            found.score,
            pick_symbol(chunk, name, kind),
            found.matches,
            found.part,
        )


def pick_symbol(chunk: Chunk, name: str, kind: str) -> Symbol | None:
    """The symbol a search was about, or the chunk's own."""
    symbols = [s for s in chunk.symbols if not kind or s.kind == kind]
    if name:
        for wanted in (lambda s: s.name == name, lambda s: compact(s.name) == compact(name)):
            for symbol in symbols:
                if wanted(symbol):
                    return symbol
    if kind and symbols and chunk.kind != kind:
        return symbols[0]
    if chunk.symbols and chunk.symbols[0].name == chunk.name:
        return chunk.symbols[0]
    return None


#: A chunk in the one right order: best first, then by path and line. The score scaled to a whole
#: number and negated, the path, the number in its file, the number of the chunk, that of the file.
Candidate = tuple[int, str, int, int, int]


def best(snapshot: Snapshot, chunks: Ints, scores: Floats, limit: int) -> list[Candidate]:
    """Those of some chunks that have the highest scores.

    Equal scores are ordered by path and line, whatever the numbers of the chunks are.
    """
    # Rounding moves a score by at most half a step, so nothing that ties is lost here.
    step = 1.0 / SCALE
    if len(chunks) > limit:
        half = float(scores.max()) / 2
        high = np.flatnonzero(scores >= half - step)
        if np.count_nonzero(scores[high] >= half) >= limit:
            chunks, scores = chunks[high], scores[high]
    if len(chunks) > limit:
        least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        high = np.flatnonzero(scores >= least - step)
        chunks, scores = chunks[high], scores[high]
    scaled = np.rint(scores * SCALE).astype(np.int64)
    chunks, scaled = chunks[scaled > 0], scaled[scaled > 0]
    files = snapshot.chunk_file[chunks]
    numbers = chunks - snapshot.chunk_first[files]
    if len(chunks) > _MAX_SORTED_BY_NAME:
        order = np.lexsort((numbers, snapshot.path_ranks[files], -scaled))[:limit]
        chunks, files = chunks[order], files[order]
        numbers, scaled = numbers[order], scaled[order]
    owners = files.tolist()
    paths = snapshot.paths
    names = [paths[file] for file in owners]
    rows = zip((-scaled).tolist(), names, numbers.tolist(), chunks.tolist(), owners, strict=True)
    return sorted(rows)[:limit]
