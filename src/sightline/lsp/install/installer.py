"""One installation: fetch, compare every hash, unpack, move into place."""

import asyncio
import base64
import contextlib
import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from sightline.contract.failures import ArchiveTooLarge, DownloadUnverified, Unavailable
from sightline.lsp.install.archives import Limits, unpack_tarball, unpack_wheel
from sightline.lsp.install.downloads import Downloader, Tools
from sightline.lsp.install.locks import Lock, LockedFile
from sightline.lsp.install.store import Store

__all__ = ["Installer", "Progress"]

_MAX_ARCHIVE_BYTES = 512 << 20


class Progress(Protocol):
    def __call__(self, step: str, done: int, total: int) -> None: ...


@dataclass(frozen=True)
class Installer:
    store: Store
    tools: Tools
    limits: Limits = field(default_factory=Limits)

    async def install(self, name: str, lock: Lock, progress: Progress) -> Path:
        """The folder of the version that the lock describes, complete and verified.

        The caller holds the store. A disk that is full or read-only is an ``OSError``.
        """
        files = lock.for_this_machine()
        if not files:
            raise Unavailable(f"{name} is not published for this kind of machine")
        with self.store.filling(name, lock.version) as (work, tree):
            downloader = Downloader(self.tools, work)
            report: Callable[[int, int], None] = lambda d, t: progress("fetching", d, t)  # noqa: E731
            report(0, len(files))
            archives = await downloader.fetch(lock.kind, files, report)
            for done, (file, archive) in enumerate(zip(files, archives, strict=True)):
                progress("unpacking", done, len(files))
                await _on_a_thread(partial(self._take, lock.kind, file, archive, tree))
            progress("unpacking", len(files), len(files))
        return self.store.path(name, lock.version)

    def _take(
        self, kind: str, file: LockedFile, archive: Path, tree: Path, stopping: threading.Event
    ) -> None:
        verify(archive, file)
        target = tree / file.path if file.path else tree
        if kind == "npm":
            target.mkdir(parents=True, exist_ok=True)
            unpack_tarball(archive, target, self.limits, stopping)
        else:
            unpack_wheel(archive, target, self.limits, stopping)
        archive.unlink()


async def _on_a_thread(work: Callable[[threading.Event], None]) -> None:
    """Whoever cancels it waits for the thread, which is told to stop: it would go on to write into
    a folder that is taken away meanwhile.
    """
    stopping = threading.Event()
    thread = asyncio.get_running_loop().run_in_executor(None, work, stopping)
    try:
        await asyncio.shield(thread)
    except asyncio.CancelledError:
        stopping.set()
        while not thread.done():
            with contextlib.suppress(asyncio.CancelledError):  # it is raised below
                await asyncio.wait([thread])
        thread.exception()  # what it raised because it was stopped, or just before
        raise


def verify(archive: Path, file: LockedFile) -> None:
    """Compares what was brought with what was pinned."""
    if archive.stat().st_size > _MAX_ARCHIVE_BYTES:
        raise ArchiveTooLarge
    with archive.open("rb") as stream:
        if file.hash:
            algorithm, _, expected = file.hash.partition("-")
            digest = hashlib.file_digest(stream, "sha512").digest()
            good = algorithm == "sha512" and base64.b64encode(digest).decode() == expected
        else:
            good = hashlib.file_digest(stream, "sha256").hexdigest() in file.hashes
    if not good:
        raise DownloadUnverified(f"{file.package} {file.version} is not what was pinned")
