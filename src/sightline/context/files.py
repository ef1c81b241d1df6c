"""The files of one cache: opened with care, stamped so that a change is seen.

A file the manifest names must lie inside the cache's own folder: its name is checked first, then
the open descriptor. It must be a regular file and not too large. ``strict`` leaves the first rule
out, because v0 follows names and links wherever they lead.
"""

import os
import stat
from collections.abc import Callable
from typing import NamedTuple

from sightline.contract.limits import MAX_CONTEXT_DOCUMENT_BYTES

__all__ = ["CacheFolder", "NotInside", "Stamp"]

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_CHUNK = 1 << 20


class NotInside(Exception):
    """A file that may not be read: outside the cache, not a regular file, or too large."""


class Stamp(NamedTuple):
    """What changes when a file is written or replaced."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int

    @classmethod
    def of(cls, status: os.stat_result) -> "Stamp":
        return cls(
            status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
        )


class CacheFolder:
    def __init__(self, path: str, *, strict: bool = False) -> None:
        self.path = path
        self.strict = strict
        self._real = os.path.realpath(path)

    def path_of(self, file: str) -> str:
        """Where a file named by the manifest lies. Raises ``NotInside`` by its name alone."""
        if "\0" in file:
            raise NotInside
        if not self.strict and (not file or file[0] == "/" or ".." in file.split("/")):
            raise NotInside
        return os.path.join(self.path, file)

    def read(
        self,
        file: str,
        pause: Callable[[], None] = lambda: None,
        limit: int = MAX_CONTEXT_DOCUMENT_BYTES,
    ) -> tuple[bytes, Stamp]:
        """The bytes of a file and its stamp from before they were read."""
        path = self.path_of(file)
        try:
            descriptor = os.open(path, _FLAGS)
        except OSError:
            # The system's words would tell what there is where a link leads.
            if not self.strict and not _under(os.path.realpath(path), self._real):
                raise NotInside from None
            raise
        try:
            status = os.fstat(descriptor)
            if not self.strict and not _under(_real_path(descriptor, path), self._real):
                raise NotInside
            if stat.S_ISDIR(status.st_mode):
                os.read(descriptor, 1)  # fails, in the system's words
            if not stat.S_ISREG(status.st_mode) or status.st_size > limit:
                raise NotInside
            chunks: list[bytes] = []
            size = 0
            while chunk := os.read(descriptor, _CHUNK):
                pause()
                chunks.append(chunk)
                size += len(chunk)
                if size > limit:
                    raise NotInside
            return b"".join(chunks), Stamp.of(status)
        finally:
            os.close(descriptor)

    def read_head(self, file: str, size: int) -> bytes:
        """The first bytes of a file, before it is known what to make of it."""
        descriptor = os.open(self.path_of(file), _FLAGS)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise NotInside
            return os.read(descriptor, size)
        finally:
            os.close(descriptor)

    def size_of(self, file: str) -> int | None:
        """The size of a document's file, or ``None`` when it is not there."""
        try:
            path = self.path_of(file)
            if not self.strict and not _under(os.path.realpath(path), self._real):
                return None
            return os.stat(path).st_size
        except (OSError, NotInside):
            return None


def _real_path(descriptor: int, path: str) -> str:
    """Where an open file really lies."""
    link = f"/proc/self/fd/{descriptor}"
    return os.readlink(link) if os.path.islink(link) else os.path.realpath(path)


def _under(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")
