"""How many files and sockets this process may have open at a time.

What a shell gives is often 1,024, of which language servers, the index and clients all take their
part. We take what the system allows, and leave most of it to everything but connections.
"""

import sys

from sightline.contract.limits import MAX_CONNECTIONS

__all__ = ["places_for_connections", "raise_descriptor_limit"]

#: Programs that we start inherit the limit, and some look at every number below it.
_ENOUGH = 65_536
#: For everything but connections, which have two kinds of places.
_RESERVE = 256
_FEWEST = 8


def raise_descriptor_limit() -> int:
    """Raises the limit as far as it helps; what it is then."""
    if sys.platform == "win32":
        return _ENOUGH
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    wanted = _ENOUGH if hard == unlimited else min(hard, _ENOUGH)
    if soft == unlimited or soft >= wanted:
        return _ENOUGH
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):  # macOS has a lower limit that it does not tell
        return soft
    return wanted


def places_for_connections(descriptors: int) -> int:
    """How many of each kind of connections leave a reserve.

    >>> places_for_connections(65_536), places_for_connections(1_024), places_for_connections(300)
    (256, 256, 22)
    """
    return min(MAX_CONNECTIONS, max(_FEWEST, (descriptors - _RESERVE) // 2))
