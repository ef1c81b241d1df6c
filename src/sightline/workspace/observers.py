"""How the changes below one root are found: announced by the kernel, or swept for.

Both observers answer one question, "what changed since you were last asked?", and both are asked
when a call begins. The watcher falls back to a sweep for whatever it cannot watch: an overflowing
queue, folders past the watch limit, mounts that do not announce. The tree of an observer is never
written to after it was put there, so other threads may read it: see ``draft``. What cannot be
looked into is an ``OSError``: nothing is told then, and everything is looked at the next time.
"""

import os
from collections.abc import Callable, Iterator
from itertools import chain

from msgspec import Struct

from sightline.workspace.changes import Change, ChangeSet
from sightline.workspace.draft import Draft
from sightline.workspace.inotify import Event, Inotify, Mask, WatchLimit
from sightline.workspace.mounts import Mounts, silent_mounts
from sightline.workspace.sweeper import Scope, Sweeper
from sightline.workspace.tree import (
    HIDDEN,
    Suspects,
    Tree,
    differences,
    file_count,
    is_absent,
    is_suspect,
    read_folder,
    stamp_now,
)

__all__ = ["Observer", "Scope", "Sweeper", "Watcher", "observe", "suspects_of"]


class Watcher(Struct, eq=False):
    """Reads the kernel's announcements."""

    top: str
    inotify: Inotify
    #: Mounts over a watched folder are announced by the system alone.
    mounts: Mounts
    tree: Tree = {}
    #: What may be an obstacle, by folder, where it is announced.
    suspects: Suspects = {}
    reason: str = ""
    scope: Scope = Scope()
    #: By the outermost folder, the parts that could not be watched. Nothing below is watched, so
    #: that everything in the root is either announced or swept for.
    swept: dict[str, Sweeper] = {}
    #: Whether what is announced is within the scope.
    _is_within: bool = True
    #: Whether all that was announced so far has been looked at.
    _is_sure: bool = True
    _paths: dict[int, str] = {}
    _numbers: dict[str, int] = {}
    _silent: frozenset[str] = frozenset()
    #: Which folder the watches are in.
    _identity: tuple[int, int] | None = None
    #: The file system on which there were files at the last look that found any.
    device: int | None = None

    @property
    def sweeps(self) -> bool:
        return bool(self.swept)

    @property
    def complete(self) -> bool:
        return self._is_within and all(part.complete for part in self.swept.values())

    def start(self) -> None:
        self._hold(self._enter_anew())

    def changes(self) -> list[Change]:
        was_sure, self._is_sure = self._is_sure, False  # whatever breaks this off
        events = self.inotify.drain()
        is_other = self.mounts.have_changed() or self._identity != _identity(self.top)
        if is_other or not was_sure or any(map(self._is_lost, events)):
            return self.resync()
        if not events and not self.swept:
            self._is_sure = True
            return []
        draft = Draft(self.tree)
        for event in events:
            self._apply(event, draft)
        self._sweep(draft)
        self._is_sure = True
        return self._put(draft)

    def resync(self) -> list[Change]:
        """Everything watched and stamped anew: announcements were lost, or made elsewhere."""
        self._is_sure = False
        for number in self._paths:
            self.inotify.unwatch(number)
        self._paths, self._numbers, self.swept, self.suspects = {}, {}, {}, {}
        self.inotify.drain()
        before = self.tree
        self._hold(self._enter_anew())
        self._is_sure = True
        found = ChangeSet()
        found.note_all(differences(before, self.tree))
        return found.changes()

    def audit(self, found: Tree) -> list[Change]:
        """What the announcements have missed, given the tree that a scan has just found.

        The kernel announces no store through a shared memory mapping until it is unmapped.
        """
        announced = self.changes()
        if self._is_within and any(map(_is_folder, found.keys() - self.tree.keys())):
            self._is_sure = False  # one that nobody has announced is not watched, either
            return announced
        missed = Draft(self.tree)
        for path, known, _ in differences(self.tree, found):
            folder, _, name = path.rpartition("/")
            if folder in self._numbers:
                try:
                    now = stamp_now(path)
                except OSError:
                    continue  # the next audit may know
                if now != known:
                    missed.note(folder, name, now)
        return announced + self._put(missed)

    def close(self) -> None:
        """Nothing can be watched any more, which also ends a first look that is under way."""
        self.inotify.close()
        self.mounts.close()
        for part in list(self.swept.values()):
            part.close()

    def _put(self, draft: Draft) -> list[Change]:
        """The draft is the tree from now on."""
        self._hold(draft.tree)
        return draft.changes()

    def _hold(self, tree: Tree) -> None:
        self.tree = tree
        if self._identity is not None and any(tree.values()):
            self.device = self._identity[0]

    # Folders

    def _enter_anew(self) -> Tree:
        self.reason = ""
        self._silent = frozenset(silent_mounts(self.top))
        self._identity = _identity(self.top)
        return self._enter(self.top)

    def _enter(self, top: str) -> Tree:
        """Watches ``top`` and all below it, and stamps what is there.

        A folder is watched before it is read, so that nothing falls between the two.
        """
        tree: Tree = {}
        waiting, count = [top], 0
        limit = self.scope.announced if top == self.top else None
        while waiting and not self.inotify.closed:
            folder = waiting.pop()
            if folder in self._silent:
                found = self._sweep_from(folder, "a mount below the root does not announce changes")
            else:
                try:
                    is_announced = self._watch(folder)
                except WatchLimit:
                    found = self._sweep_from(folder, "the user's inotify watch limit is reached")
                except PermissionError:
                    found = {folder: {}}  # closed: what it holds is not known to be nothing
                except OSError as error:
                    if is_absent(error) or self.inotify.closed:
                        continue
                    raise
                else:
                    if is_announced:
                        files, subfolders, odd = read_folder(folder, self.top)
                        found = {folder: self.scope.keeps(folder, files)}
                        if odd:
                            self.suspects[folder] = odd
                        waiting.extend(filter(self.scope.enters, subfolders))
                    else:
                        found = self._sweep_from(folder, "a folder is in two places of the root")
            tree |= found
            count += file_count(found)
            if limit is not None and count > limit:
                self._is_within = False
                break
        return tree

    def _watch(self, folder: str) -> bool:
        """Whether what happens in a folder is announced by its name now.

        One that is mounted in two places has one watch, and one that has moved its old one.
        """
        number = self.inotify.watch(folder)
        other = self._paths.get(number, folder)
        if other != folder and _identity(other) == _identity(folder):
            return False
        self._paths[number] = folder
        self._numbers[folder] = number
        return True

    def _sweep_from(self, folder: str, reason: str) -> Tree:
        """A folder that cannot be watched is swept from now on, with all that is below it."""
        left = self.scope.swept - sum(file_count(part.tree) for part in self.swept.values())
        part = self.swept[folder] = Sweeper(folder, reason, self.scope)
        self.reason = reason
        part.start(left)
        return part.tree

    def _leave(self, folder: str, draft: Draft) -> None:
        """Forgets one folder and the files directly in it."""
        self.suspects.pop(folder, None)
        number = self._numbers.pop(folder, None)
        if number is not None and self._paths.get(number) == folder:
            del self._paths[number]
            self.inotify.unwatch(number)
        part = self.swept.pop(folder, None)
        if part is not None:
            for below in part.tree:
                draft.drop(below)
        draft.drop(folder)

    def _leave_all(self, top: str, draft: Draft) -> None:
        """Forgets a folder that has moved away, and everything below it."""
        prefix = top + "/"
        for folder in [f for f in draft.tree if f == top or f.startswith(prefix)]:
            self._leave(folder, draft)

    # Events

    def _is_lost(self, event: Event) -> bool:
        """Whether announcements were lost, or the watched folder itself came or went."""
        if event.mask & (Mask.OVERFLOW | Mask.UNMOUNT):
            return True
        is_top = self._paths.get(event.watch) == self.top
        return is_top and bool(event.mask & (Mask.DELETE_SELF | Mask.MOVE_SELF))

    def _apply(self, event: Event, draft: Draft) -> None:
        folder = self._paths.get(event.watch)
        if folder is None:
            return
        if event.mask & Mask.IGNORED:
            del self._paths[event.watch]
            self._numbers.pop(folder, None)
        elif not event.name:
            pass  # a folder below the root: its parent announces what became of it
        else:
            path = f"{folder}/{event.name}"
            if not event.mask & Mask.ISDIR or event.name == HIDDEN:
                self._suspect(folder, path)
            if event.mask & Mask.ISDIR:
                self._apply_folder(event, path, draft)
            elif self.scope.tracks(folder, event.name):
                draft.note(folder, event.name, stamp_now(path))

    def _suspect(self, folder: str, path: str) -> None:
        """Notes whether an entry may be an obstacle now."""
        try:
            may_be = is_suspect(path, os.lstat(path), self.top)
        except OSError:
            may_be = False
        if may_be:
            self.suspects.setdefault(folder, set()).add(path)
        elif folder in self.suspects:
            self.suspects[folder].discard(path)

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
        return folder not in self._numbers and folder not in self.swept

    def _sweep(self, draft: Draft) -> None:
        """What was found where nothing is announced."""
        left = self.scope.swept
        for part in self.swept.values():
            before = part.tree
            for path, _, stamp in part.look(left):
                folder, _, name = path.rpartition("/")
                draft.note(folder, name, stamp)
            for folder in before.keys() - part.tree.keys():
                draft.drop(folder)
            for folder in part.tree.keys() - before.keys():
                draft.put(folder, part.tree[folder])
            left -= file_count(part.tree)


Observer = Sweeper | Watcher


def suspects_of(observer: Observer) -> Iterator[str]:
    """The paths of what may be an obstacle, in the parts that are swept, too."""
    found = list(observer.suspects.values())
    if isinstance(observer, Watcher):
        found += chain.from_iterable(part.suspects.values() for part in observer.swept.values())
    return chain.from_iterable(found)


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
        inotify = make()
    except WatchLimit as limit:
        return Sweeper(top, f"inotify cannot be used: {limit.strerror or limit}", scope)
    try:
        return Watcher(top, inotify, Mounts(top), scope=scope or Scope())
    except OSError:
        inotify.close()
        return Sweeper(top, "the system does not tell what is mounted", scope)


def _is_folder(path: str) -> bool:
    """Whether there is a folder, and no link on the way to it."""
    return os.path.isdir(path) and os.path.realpath(path) == path


def _identity(folder: str) -> tuple[int, int] | None:
    """Which folder has a name now: another one may take its place, or that of one above it."""
    try:
        status = os.stat(folder)
    except OSError:
        return None
    return status.st_dev, status.st_ino
