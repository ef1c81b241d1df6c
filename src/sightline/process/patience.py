"""Whether a process that says nothing has had the time to, from /proc.

On a busy machine a process may wait long for a processor. Ending it for that would end it again and
again. Where there is no /proc, nothing is known, and silence counts as it is.
"""

import os
from typing import NamedTuple

__all__ = ["Pulse", "starved"]

#: Running, or waiting for a disk.
_WANTS = (b"R", b"D")


class Pulse(NamedTuple):
    """How a process stood at one moment."""

    state: bytes
    processor_s: float

    @classmethod
    def of(cls, pid: int) -> "Pulse | None":
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
            ticks = int(fields[11]) + int(fields[12])
        except (OSError, ValueError, IndexError):
            return None
        return cls(fields[0], ticks / os.sysconf("SC_CLK_TCK"))


def starved(before: Pulse | None, pid: int, seconds: float) -> bool:
    """Whether a process wants to work and had less than half of the last seconds for it."""
    now = Pulse.of(pid)
    if before is None or now is None or now.state not in _WANTS:
        return False
    return now.processor_s - before.processor_s < seconds / 2
