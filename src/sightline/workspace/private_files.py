"""Small files that belong to one user: read with suspicion, written whole.

A file is opened without following a link, checked on the open descriptor (regular, one's own, no
bit for others) and read up to a bound. It is written beside its place and then put there, so that
nobody ever sees half of it. Nothing here is ever inside a workspace.
"""

import errno
import os
import stat
from pathlib import Path

__all__ = ["NotPrivate", "read_private", "write_private"]

_READ = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
)
_WRITE = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)


class NotPrivate(Exception):
    """A file that cannot be trusted. The text ends a sentence that begins with its name."""


def read_private(path: Path, limit: int) -> bytes:
    """The file's bytes, at most ``limit`` and one more. ``FileNotFoundError`` if there is none."""
    try:
        descriptor = os.open(path, _READ)
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise NotPrivate("is a link; remove it") from None
        raise NotPrivate(f"cannot be opened ({error.strerror}); check its permissions") from None
    try:
        _check(os.fstat(descriptor))
        raw = bytearray()
        while len(raw) <= limit and (chunk := os.read(descriptor, limit + 1 - len(raw))):
            raw += chunk
        return bytes(raw)
    finally:
        os.close(descriptor)


def write_private(path: Path, data: bytes, *, exclusive: bool = False) -> None:
    """Puts a complete file in place; ``exclusive``: only if there is none."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = path.parent / f".{path.name}.{os.urandom(8).hex()}"
    descriptor = os.open(made, _WRITE, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        if exclusive:
            _put_first(made, path)
        else:
            os.replace(made, path)
    finally:
        made.unlink(missing_ok=True)


def _check(status: os.stat_result) -> None:
    """What the open file is, whatever its name says by now."""
    if not stat.S_ISREG(status.st_mode):
        raise NotPrivate("is not a regular file; remove it")
    if hasattr(os, "getuid"):
        if status.st_uid != os.getuid():
            raise NotPrivate("belongs to another user; remove it")
        if status.st_mode & 0o077:
            raise NotPrivate("is open to others; chmod 600 it")


def _put_first(made: Path, path: Path) -> None:
    """Gives a finished file its name unless somebody has that name by now."""
    try:
        os.link(made, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        os.replace(made, path)
