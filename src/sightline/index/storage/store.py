"""The folder of one root's index: its manifest, its segments, and the lock of whoever changes them.

The folder lies in the user's cache, never in a workspace, and is for its owner alone. Readers need
no lock: a segment never changes, and the manifest names only segments that are wholly on disk. A
file that no manifest names was left behind by somebody who died, and is removed by the next holder
of the lock. An index that is damaged is thrown away and marked to be built again; one that its disk
does not let be read or changed (``DiskRefuses``) is left as it is.
"""

import contextlib
import hashlib
import importlib.metadata
import os
import shutil
from collections.abc import Iterator
from functools import cache

from sightline.contract.failures import Unavailable
from sightline.index.storage.disk import DiskRefuses
from sightline.index.storage.manifest import BrokenManifest, Manifest
from sightline.index.storage.segment import Segment
from sightline.process.file_locks import lies_at, try_lock

__all__ = ["Store", "index_folder"]

_MANIFEST = "manifest.sqlite"
_LOCK = "lock"
_SUFFIX = ".segment"


def index_folder(cache_folder: str, root: str) -> str:
    """Where the index of a root lies: one folder per real path, so also one per worktree."""
    name = hashlib.sha256(os.fsencode(root)).hexdigest()[:24]
    return os.path.join(cache_folder, "index", name)


@cache
def engine_version() -> str:
    """What else than the files decides what is in an index: the pinned grammars."""
    try:
        needs = importlib.metadata.requires("sightline") or []
    except importlib.metadata.PackageNotFoundError:
        needs = []
    pins = sorted(need.split(";")[0].strip() for need in needs if need.startswith("tree-sitter"))
    return hashlib.sha256("\n".join(pins).encode()).hexdigest()[:16]


class Store:
    def __init__(self, folder: str, root: str) -> None:
        self.folder = folder
        self.root = root
        self.manifest: Manifest | None = None
        #: Why the last index was thrown away, in a few words.
        self.damage = ""
        self._lock: int | None = None

    @property
    def locked(self) -> bool:
        """Whether this process has the right to change the index."""
        return self._lock is not None

    def exists(self) -> bool:
        return os.path.exists(os.path.join(self.folder, _MANIFEST))

    def open(self) -> Manifest:
        """The manifest. Under the lock, an unreadable one is replaced by an empty one."""
        if self.manifest is not None and self.manifest.replaced():
            self.close()  # another process threw it away and began anew
        if self.manifest is None:
            self._make_folder()
            path = os.path.join(self.folder, _MANIFEST)
            try:
                self.manifest = Manifest(path, self.root, engine_version(), create=self.locked)
            except BrokenManifest as broken:
                if not self.locked:
                    raise
                self.discard(str(broken))
                self.manifest = Manifest(path, self.root, engine_version(), create=True)
        return self.manifest

    def discard(self, why: str) -> None:
        """Throws the index away. Whoever still reads its segments keeps what is mapped."""
        assert self.locked, "only whoever may change the index may throw it away"
        self.close()
        self.damage = why
        for name in os.listdir(self.folder):
            if name != _LOCK:
                with contextlib.suppress(OSError):
                    os.remove(os.path.join(self.folder, name))

    def close(self) -> None:
        if self.manifest is not None:
            self.manifest.close()
            self.manifest = None

    def segment_path(self, number: int) -> str:
        return os.path.join(self.folder, f"{number}{_SUFFIX}")

    def segment(self, number: int) -> Segment:
        return Segment(self.segment_path(number))

    def size(self) -> int:
        """What the index takes on disk, without the journal of whoever has it open."""
        total = 0
        with contextlib.suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                if entry.name.endswith((_SUFFIX, _MANIFEST)):
                    with contextlib.suppress(OSError):
                        total += entry.stat().st_size
        return total

    def try_lock(self) -> bool:
        """Takes the right to change the index, if nobody has it. Death gives it back.

        ``DiskRefuses`` where nobody can have it: the folder may only be read.
        """
        if self._lock is not None:
            return True
        self._make_folder()
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
        path = os.path.join(self.folder, _LOCK)
        try:
            descriptor = os.open(path, flags, 0o600)
        except OSError as error:
            raise DiskRefuses.by(error) from None
        is_held = False
        try:
            is_held = try_lock(descriptor) and lies_at(descriptor, path)
        except OSError as error:  # a disk without locks, such as some of those in a network
            raise DiskRefuses.by(error) from None
        finally:
            if not is_held:
                os.close(descriptor)
        self._lock = descriptor if is_held else None
        return is_held

    def unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def sweep(self) -> None:
        """Removes segment files that the manifest does not name. Only under the lock."""
        assert self._lock is not None and self.manifest is not None
        named = {f"{row.id}{_SUFFIX}" for row in self.manifest.segments()}
        for name in self._segment_files():
            if name not in named:
                with contextlib.suppress(OSError):
                    os.remove(os.path.join(self.folder, name))

    def remove(self) -> None:
        """Removes the whole folder."""
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _segment_files(self) -> Iterator[str]:
        for name in os.listdir(self.folder):
            if name.endswith(_SUFFIX):
                yield name

    def _make_folder(self) -> None:
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            status = os.stat(self.folder)
            if hasattr(os, "getuid") and status.st_uid != os.getuid():
                raise Unavailable("the index folder belongs to another user; remove it")
            if status.st_mode & 0o077:
                os.chmod(self.folder, 0o700)
        except OSError as error:
            raise DiskRefuses.by(error) from None
