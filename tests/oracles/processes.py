"""Processes as the kernel sees them, found by the home folder they were started with.

Sightline passes HOME on to everything it starts, so an own home per scene marks the whole tree,
whoever is whose parent by now.
"""

import os
import time
from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Process", "gone_after", "processes_of"]

_POLL_S = 0.01


class Process(NamedTuple):
    pid: int
    #: In clock ticks since the machine started: the same number later is the same process.
    started: int
    command: str


def processes_of(home: str) -> list[Process]:
    """Every process with this home that is not a zombie, oldest first."""
    marker = f"HOME={home}".encode()
    found: list[Process] = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if marker not in file.read().split(b"\0"):
                    continue
            with open(f"/proc/{name}/cmdline", "rb") as file:
                command = file.read().replace(b"\0", b" ").decode(errors="replace").strip()
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue  # it ended meanwhile, or it is another user's
        if fields[0] != b"Z":
            found.append(Process(int(name), int(fields[19]), command))
    return sorted(found, key=lambda process: (process.started, process.pid))


def gone_after(
    home: str, which: Callable[[Process], bool] = lambda process: True, *, limit_s: float
) -> float | None:
    """The seconds until no such process is left; ``None`` if one is left at the limit."""
    began = time.monotonic()
    while True:
        left = any(which(process) for process in processes_of(home))
        took = time.monotonic() - began
        if not left:
            return took
        if took > limit_s:
            return None
        time.sleep(_POLL_S)
