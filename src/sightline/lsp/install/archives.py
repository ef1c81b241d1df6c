"""Unpacking an archive that is not trusted: tarballs of npm and wheels.

Only plain files and folders are taken. A name that is absolute, climbs, or means something else on
another system, a link, a device, a name that comes twice, too many entries or too many bytes: the
archive is refused as a whole. The caller unpacks into a folder that it throws away on failure.
"""

import gzip
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from sightline.contract.failures import ArchiveTooLarge, ArchiveUnsafe

__all__ = ["Limits", "unpack_tarball", "unpack_wheel"]

_CHUNK = 1 << 20
_MAX_NAME_BYTES = 1_024
_MAX_DEPTH = 64
_FOLDER_MODE = 0o755


@dataclass(frozen=True)
class Limits:
    entries: int = 100_000
    total_bytes: int = 1 << 30
    file_bytes: int = 512 << 20


@dataclass
class _Target:
    """A folder being filled, and what may still go into it."""

    folder: Path
    limits: Limits
    entries: int = 0
    size: int = 0
    seen: set[str] = field(default_factory=set)

    def count(self) -> None:
        self.entries += 1
        if self.entries > self.limits.entries:
            raise ArchiveTooLarge

    def make_folder(self, name: str) -> None:
        self.count()
        (self.folder / _checked(name)).mkdir(_FOLDER_MODE, parents=True, exist_ok=True)

    def write(self, name: str, source: IO[bytes], size: int, executable: bool) -> None:
        """One file, which must have exactly the size that was announced."""
        self.count()
        path = _checked(name)
        if path.lower() in self.seen:
            raise ArchiveUnsafe("the archive holds one name twice; it was not unpacked")
        self.seen.add(path.lower())
        self.size += size
        if size > self.limits.file_bytes or self.size > self.limits.total_bytes:
            raise ArchiveTooLarge
        file = self.folder / path
        file.parent.mkdir(_FOLDER_MODE, parents=True, exist_ok=True)
        mode = 0o755 if executable else 0o644
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        left = size
        try:
            descriptor = os.open(file, flags, mode)
        except FileExistsError:
            raise ArchiveUnsafe("the archive holds one name twice; it was not unpacked") from None
        with open(descriptor, "wb") as out:
            while chunk := source.read(min(_CHUNK, left + 1)):
                left -= len(chunk)
                if left < 0:
                    raise ArchiveTooLarge
                out.write(chunk)
        if left:
            raise ArchiveUnsafe("the archive is damaged; it was not unpacked")


def unpack_tarball(archive: Path, folder: Path, limits: Limits | None = None) -> None:
    """An npm tarball. Its first path component, whatever it is called, is left out."""
    target = _Target(folder, limits or Limits())
    with _damage_is_unsafe(), gzip.open(archive) as stream:
        _read_to_the_end(stream, target.limits)
    with _damage_is_unsafe(), tarfile.open(archive, "r:gz") as tar:
        for member in _members(tar, target.limits):
            name = member.name.partition("/")[2]
            if member.isdir():
                _checked(member.name)
                if name:
                    target.make_folder(name)
            elif member.type in (tarfile.REGTYPE, tarfile.AREGTYPE):
                _checked(member.name)
                source = tar.extractfile(member)
                assert source is not None
                target.write(name, source, member.size, bool(member.mode & stat.S_IXUSR))
            else:
                raise ArchiveUnsafe("the archive holds a link or a device; it was not unpacked")


def unpack_wheel(archive: Path, folder: Path, limits: Limits | None = None) -> None:
    """A wheel, as it is: nothing is moved to where an installer would put it."""
    target = _Target(folder, limits or Limits())
    with _damage_is_unsafe(), zipfile.ZipFile(archive) as wheel:
        if len(wheel.infolist()) > target.limits.entries:
            raise ArchiveTooLarge
        for info in wheel.infolist():
            mode = info.external_attr >> 16
            kind = stat.S_IFMT(mode)
            if info.is_dir():
                target.make_folder(info.filename.rstrip("/"))
            elif kind not in (0, stat.S_IFREG) or info.flag_bits & 1:
                raise ArchiveUnsafe("the archive holds a link or a device; it was not unpacked")
            else:
                with wheel.open(info) as source:
                    executable = bool(mode & stat.S_IXUSR)
                    target.write(info.filename, source, info.file_size, executable)


def _read_to_the_end(stream: gzip.GzipFile, limits: Limits) -> None:
    """Only at its end a compressed stream shows that it is whole, and how large it is."""
    left = limits.total_bytes + limits.entries * tarfile.BLOCKSIZE * 2
    while chunk := stream.read(_CHUNK):
        left -= len(chunk)
        if left < 0:
            raise ArchiveTooLarge


def _members(tar: tarfile.TarFile, limits: Limits) -> Iterator[tarfile.TarInfo]:
    """Entries one by one, so that an endless list is refused before it is read."""
    count = 0
    while (member := tar.next()) is not None:
        count += 1
        if count > limits.entries:
            raise ArchiveTooLarge
        yield member
        tar.members = []  # type: ignore[attr-defined]  # else every entry stays in memory


def _checked(name: str) -> str:
    """The name, if it stays inside on every system."""
    parts = name.split("/")
    bad = (
        not name
        or name.startswith("/")
        or len(os.fsencode(name)) > _MAX_NAME_BYTES
        or len(parts) > _MAX_DEPTH
        or any(part in ("", ".", "..") for part in parts)
        or any(character in name for character in ("\\", "\0", ":"))
        or not name.isprintable()
    )
    if bad:
        raise ArchiveUnsafe
    return name


@contextmanager
def _damage_is_unsafe() -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error) as error:
        raise ArchiveUnsafe("the archive is damaged; it was not unpacked") from error
    except (EOFError, ValueError) as error:
        raise ArchiveUnsafe("the archive is damaged; it was not unpacked") from error
    except (NotImplementedError, RuntimeError) as error:
        raise ArchiveUnsafe("the archive uses an unknown method; it was not unpacked") from error
