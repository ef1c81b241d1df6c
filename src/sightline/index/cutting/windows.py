"""Cutting text into windows of lines, preferably where a blank line is."""

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sightline.index.cutting.chunks import Chunk

__all__ = ["MAX_LINES", "cut_windows", "line_ends", "newlines", "split_spans"]

#: A declaration with more lines is cut into windows.
MAX_LINES = 150
_WINDOW = 60
_SLACK = 15

Span = tuple[int, int]


def newlines(data: bytes) -> list[int]:
    """The offset of every line feed. ``bisect_right(newlines, offset - 1)`` is a line number."""
    places: list[int] = line_ends(data).tolist()
    return places


def line_ends(data: bytes) -> NDArray[np.int64]:
    """The same for whoever looks at a few of them."""
    return np.flatnonzero(np.frombuffer(data, np.uint8) == 10)


def cut_windows(data: bytes, kind: str = "text") -> list[Chunk]:
    """The whole file in windows."""
    lines = newlines(data)
    chunks: list[Chunk] = []
    for piece in split_spans(data, [(0, len(data))], lines):
        if data[piece[0][0] : piece[-1][1]].strip():
            first = bisect_right(lines, piece[0][0] - 1)
            last = bisect_right(lines, piece[-1][1] - 2)
            chunks.append(Chunk(kind, "", "", first, max(first, last), tuple(piece)))
    return chunks


def split_spans(data: bytes, spans: Sequence[Span], lines: list[int]) -> list[list[Span]]:
    """Byte ranges cut into groups of about sixty lines each."""
    groups: list[list[Span]] = [[]]
    room = _WINDOW
    for start, end in spans:
        begin = start
        while begin < end:
            first = bisect_right(lines, begin - 1)
            last = bisect_right(lines, end - 2)
            if last - first < room + _SLACK:
                groups[-1].append((begin, end))
                room -= last - first + 1
                break
            cut = _cut(data, lines, first + max(room, _SLACK), last)
            groups[-1].append((begin, cut))
            groups.append([])
            room = _WINDOW
            begin = cut
        if room <= 0:
            groups.append([])
            room = _WINDOW
    return [group for group in groups if group]


def _cut(data: bytes, lines: list[int], wanted: int, last: int) -> int:
    """The start of a line near ``wanted``, after a blank line if there is one."""
    for distance in range(_SLACK):
        for line in (wanted - distance, wanted + distance):
            if 0 < line <= last and lines[line - 1] - (lines[line - 2] if line > 1 else -1) <= 2:
                blank = data[(lines[line - 2] + 1 if line > 1 else 0) : lines[line - 1]]
                if not blank.strip():
                    return lines[line - 1] + 1
    return lines[min(wanted, last) - 1] + 1
