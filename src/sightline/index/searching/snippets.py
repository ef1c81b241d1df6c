"""Snippets: a few numbered lines of a chunk, around what was asked for.

Lines are numbered from 1, as editors and show_file number them. Gaps are marked. A snippet has a
bounded number of lines and characters whatever the file looks like.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.index.cutting.windows import line_ends
from sightline.index.searching.hits import Hit

__all__ = ["Limits", "Marks", "snippet"]

Ends = NDArray[np.int64]

_MAX_LINE = 160
_GAP = "..."


class Limits(NamedTuple):
    lines: int = 10
    characters: int = 700


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
    shown = (
        _matched(hit, lines, limits) if hit.matches else _ranked(data, hit, marks, lines, limits)
    )
    return _render(data, lines, shown, limits.characters)


def _matched(hit: Hit, lines: Ends, limits: Limits) -> list[int]:
    """The lines of the matches, each with a neighbour while there is room."""
    wanted: list[int] = []
    for start, end in hit.matches:
        first = bisect_right(lines, start - 1)
        last = min(bisect_right(lines, max(start, end - 1) - 1), first + 2)
        wanted += range(first, last + 1)
    wanted = list(dict.fromkeys(wanted))[: limits.lines]
    for line in list(wanted):
        for neighbour in (line - 1, line + 1):
            inside = hit.chunk.start_line <= neighbour <= hit.chunk.end_line
            if inside and len(wanted) < min(limits.lines, 3 * len(hit.matches)):
                wanted.append(neighbour)
    return sorted(set(wanted))


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


def _render(data: bytes, lines: Ends, shown: list[int], room: int) -> str:
    parts: list[str] = []
    before = shown[0] - 1 if shown else 0
    for line in shown:
        start = lines[line - 1] + 1 if line else 0
        end = lines[line] if line < len(lines) else len(data)
        text = data[start:end].decode("utf-8", "replace").rstrip()
        if len(text) > _MAX_LINE:
            text = text[: _MAX_LINE - 1] + "…"
        entry = f"{line + 1}: {text}"
        if line > before + 1:
            entry = f"{_GAP}\n{entry}"
        if parts and room < len(entry) + 1:
            break
        room -= len(entry) + 1
        parts.append(entry)
        before = line
    return "\n".join(parts)
