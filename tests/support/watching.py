"""Waiting for a change in a folder, by what the kernel announces of it.

For files that another process writes: the log of the scripted language server, the file that lets
its answer go. Imports nothing of the tests, so that a program that runs by itself can have it.

``wait_for(lambda: file.exists(), file.parent)`` returns what the condition gave, once it is true.
"""

import asyncio
import ctypes
import os
import select
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

__all__ = ["HANG_S", "until", "wait_for"]

T = TypeVar("T")

_LIBC = ctypes.CDLL(None, use_errno=True)
#: Written, closed after writing, come by a new name, made.
_EVENTS = 0x2 | 0x8 | 0x80 | 0x100
#: How long a test waits for what must come: only a hang reaches it, on the busiest machine.
HANG_S = 120.0


def wait_for(condition: Callable[[], T], folder: Path, seconds: float = HANG_S) -> T:
    """What the condition gives, as soon as a change in this folder makes it true."""
    deadline = time.monotonic() + seconds
    with _watched(folder) as changes:
        while not (found := condition()):
            ready, _, _ = select.select([changes], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"nothing came in {folder}"
            os.read(changes, 65_536)
    return found


async def until(condition: Callable[[], T], folder: Path, seconds: float = HANG_S) -> T:
    """Like ``wait_for``, while the event loop runs on."""
    loop, changed = asyncio.get_running_loop(), asyncio.Event()
    with _watched(folder) as changes:

        def take() -> None:
            os.read(changes, 65_536)
            changed.set()

        loop.add_reader(changes, take)
        try:
            async with asyncio.timeout(seconds):
                while not (found := condition()):
                    await changed.wait()
                    changed.clear()
        finally:
            loop.remove_reader(changes)
    return found


@contextmanager
def _watched(folder: Path) -> Iterator[int]:
    """Before the first look, so that no change falls between."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = _LIBC.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
    assert descriptor >= 0, os.strerror(ctypes.get_errno())
    try:
        if _LIBC.inotify_add_watch(descriptor, os.fsencode(folder), _EVENTS) < 0:
            raise OSError(ctypes.get_errno(), "inotify_add_watch", str(folder))
        yield descriptor
    finally:
        os.close(descriptor)
