"""How much memory a process tree takes, from /proc. Where there is none, nothing is known: 0."""

import os

from sightline.process.keeper import descendants

__all__ = ["tree_memory"]


def tree_memory(pid: int) -> int:
    """Resident bytes of a process and everything below it."""
    return sum(_resident(each) for each in (pid, *descendants(pid)))


def _resident(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
