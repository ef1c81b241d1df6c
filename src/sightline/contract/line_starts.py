r"""Where the lines of a text begin, found out for the parts of it that are asked about.

Whoever has three symbols of a long file needs three places of it. So the ends of lines are counted
part by part, which is quick, and a part is taken to pieces when somebody asks about a line in it.

>>> starts = LineStarts("a\r\nb")
>>> [starts.of(line) for line in (0, 1, 2)], starts.line_at(3)
([0, 3, None], 1)
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

__all__ = ["LineStarts"]

_END = re.compile(r"\r\n|\n|\r")
_PART = 4_096


class LineStarts:
    def __init__(self, text: str) -> None:
        self._text = text
        #: All of them, where lines end in several ways.
        self._all: Sequence[int] | None = None
        if "\r" in text:
            self._all = [0, *(found.end() for found in _END.finditer(text))]
        else:
            counts = (text.count("\n", at, at + _PART) for at in range(0, len(text), _PART))
            #: How many lines have ended before each part, and in all.
            self._before = [0, *accumulate(counts)]
            #: By part.
            self._known: dict[int, Sequence[int]] = {}

    def of(self, line: int) -> int | None:
        """Where a line begins, by its number from 0; ``None`` if there are not so many."""
        if self._all is not None:
            return self._all[line] if line < len(self._all) else None
        if line == 0:
            return 0
        part = bisect_left(self._before, line) - 1
        if part + 1 == len(self._before):
            return None
        return self._in_part(part)[line - self._before[part] - 1]

    def line_at(self, place: int) -> int:
        """The number of the line that a place of the text is in."""
        if self._all is not None:
            return bisect_right(self._all, place) - 1
        part = place // _PART
        return self._before[part] + self._text.count("\n", part * _PART, place)

    def _in_part(self, part: int) -> Sequence[int]:
        """Where the lines begin whose end before stands in a part."""
        if part not in self._known:
            first = part * _PART
            *lines, _ = self._text[first : first + _PART].split("\n")
            ends = accumulate([len(line) + 1 for line in lines], initial=first)
            self._known[part] = list(ends)[1:]
        return self._known[part]
