"""Which file systems announce every change to inotify, and which are mounted below a root.

Changes made by another machine (NFS, SMB), by the Windows side of WSL (9p, drvfs) or inside a FUSE
daemon are not announced. A root on, or with, such a mount is swept instead. That something is
mounted over a folder is announced by no watch of it, but by the system's list of mounts.
"""

import select
import sys
from typing import NamedTuple

__all__ = ["Mounts", "silent_mounts"]

_TABLE = "/proc/self/mountinfo"

#: File systems of which the kernel sees every change.
_ANNOUNCING = frozenset(
    """
    bcachefs btrfs erofs exfat ext2 ext3 ext4 f2fs iso9660 jfs nilfs2 overlay ramfs reiserfs
    squashfs tmpfs ubifs udf vfat xfs zfs
    """.split()
)


def silent_mounts(top: str, table: str | None = None) -> list[str]:
    """The mount points on or below ``top`` whose changes may not be announced."""
    if table is None:
        if sys.platform != "linux":
            return [top]
        try:
            with open(_TABLE, encoding="utf-8", errors="surrogateescape") as file:
                table = file.read()
        except OSError:
            return [top]
    mounts = {mount.point: mount.kind for mount in _entries(table)}  # a later one hides an earlier
    own = max((point for point in mounts if _covers(point, top)), key=len, default=None)
    silent = [] if own is not None and mounts[own] in _ANNOUNCING else [top]
    below = [point for point in mounts if point != top and _covers(top, point)]
    return silent + sorted(point for point in below if mounts[point] not in _ANNOUNCING)


class Mounts:
    """What is mounted below a folder, and whether that is still so."""

    def __init__(self, top: str) -> None:
        self._top = top
        self._file = open(_TABLE, "rb", buffering=0)  # noqa: SIM115
        self._news = select.poll()
        self._news.register(self._file, select.POLLPRI | select.POLLERR)
        self._below = self._read()

    def have_changed(self) -> bool:
        """Whether there are others than when somebody last asked."""
        if not self._news.poll(0):  # of all mounts of the system; each change is told once
            return False
        before, self._below = self._below, self._read()
        return self._below != before

    def close(self) -> None:
        self._file.close()

    def _read(self) -> list[str]:
        self._file.seek(0)
        table = self._file.readall().decode("utf-8", "surrogateescape")
        return [mount.line for mount in _entries(table) if _covers(self._top, mount.point)]


class _Mount(NamedTuple):
    point: str
    kind: str
    line: str


def _entries(table: str) -> list[_Mount]:
    entries: list[_Mount] = []
    for line in table.splitlines():
        left, _, right = line.partition(" - ")
        columns, kinds = left.split(" "), right.split(" ")
        if len(columns) >= 5 and kinds[0]:
            point = columns[4].replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
            entries.append(_Mount(point, kinds[0], line))
    return entries


def _covers(point: str, path: str) -> bool:
    return point == "/" or path == point or path.startswith(point + "/")
