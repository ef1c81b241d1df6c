"""The folders that servers work in, outside the workspace: one for each project and server.

What a server keeps there is true of what was read for it and of the flags that it was given, and
several Sightlines may work on a root at once: in two editors, or with and without trust. Whoever
found in such a folder what another one has written meanwhile would believe it. So a folder is held
by one Sightline at a time, and the next one takes the next folder; the first that is free is taken,
so that what was kept is used again. The hold is a lock of the system: it ends with whoever has it,
however that ends. There are as many folders as were ever needed at once.
"""

import errno
import os
import threading
from pathlib import Path

from sightline.contract.failures import Unavailable
from sightline.process.file_locks import lies_at, try_lock

__all__ = ["Slots"]

#: Its name is no server's: nobody else writes it.
_LOCK = ".held"
#: So many folders are tried: more are not held at once, but a disk may be odd about locks.
_MOST = 256
#: What file systems say that have no locks: some remote ones, by how they are mounted.
_NO_LOCKS = frozenset((errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP))
_UNLOCKABLE = (
    "the cache folder of Sightline is on a file system without locks; set XDG_CACHE_HOME to a "
    "folder on another one"
)


class Slots:
    """What one Sightline holds, until it lets go of everything."""

    def __init__(self) -> None:
        self._taking = threading.Lock()
        #: The folder that is held of each, and what holds it.
        self._held: dict[Path, tuple[Path, int]] = {}
        self._released = False

    def take(self, place: Path) -> Path:
        """The folder that is held for a place: this one, or another beside it."""
        with self._taking:
            if self._released:  # a start that nobody waits for any more
                raise Unavailable("Sightline is ending; start it again")
            folder, lock = self._held.get(place, (place, -1))
            if lock >= 0:
                if lies_at(lock, folder / _LOCK):
                    return folder
                os.close(lock)  # somebody has cleared the cache
                del self._held[place]
            for number in range(1, _MOST + 1):
                folder = place if number == 1 else place.with_name(f"{place.name}-{number}")
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                found = _hold(folder / _LOCK)
                if found is not None:
                    self._held[place] = folder, found
                    return folder
            raise Unavailable(_UNLOCKABLE)

    def release(self) -> None:
        """For others to take, for good. No server may be running in one of them."""
        with self._taking:
            self._released = True
            for _, lock in self._held.values():
                os.close(lock)
            self._held.clear()


def _hold(file: Path) -> int | None:
    """What holds a file from now on, if nobody else does."""
    lock = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    is_held = False
    try:
        is_held = try_lock(lock) and lies_at(lock, file)
    except OSError as error:
        if error.errno in _NO_LOCKS:
            raise Unavailable(_UNLOCKABLE) from None
        raise
    finally:
        if not is_held:
            os.close(lock)
    return lock if is_held else None
