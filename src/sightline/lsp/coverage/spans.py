"""Stretches of a text: its comments, say, and what it quotes."""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable

__all__ = ["Spans", "spans_of"]


class Spans:
    """Stretches in order, none of which overlaps another one."""

    def __init__(self, found: Iterable[tuple[int, int]]) -> None:
        self._starts, self._ends = array("L"), array("L")
        for start, end in found:
            self._starts.append(start)
            self._ends.append(end)

    def __contains__(self, place: int) -> bool:
        before = bisect_right(self._starts, place) - 1
        return before >= 0 and place < self._ends[before]


def spans_of(pattern: re.Pattern[bytes], text: bytes) -> Spans:
    """What a pattern matches in a text, but for what a named group of it does.

    >>> spans = spans_of(re.compile(rb"#.*|(?P<code>!.*)"), b"a # b ! c")
    >>> 0 in spans, 4 in spans
    (False, True)
    """
    return Spans(match.span() for match in pattern.finditer(text) if match.lastgroup is None)
