"""Searching a text whose lines end in carriage return and line feed as if they ended in line feeds.

What is shown has plain line feeds and is copied from there, and ``$`` is asked for the end of what
one sees of a line. Places are given back as they are in the text itself.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator

import numpy as np

__all__ = ["without_returns"]

Spans = Iterator[tuple[int, int]]


def without_returns(find: Callable[[bytes], Spans], data: bytes) -> Spans:
    """What is found in a text without the returns before its line feeds.

    >>> list(without_returns(lambda plain: iter([(1, 2), (3, 4)]), b"a\\r\\nb\\n"))
    [(1, 3), (4, 5)]
    """
    if b"\r" not in data:
        yield from find(data)
        return
    raw = np.frombuffer(data, np.uint8)
    returns = np.flatnonzero((raw[:-1] == 13) & (raw[1:] == 10))
    # Where the line feeds lie that lost theirs.
    feeds = (returns - np.arange(len(returns))).tolist()
    for start, end in find(data.replace(b"\r\n", b"\n")):
        yield start + bisect_left(feeds, start), end + bisect_left(feeds, end)
