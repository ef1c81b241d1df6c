"""One inotify descriptor: add watches, drain events without blocking.

The kernel queues an event before the call that caused it returns, so whoever drains this
descriptor after an edit has finished sees that edit. Nothing is interpreted here.
"""

import ctypes
import errno
import os
import select
import struct
import sys
from typing import NamedTuple

__all__ = ["Event", "Inotify", "Mask", "WatchLimit"]


class Mask:
    MODIFY = 0x0002
    ATTRIB = 0x0004
    CLOSE_WRITE = 0x0008
    MOVED_FROM = 0x0040
    MOVED_TO = 0x0080
    CREATE = 0x0100
    DELETE = 0x0200
    DELETE_SELF = 0x0400
    MOVE_SELF = 0x0800
    UNMOUNT = 0x2000
    OVERFLOW = 0x4000
    IGNORED = 0x8000
    ONLYDIR = 0x0100_0000
    DONT_FOLLOW = 0x0200_0000
    EXCL_UNLINK = 0x0400_0000
    ISDIR = 0x4000_0000

    GONE = DELETE | MOVED_FROM
    CAME = CREATE | MOVED_TO
    WATCHED = (
        MODIFY | ATTRIB | CLOSE_WRITE | GONE | CAME | DELETE_SELF | MOVE_SELF
        | ONLYDIR | DONT_FOLLOW | EXCL_UNLINK
    )  # fmt: skip


class WatchLimit(OSError):
    """The user's watch limit is reached, or inotify is not there."""


class Event(NamedTuple):
    watch: int
    mask: int
    name: str


_HEADER = struct.Struct("iIII")
_BUFFER = 1 << 18


class Inotify:
    def __init__(self) -> None:
        if sys.platform != "linux":
            raise WatchLimit("no inotify on this system")
        # Which not every system has, and which cannot be loaded once descriptors have run out.
        import fcntl
        import termios

        self._ioctl, self._how_much = fcntl.ioctl, termios.FIONREAD
        self._libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor: int = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.descriptor < 0:
            raise WatchLimit(os.strerror(ctypes.get_errno()))
        self._queue = select.poll()
        self._queue.register(self.descriptor, select.POLLIN)

    def watch(self, folder: str) -> int:
        """Watches one folder (not what is below it) and returns the watch's number."""
        number: int = self._libc.inotify_add_watch(
            self.descriptor, os.fsencode(folder), ctypes.c_uint32(Mask.WATCHED)
        )
        if number < 0:
            code = ctypes.get_errno()
            kind = WatchLimit if code in (errno.ENOSPC, errno.ENOMEM) else OSError
            raise kind(code, os.strerror(code), folder)
        return number

    def unwatch(self, number: int) -> None:
        self._libc.inotify_rm_watch(self.descriptor, number)

    def drain(self) -> list[Event]:
        """Every event that is queued now. Mostly there is none, and asking so is the cheapest.

        What comes meanwhile belongs to later calls: a program that writes all the time would keep
        this one for ever.
        """
        events: list[Event] = []
        left = self._queued() if self._queue.poll(0) else 0
        while left > 0:
            buffer = os.read(self.descriptor, _BUFFER)
            left -= len(buffer)
            offset = 0
            while offset < len(buffer):
                number, mask, _, size = _HEADER.unpack_from(buffer, offset)
                offset += _HEADER.size
                name = os.fsdecode(buffer[offset : offset + size].rstrip(b"\0"))
                offset += size
                events.append(Event(number, mask, name))
        return events

    def _queued(self) -> int:
        """How many bytes of events are queued."""
        told = self._ioctl(self.descriptor, self._how_much, bytes(4))
        return int.from_bytes(told, sys.byteorder)

    @property
    def closed(self) -> bool:
        return self.descriptor < 0

    def close(self) -> None:
        if not self.closed:
            os.close(self.descriptor)
            self.descriptor = -1
