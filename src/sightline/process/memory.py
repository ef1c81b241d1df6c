"""How much memory a process tree takes, from /proc. Where there is none, nothing is known: 0."""

import os

from sightline.process.keeper import descendants

__all__ = ["tree_memory"]


def tree_memory(pid: int) -> int:
    """Resident bytes of a process and everything below it."""
    try:
        tree = _tree(pid)
    except OSError:  # it ended meanwhile, or the kernel does not tell the children of a process
        tree = [pid, *descendants(pid)]
    return sum(map(_resident, tree))


def _tree(top: int) -> list[int]:
    """A process and all below it, by what the kernel tells of each: no look at the whole table."""
    found: list[int] = []
    waiting = [top]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                waiting += map(int, file.read().split())
    return found


def _resident(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
