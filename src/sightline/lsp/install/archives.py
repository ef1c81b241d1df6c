"""Unpacking an archive that is not trusted: tarballs of npm and wheels.

Only plain files and folders are taken, under the names that ``names`` lets pass. A link, a device,
too many entries or too many bytes: the archive is refused as a whole. The caller unpacks into a
folder that it throws away on failure, and may stop it from another thread.
"""

import gzip
import io
import lzma
import os
import stat
import tarfile
import threading
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from sightline.contract.failures import ArchiveTooLarge, ArchiveUnsafe, Cancelled
from sightline.lsp.install.names import Names, checked
from sightline.lsp.install.tar_entries import NOT_PLAIN, entry_type

__all__ = ["Limits", "unpack_tarball", "unpack_wheel"]

_CHUNK = 1 << 20
_FOLDER_MODE = 0o755
#: Of the names and sizes of a wheel's entries. A file with so many small ones takes 160 MB to read.
_MAX_LIST_BYTES = 16 << 20
_DAMAGED = "the archive is damaged; it was not unpacked"
#: Another archive of the same server has put it there, or the disk takes two names for one.
_IN_THE_WAY = "the archive holds a name that is taken; it was not unpacked"


@dataclass(frozen=True)
class Limits:
    entries: int = 100_000
    total_bytes: int = 1 << 30
    file_bytes: int = 512 << 20


class _Target:
    """A folder being filled, and what may still go into it."""

    def __init__(
        self, folder: Path, limits: Limits | None, stopping: threading.Event | None
    ) -> None:
        self.limits = limits or Limits()
        self._folder = folder
        self._stopping = stopping or threading.Event()
        self._names = Names(self.limits.entries)
        self._size = 0

    def go_on(self) -> None:
        if self._stopping.is_set():
            raise Cancelled

    def make_folder(self, name: str) -> None:
        self.go_on()
        self._make(self._folder / self._names.add_folder(name))

    def write(self, name: str, source: IO[bytes], size: int, executable: bool) -> None:
        """One file, which must have exactly the size that was announced."""
        self.go_on()
        file = self._folder / self._names.add_file(name)
        if size < 0:
            raise ArchiveUnsafe(_DAMAGED)
        self._size += size
        if size > self.limits.file_bytes or self._size > self.limits.total_bytes:
            raise ArchiveTooLarge
        self._make(file.parent)
        mode = 0o755 if executable else 0o644
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        left = size
        try:
            descriptor = os.open(file, flags, mode)
        except FileExistsError:
            raise ArchiveUnsafe(_IN_THE_WAY) from None
        with open(descriptor, "wb") as out:
            while chunk := source.read(min(_CHUNK, left + 1)):
                left -= len(chunk)
                if left < 0:
                    raise ArchiveTooLarge
                self.go_on()
                out.write(chunk)
        if left:
            raise ArchiveUnsafe(_DAMAGED)

    def _make(self, folder: Path) -> None:
        try:
            folder.mkdir(_FOLDER_MODE, parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise ArchiveUnsafe(_IN_THE_WAY) from None


def unpack_tarball(
    archive: Path,
    folder: Path,
    limits: Limits | None = None,
    stopping: threading.Event | None = None,
) -> None:
    """An npm tarball. Its first path component, whatever it is called, is left out."""
    target = _Target(folder, limits, stopping)
    with _damage_is_unsafe(), gzip.open(archive) as stream:
        _read_to_the_end(stream, target)
    with _damage_is_unsafe(), _opened(archive) as tar:
        for member in _members(tar, target.limits):
            name = member.name.partition("/")[2]
            if member.issparse():
                raise ArchiveUnsafe(NOT_PLAIN)
            if member.isdir():
                checked(member.name)
                if name:
                    target.make_folder(name)
            elif member.type in (tarfile.REGTYPE, tarfile.AREGTYPE):
                checked(member.name)
                source = tar.extractfile(member)
                assert source is not None
                target.write(name, source, member.size, bool(member.mode & stat.S_IXUSR))
            else:
                raise ArchiveUnsafe(NOT_PLAIN)


def unpack_wheel(
    archive: Path,
    folder: Path,
    limits: Limits | None = None,
    stopping: threading.Event | None = None,
) -> None:
    """A wheel, as it is: nothing is moved to where an installer would put it."""
    target = _Target(folder, limits, stopping)
    with _damage_is_unsafe(), _Wheel(archive) as file, zipfile.ZipFile(file) as wheel:
        if len(wheel.infolist()) > target.limits.entries:
            raise ArchiveTooLarge
        for info in wheel.infolist():
            mode = info.external_attr >> 16
            kind = stat.S_IFMT(mode)
            if info.is_dir():
                target.make_folder(info.filename.rstrip("/"))
            elif kind not in (0, stat.S_IFREG) or info.flag_bits & 1:
                raise ArchiveUnsafe(NOT_PLAIN)
            else:
                with wheel.open(info) as source:
                    executable = bool(mode & stat.S_IXUSR)
                    target.write(info.filename, source, info.file_size, executable)


class _Wheel(io.FileIO):
    """A wheel whose list of entries is read at once, as ``zipfile`` does, if it is not too long."""

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > _MAX_LIST_BYTES:
            raise ArchiveTooLarge
        return super().read(size) or b""


def _read_to_the_end(stream: gzip.GzipFile, target: _Target) -> None:
    """Only at its end a compressed stream shows that it is whole, and how large it is."""
    limits = target.limits
    left = limits.total_bytes + limits.entries * tarfile.BLOCKSIZE * 2
    while chunk := stream.read(_CHUNK):
        target.go_on()
        left -= len(chunk)
        if left < 0:
            raise ArchiveTooLarge


def _opened(archive: Path) -> tarfile.TarFile:
    return tarfile.open(archive, "r:gz", tarinfo=entry_type())


def _members(tar: tarfile.TarFile, limits: Limits) -> Iterator[tarfile.TarInfo]:
    """Entries one by one, so that an endless list is refused before it is read."""
    count = 0
    while (member := tar.next()) is not None:
        count += 1
        if count > limits.entries:
            raise ArchiveTooLarge
        yield member
        tar.members = []  # type: ignore[attr-defined]  # else every entry stays in memory
    # A header that cannot be read ends the list for tarfile as if nothing came after it.
    assert tar.fileobj is not None
    tar.fileobj.seek(tar.offset)
    if tar.fileobj.read(tarfile.BLOCKSIZE).strip(b"\0"):
        raise ArchiveUnsafe(_DAMAGED)


@contextmanager
def _damage_is_unsafe() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno is not None:  # bz2 and gzip speak of damage without a number, a disk with it
            raise
        raise ArchiveUnsafe(_DAMAGED) from error
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError) as error:
        raise ArchiveUnsafe(_DAMAGED) from error
    except (EOFError, ValueError) as error:
        raise ArchiveUnsafe(_DAMAGED) from error
    except (NotImplementedError, RuntimeError) as error:
        raise ArchiveUnsafe("the archive uses an unknown method; it was not unpacked") from error
