"""Entries of a workspace that a program must not read: named pipes, devices, and huge files.

Whoever opens a pipe waits for somebody to write to it, a device never ends, and a huge file fills
the memory. Git stores none of these, but an archive does, and a link to one is enough. The scan of
a root notes what may be one: everything that is neither a regular file nor a folder, what is too
large, links that lead out of the root, and repositories, whose ``info/exclude`` is read by whoever
heeds Git. These few are looked at whenever a call begins, since what a link leads to may change
without a word. Nothing is opened here. A socket cannot be opened, and ``/dev/null`` ends at once.

>>> [leads_to(path) for path in ("/dev/stdin", "/dev/null", "/proc/self/fd/0", "/etc/passwd")]
[<Kind.DEVICE: 'a device'>, None, <Kind.DEVICE: 'a device'>, None]
"""

import os
import stat
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum

from sightline.contract.uris import is_under
from sightline.workspace import changes
from sightline.workspace.changes import Change
from sightline.workspace.regular import open_regular
from sightline.workspace.tree import HIDDEN, MAX_READ_BYTES

__all__ = ["Kind", "Obstacles", "leads_to"]

#: A project may hold any number of links that lead out of it. So many are looked at again by each
#: call; the others when they change themselves.
_MOST = 1_024
#: As many links as the kernel follows.
_MAX_LINKS = 40
_NOTHING = "/dev/null"
#: A folder that anybody may keep files in.
_MEMORY = "/dev/shm"  # noqa: S108 - nothing is written there
#: What never ends although it is a regular file to ``stat``.
_ENDLESS_LOGS = ("kmsg",)
_POINTER = "gitdir:"
_MAX_POINTER = 4_096
#: So many entries of a folder outside are looked at, to which a link leads.
_MAX_OUTSIDE = 2_000

_State = tuple[int, ...]


class Kind(Enum):
    PIPE = "a named pipe"
    DEVICE = "a device"
    HUGE = "a huge file"


class Obstacles:
    """Those of all roots. ``look`` is called when a call begins."""

    def __init__(self) -> None:
        #: What was found at the last look, by path.
        self.found: Mapping[str, Kind] = {}
        #: By suspect: how it was when it was looked at, and what was found.
        self._known: dict[str, tuple[_State, Mapping[str, Kind]]] = {}

    def look(self, suspects: Iterable[str]) -> list[Change]:
        """Looks at what may be an obstacle. The changes are those of obstacles alone."""
        known: dict[str, tuple[_State, Mapping[str, Kind]]] = {}
        for path in suspects:
            before = self._known.get(path)
            if before is None or before[1] or len(known) < _MOST:
                state = _state(path)
                if before is None or before[0] != state:
                    before = state, dict(_obstacles(path))
            known[path] = before
        self._known = known
        was, self.found = self.found, {}
        for _, found in known.values():
            self.found |= found
        came = (Change(path, changes.Kind.CREATED) for path in self.found.keys() - was.keys())
        gone = (Change(path, changes.Kind.DELETED) for path in was.keys() - self.found.keys())
        return sorted([*came, *gone])

    def below(self, folder: str) -> list[tuple[str, Kind]]:
        """Those that lie in a folder, sorted."""
        return sorted(
            (each for each in self.found.items() if is_under(each[0], folder)),
            key=lambda each: each[0],
        )


def leads_to(path: str) -> Kind | None:
    """The obstacle that a path leads to. Links are followed by their names: what a process has open
    differs from one process to another.
    """
    place, status = _followed(path)
    if status is None:
        return Kind.DEVICE if place and place != _NOTHING and _is_device(place) else None
    return _of(status)


