"""How far the time of a file can be trusted. Pure: it looks at numbers, and at no clock or disk.

A file that is written twice within a tick of its file system's clock has one time for both.
"""

__all__ = ["TICK_NS", "settled_at"]

#: The kernel's clock ticks a few milliseconds apart.
TICK_NS = 50_000_000
_SECOND_NS = 1_000_000_000
#: FAT counts in two seconds, other old and remote file systems in one.
_COARSE_NS = 2 * _SECOND_NS


def settled_at(changed_ns: int) -> int:
    """From when on another write shows, of a file that was changed at this time.

    A time of whole seconds is most likely one of a clock that knows no others.

    >>> settled_at(5_123_456_789) - 5_123_456_789, settled_at(5_000_000_000) - 5_000_000_000
    (50000000, 2050000000)
    """
    coarse = changed_ns % _SECOND_NS == 0
    return changed_ns + TICK_NS + (_COARSE_NS if coarse else 0)
