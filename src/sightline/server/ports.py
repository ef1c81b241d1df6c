"""The one address this program listens on, and who holds a port that is taken.

A port that a program of another user holds is a warning sign: clients that were told this port may
have sent their token there. The advice is then to rotate it.
"""

import errno
import os
import socket
from collections.abc import Iterable

__all__ = ["ADDRESS", "PortTaken", "bind", "holders"]

ADDRESS = "127.0.0.1"
_BACKLOG = 512
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LISTENS = "0A"


class PortTaken(Exception):
    """Somebody else listens on the port. The text says what to do."""

    def __init__(self, port: int, *, other_user: bool) -> None:
        super().__init__(_advice(port, other_user=other_user))
        self.other_user = other_user


def bind(port: int) -> socket.socket:
    """A listening socket on 127.0.0.1."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":  # elsewhere the option would let two programs share the port
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((ADDRESS, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(port, other_user=_other_user_holds(port)) from None
        raise
    listener.setblocking(False)
    return listener


def _other_user_holds(port: int) -> bool:
    return hasattr(os, "getuid") and bool(holders(port, _tables()) - {os.getuid()})


def _advice(port: int, *, other_user: bool) -> str:
    if other_user:
        return (
            f"port {port} is held by a program of another user, which may have been sent your "
            "token; run sightline token rotate, then use another --port"
        )
    return f"port {port} is taken; stop the other program or use --port"


def holders(port: int, tables: Iterable[str]) -> set[int]:
    """The users who listen on a port, from the kernel's tables of TCP sockets."""
    found: set[int] = set()
    for table in tables:
        for line in table.splitlines()[1:]:
            columns = line.split()
            if len(columns) > 7 and columns[3] == _LISTENS:
                _, _, number = columns[1].rpartition(":")
                if int(number, 16) == port:
                    found.add(int(columns[7]))
    return found


def _tables() -> list[str]:
    texts: list[str] = []
    for name in _TABLES:
        try:
            with open(name, encoding="ascii") as file:
                texts.append(file.read())
        except OSError:
            continue  # another system, or no IPv6
    return texts
