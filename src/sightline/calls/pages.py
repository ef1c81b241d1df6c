"""Slicing a retained set into a page that fits, by items and by bytes.

A page is the longest prefix that fits the byte budget, so a list of long items is served in
shorter pages instead of being refused. Only an item that does not fit alone is too large. A summary
that grew too long ends with how many of its sentences are left out.
"""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from sightline.calls.memory import RetainedSet
from sightline.contract import cursors
from sightline.contract.cursors import Cursor
from sightline.contract.failures import TooLarge
from sightline.contract.limits import MAX_SUMMARY_CODE_POINTS
from sightline.contract.texts import cut_sentences

__all__ = ["EncodedPage", "page_of"]


class EncodedPage(NamedTuple):
    payload: bytes
    summary: str


def page_of(
    result: RetainedSet, start: Cursor, size: int, fits: Callable[[EncodedPage], bool]
) -> EncodedPage:
    """The page at ``start`` with at most ``size`` items."""
    available = len(result.items) - start.offset
    count = max(0, min(size, available))
    page = _encode(result, start, count)
    if fits(page):
        return page
    good, bad = 0, count
    while bad - good > 1:
        middle = (good + bad) // 2
        if fits(_encode(result, start, middle)):
            good = middle
        else:
            bad = middle
    if good == 0:
        raise TooLarge("one result alone is larger than an answer may be")
    return _encode(result, start, good)


def _encode(result: RetainedSet, start: Cursor, count: int) -> EncodedPage:
    end = start.offset + count
    more = end < len(result.items) and count > 0
    following = Cursor(end, start.request, start.snapshot)
    cursor = msgspec.json.encode(cursors.encode(following) if more else None)
    told = result.summary(count, more, result.flags[start.offset : end])
    summary = cut_sentences(told, MAX_SUMMARY_CODE_POINTS)
    payload = b'{"items":[%b],"nextCursor":%b,%b"summary":%b}' % (
        b",".join(result.items[start.offset : end]),
        cursor,
        result.members,
        msgspec.json.encode(summary),
    )
    return EncodedPage(payload, summary)
