"""What is left of a child tree whose keeper was killed.

Every process below a keeper inherits a mark in its environment, and the command leads a group of
its own. If the keeper itself is killed, which only force from outside does, the system ends the
command, and whatever else of the tree is alive is found by the mark or the group and ended here.
The number of a group may belong to a stranger by then, so its leader is told by when it began.
A descendant that left the group and cleared its environment cannot be told from a stranger; it
is left alone, because ending a stranger would be worse.
"""

import os
from typing import NamedTuple

from sightline.process.keeper import end

__all__ = ["MARK", "Group", "end_strays", "find_strays"]

#: The variable that holds the mark.
MARK = "SIGHTLINE_TREE"
#: Where the fields of /proc/PID/stat lie behind the name.
_STATE, _GROUP, _BEGAN = 0, 2, 19


class Group(NamedTuple):
    """A process group, by its leader and when that began, in ticks of the system."""

    leader: int
    began: bytes

    @classmethod
    def of(cls, leader: int) -> "Group | None":
        """The group of a command that has just started; ``None`` if it has ended already."""
        try:
            return cls(leader, _fields(leader)[_BEGAN])
        except (OSError, IndexError):
            return None

    def has_another_leader(self) -> bool:
        """Whether the number was given to another process meanwhile.

        The system does not, as long as anything is left in the group.
        """
        now = Group.of(self.leader)
        return now is not None and now != self


def end_strays(mark: str, group: Group | None) -> bool:
    """Ends what is left, in the usual order. Whether nothing is left. Blocks; use a thread."""
    return end(lambda: find_strays(mark, group), _nothing_to_reap)


def find_strays(mark: str, group: Group | None) -> list[int]:
    """The processes that carry the mark or belong to the group, where it is known."""
    if not os.path.isdir("/proc/self"):
        return []  # elsewhere only a living keeper tells what is below it
    wanted = f"{MARK}={mark}".encode()
    number = None if group is None or group.has_another_leader() else b"%d" % group.leader
    others = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in others if pid != os.getpid() and _is_stray(pid, wanted, number)]


def _is_stray(pid: int, wanted: bytes, group: bytes | None) -> bool:
    try:
        fields = _fields(pid)
        if fields[_STATE] == b"Z":
            return False
        if fields[_GROUP] == group:
            return True
        with open(f"/proc/{pid}/environ", "rb") as file:
            return wanted in file.read().split(b"\0")
    except (OSError, IndexError):
        return False  # it ended, or belongs to another user


def _fields(pid: int) -> list[bytes]:
    with open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()


def _nothing_to_reap() -> None:
    """Strays are children of somebody else, who collects them."""
