"""Which file systems announce every change to inotify.

Changes made by another machine (NFS, SMB), by the Windows side of WSL (9p, drvfs) or inside a FUSE
daemon are not announced. A root on, or with, such a mount is swept instead.
"""

import sys

__all__ = ["silent_mounts"]

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
            with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
                table = file.read()
        except OSError:
            return [top]
    mounts = dict(_entries(table))
    own = max((point for point in mounts if _covers(point, top)), key=len, default=None)
    silent = [] if own is not None and mounts[own] in _ANNOUNCING else [top]
    below = [point for point in mounts if point != top and _covers(top, point)]
    return silent + sorted(point for point in below if mounts[point] not in _ANNOUNCING)


def _entries(table: str) -> list[tuple[str, str]]:
    """(mount point, file system type) per line; a later mount hides an earlier one."""
    entries: list[tuple[str, str]] = []
    for line in table.splitlines():
        left, _, right = line.partition(" - ")
        columns, kinds = left.split(" "), right.split(" ")
        if len(columns) >= 5 and kinds[0]:
            point = columns[4].replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
            entries.append((point, kinds[0]))
    return entries


def _covers(point: str, path: str) -> bool:
    return point == "/" or path == point or path.startswith(point + "/")
