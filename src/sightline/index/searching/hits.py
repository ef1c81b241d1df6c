"""Hits: chunks that answer a search, with where to look in them and why they are there."""

from bisect import bisect_right
from typing import NamedTuple

from sightline.index.cutting.chunks import Chunk, Symbol, utf16_column
from sightline.index.cutting.windows import newlines

__all__ = ["WHOLE", "Hit", "Part", "line_and_column"]

#: Where a part of a chunk begins or ends: where the chunk does.
WHOLE = -1


class Part(NamedTuple):
    """What of a chunk a hit of a text search is about: a run of matching lines. 0-based."""

    #: The first and the last of the lines in which a match begins.
    first: int
    last: int
    #: The lines that are the hit's, so that the hits of a chunk share none.
    start: int = WHOLE
    end: int = WHOLE
    #: How many matches begin there.
    matches: int = 1


class Hit(NamedTuple):
    #: The number of the file in its snapshot, and of the chunk in the file.
    file: int
    number: int
    path: str
    chunk: Chunk
    score: float
    #: The symbol that was asked for, or the chunk's own; windows of text have none.
    symbol: Symbol | None = None
    #: Byte ranges of the first match of each matching line, for literal and pattern searches.
    matches: tuple[tuple[int, int], ...] = ()
    part: Part | None = None

    @property
    def start_line(self) -> int:
        own = self.symbol.line if self._is_inner else self.chunk.start_line  # type: ignore[union-attr]
        if self.part is None:
            return own
        return self.part.first if self.part.start != WHOLE else min(own, self.part.first)

    @property
    def end_line(self) -> int:
        own = self.symbol.end_line if self._is_inner else self.chunk.end_line  # type: ignore[union-attr]
        if self.part is None:
            return own
        return max(own if self.part.end == WHOLE else self.part.end, self.part.last)

    @property
    def name(self) -> str:
        return self.symbol.name if self.symbol is not None else self.chunk.name

    @property
    def kind(self) -> str:
        return self.symbol.kind if self.symbol is not None else self.chunk.kind

    @property
    def _is_inner(self) -> bool:
        """Whether the hit is a small symbol inside its chunk."""
        return self.symbol is not None and self.symbol.name != self.chunk.name

    def order(self) -> tuple[float, str, int, int]:
        """Best first; equal scores by path and line. Total: two hits never share a chunk."""
        return (-self.score, self.path, self.start_line, self.number)


def line_and_column(data: bytes, offset: int, lines: list[int] | None = None) -> tuple[int, int]:
    """The 0-based line and UTF-16 column of a byte."""
    lines = newlines(data) if lines is None else lines
    line = bisect_right(lines, offset - 1)
    start = lines[line - 1] + 1 if line else 0
    return line, utf16_column(data, offset, offset - start)
