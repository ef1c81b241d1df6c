"""The next state of a tree, made beside the one that others read.

Threads read a tree while changes are collected. So a tree that was handed out never changes: what
is different is written into copies, and the observer puts the whole draft in the place of the tree.
Only folders with a difference are copied, and the list of folders once.
"""

from collections.abc import Mapping

from sightline.workspace.changes import Change, ChangeSet
from sightline.workspace.tree import Stamp, Tree

__all__ = ["Draft"]


class Draft:
    def __init__(self, tree: Tree) -> None:
        #: What to put in the place of the tree: the same object as long as nothing is different.
        self.tree = tree
        self._old = tree
        #: Folders whose files are copies already.
        self._copied: set[str] = set()
        self._found = ChangeSet()

    def changes(self) -> list[Change]:
        return self._found.changes()

    def note(self, folder: str, name: str, stamp: Stamp | None) -> None:
        """One file as it is now, of which something was announced. ``None``: it is not there."""
        files = self._files(folder)
        self._found.note(f"{folder}/{name}", files.get(name), stamp)
        if stamp is not None:
            files[name] = stamp
        else:
            files.pop(name, None)

    def put(self, folder: str, files: Mapping[str, Stamp]) -> None:
        """All files of a folder as they are now."""
        known = self.tree.get(folder)
        if known is None:
            self._files(folder)
            known = {}
        for name in known.keys() | files.keys():
            if known.get(name) != files.get(name):
                self.note(folder, name, files.get(name))

    def drop(self, folder: str) -> None:
        """A folder is gone, with the files directly in it."""
        if folder in self.tree:
            self._own()
            for name, stamp in self.tree.pop(folder).items():
                self._found.note(f"{folder}/{name}", stamp, None)

    def _files(self, folder: str) -> dict[str, Stamp]:
        """The files of a folder, to be written to."""
        if folder not in self._copied or folder not in self.tree:
            self._own()
            self._copied.add(folder)
            self.tree[folder] = dict(self.tree.get(folder, {}))
        return self.tree[folder]

    def _own(self) -> None:
        if self.tree is self._old:
            self.tree = dict(self._old)
