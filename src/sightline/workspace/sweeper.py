"""Finding changes by looking: at a root, or at the parts of one that nobody announces changes of.

It looks when it is asked and never goes on by itself. No link is followed, nor looked behind; what
holds more than may be looked through is not known at all, instead of in part.
"""

import hashlib
import time

from msgspec import Struct

from sightline.contract.ticks import settled_at
from sightline.workspace.changes import Change, ChangeSet
from sightline.workspace.exclusions import names
from sightline.workspace.regular import open_regular
from sightline.workspace.tree import (
    MAX_FILES,
    Files,
    Stamp,
    Suspects,
    Tree,
    device_of,
    differences,
    is_tracked,
    scan,
)

__all__ = ["Scope", "Sweeper"]

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
    #: What the user's settings keep out of ``root``, which is observed.
    exclude: tuple[str, ...] = ()
    root: str = ""

    def enters(self, folder: str) -> bool:
        """Whether a folder inside is observed."""
        if folder in self.skip or (self.shallow and _is_deep(folder)):
            return False
        return not names(self.exclude, folder[len(self.root) + 1 :], folder=True)

    def keeps(self, folder: str, files: Files) -> Files:
        """Those files of a folder that are observed."""
        if not self.exclude:
            return files
        return {name: stamp for name, stamp in files.items() if self.tracks(folder, name)}

    def tracks(self, folder: str, name: str) -> bool:
        """Whether a file of this name is observed in a folder that is."""
        path = f"{folder}/{name}"[len(self.root) + 1 :]
        return is_tracked(name) and not names(self.exclude, path, folder=False)


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

    def __init__(self, top: str, reason: str, scope: Scope | None = None) -> None:
        self.top = top
        self.reason = reason
        self.scope = scope or Scope()
        self.tree: Tree = {}
        #: What may be an obstacle, by folder.
        self.suspects: Suspects = {}
        self.complete = True
        #: The file system on which there were files at the last look that found any.
        self.device: int | None = None
        self._closed = False
        #: Files that may be written again without their stamp changing: it, and their content.
        self._racy: dict[tuple[str, str], tuple[Stamp, bytes]] = {}

    def start(self, limit: int | None = None) -> None:
        now = time.time_ns()
        self.tree, self.complete = self._scan(limit)
        self._note_racy(now)

    def changes(self) -> list[Change]:
        found = ChangeSet()
        found.note_all(self.look())
        return found.changes()

    def look(self, limit: int | None = None) -> list[tuple[str, Stamp | None, Stamp | None]]:
        """Every file that is not as at the last look: its path, its stamp then and now.

        With more files than ``limit`` nothing is known, and the last look remains the last one.
        """
        now = time.time_ns()
        tree, self.complete = self._scan(limit)
        if not self.complete:
            return []
        before, self.tree = self.tree, tree
        found = list(differences(before, tree))
        for (folder, name), (stamp, content) in self._racy.items():
            path = f"{folder}/{name}"
            # Any other stamp is in the differences. What has none is not looked for: there may be
            # a link by now in the place of its folder.
            if tree.get(folder, {}).get(name) == stamp and _content_hash(path) != content:
                found.append((path, stamp, stamp))
        self._note_racy(now)
        return found

    def audit(self, found: Tree) -> list[Change]:
        return []  # every question is an audit already

    def close(self) -> None:
        """Ends a scan that is under way, too."""
        self._closed = True
        self.tree = {}

    def _scan(self, limit: int | None) -> tuple[Tree, bool]:
        limit = self.scope.swept if limit is None else limit
        device = device_of(self.top)
        suspects: Suspects = {}
        scope = self.scope
        tree, complete = scan(
            self.top, limit, lambda: self._closed, scope.enters, suspects, scope.keeps
        )
        self.suspects = suspects
        if any(tree.values()):
            self.device = device
        return tree, complete

    def _note_racy(self, now: int) -> None:
        self._racy = {
            (folder, name): (stamp, _content_hash(f"{folder}/{name}"))
            for folder, files in self.tree.items()
            for name, stamp in files.items()
            if now < settled_at(stamp.ctime_ns)
        }


def _content_hash(path: str) -> bytes:
    file = open_regular(path, links=False)
    if file is None:
        return b""
    with file:
        try:
            return hashlib.file_digest(file, "blake2b").digest()
        except OSError:
            return b""
