"""Snippets: a few numbered lines of a chunk, around what was asked for.

Lines are numbered from 1, as editors and show_file number them. Gaps are marked. A snippet has a
bounded number of lines and characters whatever the file looks like. Of a text search it has every
matching line of the hit, marked as grep marks them: ``12:`` before a line in which a match begins,
``13-`` before one that is shown beside it.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.index.cutting.windows import line_ends
from sightline.index.searching.hits import Hit

__all__ = ["Limits", "Marks", "matching_line", "snippet"]

Ends = NDArray[np.int64]

_MAX_LINE = 160
_USUAL_LINE = 70
#: How much of a long line is shown before its match.
_BEFORE_MATCH = 40
_GAP = "..."


class Limits(NamedTuple):
    lines: int = 10
    characters: int = 700

    @property
    def matching(self) -> int:
        """How many matching lines a hit may have: about as many as there is room for."""
        return max(1, min(self.lines, self.characters // _USUAL_LINE))


class Marks:
    """What a ranked search looks for in the lines of a chunk: the beginnings of its terms."""

    def __init__(self, terms: Sequence[str]) -> None:
        # A stem may end in a letter that no word has ("queri"), so the last one is not insisted on.
        stems = {term[:-1] if len(term) > 4 else term for term in terms}
        self._stems = sorted(stems)

    def lines(self, text: str) -> list[tuple[int, str]]:
        """(line, stem) of every mark, lines counted within the text.

        Of stems that overlap the first counts, and of those that begin together the longest.
        """
        lower = text.lower()
        places: list[tuple[int, int, str]] = []
        for stem in self._stems:
            place = lower.find(stem)
            while place >= 0:
                places.append((place, -len(stem), stem))
                place = lower.find(stem, place + 1)
        places.sort()
        found: list[tuple[int, str]] = []
        line = seen = end = 0
        for place, _, stem in places:
            if place >= end:
                line += lower.count("\n", seen, place)
                seen, end = place, place + len(stem)
                found.append((line, stem))
        return found


def snippet(data: bytes, hit: Hit, marks: Marks, limits: Limits) -> str:
    """The lines of a hit that say most about why it is one."""
    lines = line_ends(data)
    if hit.matches:
        return _matched(data, hit, lines, limits)
    shown = _ranked(data, hit, marks, lines, limits)
    entries: dict[int, str] = {}
    room = limits.characters
    before = shown[0] - 1 if shown else 0
    for line in shown:
        entry = f"{line + 1}: {_clipped(_text(data, lines, line))}"
        size = len(entry) + 1 + (len(_GAP) + 1 if line > before + 1 else 0)
        if entries and room < size:
            break
        room -= size
        entries[line] = entry
        before = line
    return _joined(entries)


def matching_line(data: bytes, lines: Ends, start: int) -> tuple[int, str]:
    """The line in which a match begins, from 0, and what is shown of it."""
    line = bisect_right(lines, start - 1)
    begin = int(lines[line - 1]) + 1 if line else 0
    column = len(data[begin:start].decode("utf-8", "replace"))
    return line, _clipped(_text(data, lines, line), column)


def _matched(data: bytes, hit: Hit, lines: Ends, limits: Limits) -> str:
    """Every matching line, then what a match goes on to and the lines beside, while there is
    room."""
    entries: dict[int, str] = {}
    beside: list[int] = []
    for start, end in hit.matches:
        line, shown = matching_line(data, lines, start)
        entries[line] = f"{line + 1}: {shown}"
        last = bisect_right(lines, max(start, end - 1) - 1)
        beside += range(line + 1, min(last, line + 2) + 1)
    for line in entries:
        beside += (line - 1, line + 1)
    most = min(limits.lines, 3 * len(entries))
    room = limits.characters - sum(len(entry) + 1 for entry in entries.values())
    for line in beside:
        if line in entries or not hit.start_line <= line <= hit.end_line:
            continue
        entry = f"{line + 1}- {_clipped(_text(data, lines, line))}"
        room -= len(entry) + 1
        if room < 0 or len(entries) >= most:
            break
        entries[line] = entry
    return _joined(entries)


def _joined(entries: dict[int, str]) -> str:
    """Numbered lines in their order, with a mark where some are left out."""
    parts: list[str] = []
    before = -1
    for line in sorted(entries):
        if parts and line > before + 1:
            parts.append(_GAP)
        parts.append(entries[line])
        before = line
    return "\n".join(parts)


def _text(data: bytes, lines: Ends, line: int) -> str:
    start = int(lines[line - 1]) + 1 if line else 0
    end = int(lines[line]) if line < len(lines) else len(data)
    return data[start:end].decode("utf-8", "replace").rstrip()


def _clipped(text: str, column: int = 0) -> str:
    """A line, or of a long one the part with what is at a column."""
    if len(text) <= _MAX_LINE:
        return text
    if column < _MAX_LINE - _BEFORE_MATCH:
        return text[: _MAX_LINE - 1] + "…"
    start = column - _BEFORE_MATCH
    end = start + _MAX_LINE - 2
    return f"…{text[start:]}" if end >= len(text) else f"…{text[start:end]}…"


def _ranked(data: bytes, hit: Hit, marks: Marks, lines: Ends, limits: Limits) -> list[int]:
    first, last = hit.start_line, hit.end_line
    if last - first < limits.lines:
        return list(range(first, last + 1))
    own = _own_lines(hit, lines, first, last)
    start = lines[first - 1] + 1 if first else 0
    end = lines[last] if last < len(lines) else len(data)
    found: dict[int, set[str]] = {}
    for line, stem in marks.lines(data[start:end].decode("utf-8", "replace")):
        if first + line in own:
            found.setdefault(first + line, set()).add(stem)
    head = hit.symbol.line if hit.symbol is not None and hit.symbol.line in own else first
    size = limits.lines - 2
    begin = _densest(found, head, size)
    window = [line for line in range(begin, begin + size) if line <= last]
    if head < begin:
        return [head, *window]
    return list(range(min(head, begin), last + 1))[: limits.lines]


def _own_lines(hit: Hit, lines: Ends, first: int, last: int) -> set[int]:
    """The lines that belong to the chunk itself, not to chunks inside it."""
    own: set[int] = set()
    for start, end in hit.chunk.spans:
        own.update(range(bisect_right(lines, start - 1), bisect_right(lines, end - 2) + 1))
    return {line for line in own if first <= line <= last}


def _densest(found: dict[int, set[str]], head: int, size: int) -> int:
    """Where the window with the most different stems begins; the first of equals."""
    best, begin = 0, head
    for line in sorted(found):
        stems: set[str] = set()
        for near in range(line, line + size):
            stems |= found.get(near, set())
        if len(stems) > best:
            best, begin = len(stems), line
    # One line before the first match gives it some ground to stand on.
    return max(head, begin - 1) if begin > head else begin
