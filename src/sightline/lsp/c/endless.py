"""Includes that lead to no file: to a pipe, a device, or what a process has open.

Whoever opens such a thing to read it waits, for ever where nobody writes to it; a server that does
answers nobody about the project any more, and by ``/dev/stdin`` it would read what it is told. So
what reaches one is not given to it. What an include may mean is guessed widely: where something
else is found before it, it counts, too. Nothing is opened here: folders are listed, and links are
followed by their names.

>>> [leads_nowhere(path) for path in ("/dev/stdin", "/dev/null", "/proc/self/fd/0", "/usr")]
[True, False, True, False]
"""

import os
import stat
from collections.abc import Collection, Iterable, Mapping

from sightline.contract.uris import is_under

__all__ = ["Endless", "leads_nowhere"]

#: What these hold differs from process to process, and never ends, or blocks.
_NO_FOLDERS = ("/dev", "/proc")
#: It ends at once.
_NOTHING = "/dev/null"
#: A folder that anybody may keep files in.
_MEMORY = "/dev/shm"  # noqa: S108 - nothing is written there
#: Only somebody who may install things puts something there.
_OF_SYSTEM = ("/usr/", "/lib/", "/opt/")
#: As many links as the kernel follows.
_MAX_LINKS = 40


def leads_nowhere(path: str) -> bool:
    """Whether a path leads to something that is neither a regular file nor a folder. What is not
    there is harmless.
    """
    place, links = "/", 0
    waiting = path.split("/")[::-1]
    try:
        while waiting and links <= _MAX_LINKS:
            name = waiting.pop()
            place = os.path.dirname(place) if name == ".." else os.path.join(place, name)
            if _is_special(place):
                return place.rstrip("/") != _NOTHING
            mode = os.lstat(place).st_mode
            if stat.S_ISLNK(mode):
                links += 1
                waiting += os.readlink(place).split("/")[::-1]
                # What it says begins beside it, or at the top.
                place = "/" if waiting[-1] == "" else os.path.dirname(place)
            elif not stat.S_ISDIR(mode):
                return not stat.S_ISREG(mode)
    except (OSError, ValueError):
        return False
    return False


class Endless:
    """Looks for them, in each folder once. ``folders``: where headers are looked for."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._folders = [each for each in folders if not each.startswith(_OF_SYSTEM)]
        self._known: dict[str, frozenset[str] | None] = {}
        #: By the way from a folder, those of them where it leads to something suspicious.
        self._ways: dict[str, list[str]] = {}
        #: Where one was found, and as what.
        self.places: set[str] = set()
        self.names: set[str] = set()

    def among(self, includes: Mapping[str, Collection[str]]) -> set[str]:
        """The files that are such a thing, or have an include that may lead to one."""
        anywhere: dict[str, bool] = {}
        found: set[str] = set()
        for path, occurring in includes.items():
            own, name = os.path.split(path)
            if self._is_one(own, name):
                found.add(path)
            for include in occurring:
                name = include[1:]
                if name not in anywhere:
                    some = self._suspicious(os.path.dirname(name))
                    anywhere[name] = any(self._is_one(each, name) for each in some)
                if anywhere[name] or (include.startswith('"') and self._is_one(own, name)):
                    found.add(path)
        return found

    def _suspicious(self, way: str) -> list[str]:
        """The folders in which this way leads to where such a thing is: mostly none."""
        if way not in self._ways:
            places = ((folder, self._names(_joined(folder, way))) for folder in self._folders)
            self._ways[way] = [folder for folder, names in places if names is None or names]
        return self._ways[way]

    def _is_one(self, base: str, include: str) -> bool:
        way, name = os.path.split(include)
        folder = _joined(base, way)
        names = self._names(folder)
        found = leads_nowhere(f"{folder}/{name}") if names is None else name in names
        if found:
            self.places.add(f"{folder}/{name}")
            self.names.add(include)
        return found

    def _names(self, folder: str) -> frozenset[str] | None:
        """The names in a folder that lead to one; ``None`` where every name may."""
        if folder not in self._known:
            self._known[folder] = _names_in(folder)
        return self._known[folder]


def _joined(folder: str, way: str) -> str:
    return os.path.normpath(os.path.join(folder, way)) if way else folder


def _is_special(path: str) -> bool:
    """Whether a path is one of what processes have open, or of what machines have."""
    return not is_under(path, _MEMORY) and any(
        is_under(path, each) and path.rstrip("/") != each for each in _NO_FOLDERS
    )


def _names_in(folder: str) -> frozenset[str] | None:
    if _is_special(f"{os.path.realpath(folder)}/."):
        return None
    try:
        with os.scandir(folder) as entries:
            odd = [each.name for each in entries if not _is_plain(each)]
    except (OSError, ValueError):
        return frozenset()
    return frozenset(name for name in odd if leads_nowhere(f"{folder}/{name}"))


def _is_plain(entry: "os.DirEntry[str]") -> bool:
    return entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)
