"""A watch over the sockets of one Python process: only this machine may be spoken to.

Started in every test process, and by ``python loopback.py ARGUMENTS...``, which runs the
``sightline`` command under it. An address elsewhere, or a name to look up, is refused and kept, for
a program that passes over the error. What the kernel is asked without Python (uvloop, children) is
not seen here, but by ``walled.py``.
"""

import os
import signal
import sys
from collections.abc import Callable

__all__ = ["reached", "watch"]

#: What was refused since the last test.
reached: list[str] = []
_HERE = ("127.0.0.1", "::1", "localhost", "", None)
_CONNECTS = ("socket.connect", "socket.sendto", "socket.sendmsg")
_LOOKS_UP = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")


def watch(refused: Callable[[str], object] = reached.append) -> None:
    """From here on. A hook cannot be taken away."""

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event in _CONNECTS:
            address = arguments[1]
        elif event in _LOOKS_UP:
            address = arguments
        else:
            return
        if isinstance(address, tuple) and address and address[0] not in _HERE:
            refused(f"{event} {address[0]!r}")
            raise PermissionError(f"{event}: nothing may be reached but this machine")

    sys.addaudithook(hook)


if __name__ == "__main__":
    watch(lambda what: os.kill(os.getpid(), signal.SIGSYS))
    sys.path.pop(0)  # this folder, whose modules are named like some of the standard library
    from sightline.cli.launch import run

    run()