def _followed(path: str) -> tuple[str, os.stat_result | None]:
    """Where a path leads to, and what is there; ``None`` for a device, and where nothing is."""
    place, links = "/", 0
    status: os.stat_result | None = None
    waiting = path.split("/")[::-1]
    try:
        while waiting and links <= _MAX_LINKS:
            name = waiting.pop()
            if name in ("", "."):
                continue
            if status is not None and not stat.S_ISDIR(status.st_mode):
                return "", None  # a file is no folder
            place = os.path.dirname(place) if name == ".." else os.path.join(place, name)
            if _is_device(place):
                return place, None
            status = os.lstat(place)
            if stat.S_ISLNK(status.st_mode):
                links += 1
                target = os.readlink(place)
                place = "/" if target.startswith("/") else os.path.dirname(place)
                waiting += target.split("/")[::-1]
                status = None
    except (OSError, ValueError):
        return "", None
    return (place, status or os.lstat(place)) if links <= _MAX_LINKS else ("", None)


def _obstacles(path: str) -> Iterator[tuple[str, Kind]]:
    """The obstacles that an entry of the workspace is, or has behind it."""
    if os.path.basename(path) == HIDDEN:
        for each in _read_of_repository(os.path.dirname(path)):
            kind = leads_to(each)
            if kind is not None:
                yield each if is_under(each, path) else path, kind
        return
    kind = leads_to(path)
    if kind is not None:
        yield path, kind
        return
    place, status = _followed(path)
    if status is None or not stat.S_ISDIR(status.st_mode):
        return
    if place in ("/", "/dev") or is_under(place, "/proc"):
        yield path, Kind.DEVICE
    else:
        yield from _outside(path)


def _outside(link: str) -> Iterator[tuple[str, Kind]]:
    """The obstacles in a folder outside, as they are called from inside."""
    waiting, left = deque([link]), _MAX_OUTSIDE
    while waiting:
        try:
            entries = sorted(os.scandir(waiting.popleft()), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries[:left]:
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            elif not entry.is_file(follow_symlinks=False):
                kind = leads_to(entry.path)
                if kind is not None:
                    yield entry.path, kind
        left -= len(entries)
        if left <= 0:
            return


def _read_of_repository(folder: str) -> Iterator[str]:
    """What is read in a repository to find out what is ignored."""
    git = f"{folder}/{HIDDEN}"
    yield git
    pointer = _line(git)
    if pointer.startswith(_POINTER):
        git = os.path.join(folder, pointer[len(_POINTER) :].strip())
        yield f"{git}/commondir"
        git = os.path.join(git, _line(f"{git}/commondir").strip())
    yield f"{git}/info/exclude"


def _line(path: str) -> str:
    """What a small file says that names another one."""
    file = open_regular(path, links=True)
    if file is None:
        return ""
    with file:
        try:
            return os.fsdecode(file.read(_MAX_POINTER))
        except OSError:
            return ""


def _state(path: str) -> _State:
    """Differs when an entry, or what it leads to, may have become something else."""
    if os.path.basename(path) == HIDDEN:
        places = _read_of_repository(os.path.dirname(path))
        return tuple(number for place in places for number in _figures(place))
    return _figures(path)


def _figures(path: str) -> _State:
    figures: _State = ()
    for look in (os.lstat, os.stat):
        try:
            status = look(path)
        except (OSError, ValueError):
            return (*figures, -1)
        figures = (*figures, status.st_dev, status.st_ino, status.st_mode, status.st_ctime_ns)
        if not stat.S_ISLNK(status.st_mode):
            break
    return figures


def _of(status: os.stat_result) -> Kind | None:
    mode = status.st_mode
    if stat.S_ISFIFO(mode):
        return Kind.PIPE
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        is_null = stat.S_ISCHR(mode) and status.st_rdev == os.makedev(1, 3)
        return None if is_null else Kind.DEVICE
    return Kind.HUGE if stat.S_ISREG(mode) and status.st_size > MAX_READ_BYTES else None


def _is_device(place: str) -> bool:
    """Whether a path is one of what machines have, or of what processes have open."""
    if is_under(place, "/dev"):
        return place != "/dev" and not is_under(place, _MEMORY)
    name = os.path.basename(place)
    return is_under(place, "/proc") and ("/fd/" in place or name in _ENDLESS_LOGS)
