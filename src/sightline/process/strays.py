"""What is left of a child tree whose keeper was killed.

Every process below a keeper inherits a mark in its environment, and the command leads a group of
its own. If the keeper itself is killed, which only force from outside does, the system ends the
command, and whatever else of the tree is alive is found by the mark or the group and ended here.
A descendant that left the group and cleared its environment cannot be told from a stranger; it
is left alone, because ending a stranger would be worse.
"""

import os

from sightline.process.keeper import end

__all__ = ["MARK", "end_strays", "find_strays"]

#: The variable that holds the mark.
MARK = "SIGHTLINE_TREE"


def end_strays(mark: str, group: int | None) -> bool:
    """Ends what is left, in the usual order. Whether nothing is left. Blocks; use a thread."""
    return end(lambda: find_strays(mark, group), _nothing_to_reap)


def find_strays(mark: str, group: int | None) -> list[int]:
    """The processes that carry the mark or belong to the group, where it is known."""
    if not os.path.isdir("/proc/self"):
        return []  # elsewhere the group is ended as a last resort
    wanted = f"{MARK}={mark}".encode()
    others = [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
    return [int(name) for name in others if _is_stray(name, wanted, group)]


def _is_stray(name: str, wanted: bytes, group: int | None) -> bool:
    try:
        with open(f"/proc/{name}/stat", "rb") as file:
            state, _, own_group = file.read().rpartition(b")")[2].split()[:3]
        if state == b"Z":
            return False
        if int(own_group) == group:
            return True
        with open(f"/proc/{name}/environ", "rb") as file:
            return wanted in file.read().split(b"\0")
    except (OSError, ValueError):
        return False  # it ended, or belongs to another user


def _nothing_to_reap() -> None:
    """Strays are children of somebody else, who collects them."""
