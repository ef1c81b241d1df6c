"""How the changes below one root are found: announced by the kernel, or swept for.

Both observers answer one question, "what changed since you were last asked?", and both are asked
when a call begins. The watcher falls back to a sweep for whatever it cannot watch: an overflowing
queue, folders past the watch limit, mounts that do not announce. The tree of an observer is never
written to after it was put there, so other threads may read it: see ``draft``.
"""

import hashlib
import os
import time
from collections.abc import Callable

from msgspec import Struct

from sightline.workspace.changes import Change, ChangeSet
from sightline.workspace.draft import Draft
from sightline.workspace.inotify import Event, Inotify, Mask, WatchLimit
from sightline.workspace.mounts import silent_mounts
from sightline.workspace.regular import open_regular
from sightline.workspace.tree import (
    HIDDEN,
    MAX_FILES,
    RACY_NS,
    Tree,
    differences,
    is_tracked,
    read_folder,
    scan,
    stamp_of,
)

__all__ = ["Observer", "Scope", "Sweeper", "Watcher", "observe"]

#: Where packages are installed.
_STORES = ("/node_modules/", "/site-packages/")


class Scope(Struct, frozen=True):
    """How much of a folder is observed."""

    #: Folders in it that are observed by others.
    skip: frozenset[str] = frozenset()
    #: Whether of installed packages only the outermost folder is looked at.
    shallow: bool = False
    #: Where there are more files than this the observer is not complete: if they are announced, or
    #: if they must be swept for.
    announced: int | None = None
    swept: int = MAX_FILES

    def enters(self, folder: str) -> bool:
        """Whether a folder inside is observed."""
        return folder not in self.skip and not (self.shallow and _is_deep(folder))


def _is_deep(folder: str) -> bool:
    """Whether a folder lies inside that of an installed package.

    >>> [_is_deep(f"/p/node_modules/{name}") for name in ("a", "a/lib", "@s/a", "@s/a/lib")]
    [False, True, False, True]
    """
    for store in _STORES:
        _, found, inside = folder.rpartition(store)
        if found:
            return inside.count("/") > inside.startswith("@")
    return False


class Sweeper:
    """Stamps every tracked file on each question."""

    sweeps = True

    def __init__(self, top: str, reason: str, scope: "Scope | None" = None) -> None:
        self.top = top
        self.reason = reason
        self.scope = scope or Scope()
        self.tree: Tree = {}
        self.complete = True
        self._closed = False
        self._racy: dict[str, bytes] = {}

    def start(self) -> None:
        now = time.time_ns()
        self.tree, self.complete = self._scan()
        self._note_racy(now)

    def changes(self) -> list[Change]:
        now = time.time_ns()
        before = self.tree
        self.tree, self.complete = self._scan()
        found = ChangeSet()
        found.note_all(differences(before, self.tree))
        for path, content in self._racy.items():
            if _content_hash(path) != content:
                stamp = stamp_of(path)
                found.note(path, stamp, stamp)
        self._note_racy(now)
        return found.changes()

    def audit(self, found: Tree) -> list[Change]:
        return []  # every question is an audit already

    def close(self) -> None:
        """Ends a scan that is under way, too."""
        self._closed = True
        self.tree = {}

    def _scan(self) -> tuple[Tree, bool]:
        scope = self.scope
        return scan(self.top, scope.swept, lambda: self._closed, scope.enters)

    def _note_racy(self, now: int) -> None:
        self._racy = {
            path: _content_hash(path)
            for folder, files in self.tree.items()
            for name, stamp in files.items()
            if now - stamp.ctime_ns < RACY_NS
            for path in (f"{folder}/{name}",)
        }


