"""Stretches of a text: its comments, say, and what it quotes."""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable
from itertools import chain

__all__ = ["Spans", "spans_of"]


class Spans:
    """Stretches in order, none of which overlaps another one."""

    def __init__(self, found: Iterable[tuple[int, int]]) -> None:
        #: Where each starts and ends, one after the other.
        self._bounds = array("L", chain.from_iterable(found))

    def __contains__(self, place: int) -> bool:
        # A place with one more start than ends before it is in a stretch.
        return bisect_right(self._bounds, place) % 2 == 1


def spans_of(pattern: re.Pattern[bytes], text: bytes) -> Spans:
    """What a pattern matches in a text, but for what a named group of it does.

    >>> spans = spans_of(re.compile(rb"#.*|(?P<code>!.*)"), b"a # b ! c")
    >>> 0 in spans, 4 in spans
    (False, True)
    """
    return Spans(match.span() for match in pattern.finditer(text) if match.lastgroup is None)
