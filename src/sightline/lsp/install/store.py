"""Where installed servers live: ``servers/NAME/VERSION`` in the user's data folder.

A version is there completely or not at all: it is unpacked beside and moved into place, with a
manifest by which later damage is found. Folders are for their owner alone. Whoever installs or
removes holds the store meanwhile.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

__all__ = ["Store"]

_PARTIAL = ".partial-"


class Store(Struct, frozen=True):
    folder: Path

    def path(self, name: str, version: str) -> Path:
        return self.folder / name / version

    def has(self, name: str, version: str) -> bool:
        return bool(version) and self.path(name, version).is_dir()

    def versions(self, name: str) -> list[str]:
        """The installed versions of a package."""
        try:
            return sorted(entry.name for entry in os.scandir(self.folder / name) if entry.is_dir())
        except OSError:
            return []

    def damaged(self, name: str, version: str, *, thorough: bool = False) -> list[str]:
        """The files of a version that are gone or differ from what was installed."""
        from sightline.lsp.install import manifest  # not for every start

        return manifest.damaged(self.path(name, version), thorough=thorough)

    def is_known(self, name: str, version: str) -> bool:
        """Whether damage of a version can be told: older ones were installed without a manifest."""
        from sightline.lsp.install import manifest

        return (self.path(name, version) / manifest.FILE).is_file()

    @contextmanager
    def filling(self, name: str, version: str) -> Iterator[tuple[Path, Path]]:
        """(folder to work in, folder that becomes the version); both are gone on failure."""
        import tempfile  # for those who install, and not for every start

        from sightline.lsp.install import manifest

        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=_PARTIAL, dir=self.folder))
        try:
            tree = work / "tree"
            tree.mkdir()
            yield work, tree
            manifest.write(tree)
            self._move(tree, self.path(name, version))
        finally:
            _remove(work)
        for other in self.versions(name):
            if other != version:
                _remove(self.folder / name / other)

    @contextmanager
    def held(self, waiting: Callable[[], None]) -> Iterator[None]:
        """Keeps others from changing the store; the system lets go of it when the holder ends.

        Waits for somebody who holds it, and says so first.
        """
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._locked(waiting):
            self._sweep()
            yield

    def remove(self, name: str) -> bool:
        """Takes every version of a package away. Whether there was one."""
        there = bool(self.versions(name))
        _remove(self.folder / name)
        return there

    def size(self, name: str, version: str) -> int:
        """How many bytes a version takes."""
        total = 0
        for folder, _, names in os.walk(self.path(name, version)):
            total += sum(os.lstat(os.path.join(folder, file)).st_size for file in names)
        return total

    def _move(self, tree: Path, target: Path) -> None:
        target.parent.mkdir(mode=0o700, exist_ok=True)
        if target.exists():
            _remove(target, surely=True)
        tree.rename(target)

    def _sweep(self) -> None:
        """What an installation that was killed has left."""
        for entry in self.folder.glob(f"{_PARTIAL}*"):
            _remove(entry)

    @contextmanager
    def _locked(self, waiting: Callable[[], None]) -> Iterator[None]:
        try:
            import fcntl
        except ImportError:
            yield
            return
        with (self.folder / ".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting()
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _remove(folder: Path, *, surely: bool = False) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=not surely)
