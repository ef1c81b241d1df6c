"""A lock on an open file that one process at a time has, without waiting for it.

It ends with the last descriptor of the file that the process has, however the process ends. What a
disk without locks answers is an ``OSError``: whoever asked knows what to do without one.

>>> import tempfile
>>> with tempfile.TemporaryFile() as file:
...     try_lock(file.fileno())
True
"""

import os
import sys

__all__ = ["lies_at", "try_lock"]


def try_lock(descriptor: int) -> bool:
    """Takes the lock, if nobody else has it."""
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def lies_at(descriptor: int, path: str | os.PathLike[str]) -> bool:
    """Whether an open file is still the one that others would find and lock."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except OSError:
        return False
