"""How many files and sockets this process may have open at a time.

What a shell gives is often 1,024, which language servers, the index and clients share. The limit is
raised as far as the system allows, and at least half of it is left to everything but connections.
"""

import sys

from sightline.contract.limits import MAX_CONNECTIONS

__all__ = ["places_for_connections", "raise_descriptor_limit"]

#: Programs that we start inherit the limit, and some look at every number below it.
_ENOUGH = 65_536
#: What a server has open before anybody connects, and a little more.
_AT_REST = 20
_FEWEST = 2


def raise_descriptor_limit() -> int:
    """Raises the limit as far as it helps, and returns the limit that then holds."""
    if sys.platform == "win32":
        return _ENOUGH
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft, most = (_ENOUGH if each == resource.RLIM_INFINITY else each for each in (soft, hard))
    wanted = min(most, _ENOUGH)
    if soft >= wanted:
        return soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):  # macOS has a lower limit that it does not tell
        return soft
    return wanted


def places_for_connections(descriptors: int) -> int:
    """How many places each of the two kinds of connections has: a quarter of what is free.

    >>> [places_for_connections(limit) for limit in (24, 64, 256, 1_024, 65_536)]
    [2, 11, 59, 251, 256]
    """
    return min(MAX_CONNECTIONS, max(_FEWEST, (descriptors - _AT_REST) // 4))