class Watcher(Struct, eq=False):
    """Reads the kernel's announcements."""

    top: str
    inotify: Inotify
    tree: Tree = {}
    complete: bool = True
    reason: str = ""
    scope: Scope = Scope()
    #: Folders that could not be watched. They are swept.
    unwatched: set[str] = set()
    _paths: dict[int, str] = {}
    _numbers: dict[str, int] = {}
    _silent: list[str] = []
    #: Which folder the watches are in.
    _identity: tuple[int, int] | None = None

    @property
    def sweeps(self) -> bool:
        return bool(self.unwatched)

    def start(self) -> None:
        self._silent = silent_mounts(self.top)
        self._identity = _identity(self.top)
        self.tree = self._enter(self.top)

    def changes(self) -> list[Change]:
        events = self.inotify.drain()
        if self._identity != _identity(self.top) or any(map(self._is_lost, events)):
            return self.resync()
        if not events and not self.unwatched:
            return []
        draft = Draft(self.tree)
        for event in events:
            self._apply(event, draft)
        if self.unwatched:
            self._sweep_unwatched(draft)
        return self._put(draft)

    def resync(self) -> list[Change]:
        """Everything watched and stamped anew: announcements were lost, or made elsewhere."""
        for number in self._paths:
            self.inotify.unwatch(number)
        self._paths, self._numbers, self.unwatched = {}, {}, set()
        self.inotify.drain()
        self._identity = _identity(self.top)
        before, self.tree = self.tree, self._enter(self.top)
        found = ChangeSet()
        found.note_all(differences(before, self.tree))
        return found.changes()

    def audit(self, found: Tree) -> list[Change]:
        """What the announcements have missed, given the tree that a scan has just found.

        The kernel announces no store through a shared memory mapping until it is unmapped.
        """
        announced = self.changes()
        missed = Draft(self.tree)
        for path, known, _ in differences(self.tree, found):
            now = stamp_of(path)
            if now != known:
                folder, _, name = path.rpartition("/")
                missed.note(folder, name, now)
        return announced + self._put(missed)

    def close(self) -> None:
        """Nothing can be watched any more, which also ends a first look that is under way."""
        self.inotify.close()

    def _put(self, draft: Draft) -> list[Change]:
        """The draft is the tree from now on."""
        self.tree = draft.tree
        return draft.changes()

    # Folders

    def _enter(self, top: str) -> Tree:
        """Watches ``top`` and all below it, and stamps what is there.

        A folder is watched before it is read, so that nothing falls between the two.
        """
        tree: Tree = {}
        waiting, count = [top], 0
        limit = self.scope.announced if top == self.top else None
        while waiting:
            folder = waiting.pop()
            if any(folder == mount or folder.startswith(mount + "/") for mount in self._silent):
                self.unwatched.add(folder)
                self.reason = "a mount below the root does not announce changes"
            else:
                try:
                    is_there = self._watch(folder)
                except PermissionError:
                    tree[folder] = {}  # there, and closed: what it holds is not known to be nothing
                    continue
                if not is_there:
                    continue
            tree[folder], subfolders = read_folder(folder)
            count += len(tree[folder])
            if limit is not None and count > limit:
                self.complete = False
                break
            waiting.extend(filter(self.scope.enters, subfolders))
        return tree

    def _watch(self, folder: str) -> bool:
        """Whether the folder is there to be read; a ``PermissionError`` if it is closed."""
        try:
            number = self.inotify.watch(folder)
        except WatchLimit:
            self.unwatched.add(folder)
            self.reason = "the user's inotify watch limit is reached"
            return True
        except PermissionError:
            raise
        except OSError:
            return False
        self._paths[number] = folder
        self._numbers[folder] = number
        return True

    def _leave(self, folder: str, draft: Draft) -> None:
        """Forgets one folder and the files directly in it."""
        number = self._numbers.pop(folder, None)
        if number is not None and self._paths.get(number) == folder:
            del self._paths[number]
            self.inotify.unwatch(number)
        self.unwatched.discard(folder)
        draft.drop(folder)

    def _leave_all(self, top: str, draft: Draft) -> None:
        """Forgets a folder that has moved away, and everything below it."""
        prefix = top + "/"
        for folder in [f for f in draft.tree if f == top or f.startswith(prefix)]:
            self._leave(folder, draft)

    # Events

    def _is_lost(self, event: Event) -> bool:
        """Whether announcements were lost, or the watched folder itself came or went."""
        gone = Mask.DELETE_SELF | Mask.MOVE_SELF | Mask.UNMOUNT
        is_top = self._paths.get(event.watch) == self.top
        return bool(event.mask & Mask.OVERFLOW or (is_top and event.mask & gone))

    def _apply(self, event: Event, draft: Draft) -> None:
        folder = self._paths.get(event.watch)
        if folder is None:
            return
        if event.mask & Mask.IGNORED:
            del self._paths[event.watch]
            self._numbers.pop(folder, None)
        elif event.mask & Mask.UNMOUNT:
            self._leave_all(folder, draft)
        elif not event.name:
            pass  # a folder below the root: its parent announces what became of it
        elif event.mask & Mask.ISDIR:
            self._apply_folder(event, f"{folder}/{event.name}", draft)
        elif is_tracked(event.name):
            draft.note(folder, event.name, stamp_of(f"{folder}/{event.name}"))

    def _apply_folder(self, event: Event, path: str, draft: Draft) -> None:
        if event.name == HIDDEN or not self.scope.enters(path):
            return
        if event.mask & Mask.DELETE:
            self._leave(path, draft)  # only an empty folder can be deleted
        elif event.mask & Mask.MOVED_FROM:
            self._leave_all(path, draft)
        elif event.mask & Mask.CAME or self._is_opened(path):
            if path in draft.tree:
                self._leave_all(path, draft)
            for folder, files in self._enter(path).items():
                draft.put(folder, files)

    def _is_opened(self, folder: str) -> bool:
        """Whether something happened to a folder that was closed to us so far."""
        return folder not in self._numbers and folder not in self.unwatched

    def _sweep_unwatched(self, draft: Draft) -> None:
        after: Tree = {}
        waiting = sorted(self.unwatched)
        while waiting:
            folder = waiting.pop()
            if folder not in after and os.path.isdir(folder):
                after[folder], subfolders = read_folder(folder)
                entered = filter(self.scope.enters, subfolders)
                waiting.extend(f for f in entered if f not in self._numbers)
        for folder in self.unwatched - after.keys():
            draft.drop(folder)
        for folder, files in after.items():
            draft.put(folder, files)
        self.unwatched = set(after)


Observer = Sweeper | Watcher


def observe(
    top: str,
    *,
    notify: bool = True,
    scope: Scope | None = None,
    make: Callable[[], Inotify] = Inotify,
) -> Observer:
    """The best observer for a folder: announced where possible, else swept, with the reason."""
    if not notify:
        return Sweeper(top, "asked for", scope)
    if top in silent_mounts(top):
        return Sweeper(top, "its file system does not announce changes", scope)
    try:
        return Watcher(top, make(), scope=scope or Scope())
    except WatchLimit as limit:
        return Sweeper(top, f"inotify cannot be used: {limit.strerror or limit}", scope)


def _identity(folder: str) -> tuple[int, int] | None:
    """Which folder has a name now: another one may take its place, or that of one above it."""
    try:
        status = os.stat(folder)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _content_hash(path: str) -> bytes:
    file = open_regular(path, links=False)
    if file is None:
        return b""
    with file:
        try:
            return hashlib.file_digest(file, "blake2b").digest()
        except OSError:
            return b""
