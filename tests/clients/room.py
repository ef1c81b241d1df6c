"""A room without a network: loopback only, so that what a client tries to send goes nowhere.

Where the system allows it, a room is a network namespace of its own; everything that has to talk
to each other is started in the same room. Elsewhere the walls are missing and only the clients'
own switches keep them quiet; ``closed`` tells.
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Self

__all__ = ["Room"]

_HOLD = """
import fcntl, socket, struct, sys
interface = struct.pack("16sh", b"lo", 0x1 | 0x40)  # up and running
fcntl.ioctl(socket.socket(), 0x8914, interface)
print("ready", flush=True)
sys.stdin.read()
"""


class Room:
    def __init__(self) -> None:
        self._holder: subprocess.Popen[str] | None = None

    @property
    def closed(self) -> bool:
        return self._holder is not None

    def __enter__(self) -> Self:
        holder = subprocess.Popen(
            ["unshare", "--map-root-user", "--net", sys.executable, "-c", _HOLD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert holder.stdout is not None
        if holder.stdout.readline() == "ready\n":
            self._holder = holder
        else:
            _end(holder)
        return self

    def __exit__(self, *error: object) -> None:
        if self._holder is not None:
            _end(self._holder)

    def inside(self, argv: Sequence[str | Path]) -> list[str]:
        """The command that runs ``argv`` in this room."""
        words = [str(word) for word in argv]
        if self._holder is None:
            return words
        enter = ["nsenter", "--user", "--net", "--preserve-credentials"]
        return [*enter, f"--target={self._holder.pid}", "--", *words]


def _end(holder: subprocess.Popen[str]) -> None:
    assert holder.stdin is not None and holder.stdout is not None
    holder.stdin.close()
    holder.wait(10)
    holder.stdout.close()
