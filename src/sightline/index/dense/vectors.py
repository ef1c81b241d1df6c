"""The vectors of a root's files on disk: one log that is only ever added to, read through a
mapping.

An entry belongs to one version of one file: the hash of its path, the hash of its content, and for
each chunk a key and a vector. The last whole entry of a path counts. A vector depends on the path,
the name and the text of its chunk alone, so an entry that two processes write is the same twice,
and one that was cut off by a crash is merely encoded again. What does not check out is passed over,
never believed.

    mark | entry, entry, ...    entry: head | keys (8 bytes each) | vectors
"""

import contextlib
import hashlib
import mmap
import os
import struct
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Entry", "VectorLog", "chunk_key", "log_path", "path_key"]

_MARK = b"SLVEC\x00\x01\n"
#: Path, content, chunks, checksum of the rest.
_HEAD = struct.Struct("<8s16sII")
_KEY = 8

Vectors = NDArray[np.int8]


def path_key(path: str) -> bytes:
    return hashlib.blake2b(path.encode("utf-8", "surrogateescape"), digest_size=8).digest()


def chunk_key(name: str, text: bytes) -> bytes:
    """What, besides the path, decides a chunk's vector."""
    head = name.encode("utf-8", "surrogateescape")
    return hashlib.blake2b(head + b"\0" + text, digest_size=_KEY).digest()


def log_path(folder: str, model: str) -> str:
    """Where the vectors of a model lie. Another model has another file."""
    return os.path.join(folder, f"{model[:12]}.vectors")


class Entry(NamedTuple):
    """The vectors of one version of a file."""

    content: bytes
    keys: tuple[bytes, ...]
    vectors: Vectors


class _Place(NamedTuple):
    content: bytes
    chunks: int
    #: Where the keys begin; the vectors follow.
    begin: int


class VectorLog:
    """A log as it was when last looked at."""

    def __init__(self, path: str, width: int) -> None:
        self.path = path
        self.width = width
        self._map: mmap.mmap | None = None
        self._seen = 0
        self._inode = -1
        self._places: dict[bytes, _Place] = {}
        #: Bytes of entries that a later one replaced.
        self.dead = 0

    @property
    def size(self) -> int:
        return self._seen

    def refresh(self) -> None:
        """Takes up what was added since."""
        try:
            with open(self.path, "rb") as file:
                status = os.fstat(file.fileno())
                if status.st_ino != self._inode or status.st_size < self._seen:
                    self._places, self._seen, self._inode, self.dead = {}, 0, status.st_ino, 0
                if status.st_size <= max(self._seen, len(_MARK)):
                    return
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError:
            self._map, self._places, self._seen, self._inode = None, {}, 0, -1
            return
        if self._map[: len(_MARK)] != _MARK:
            return
        self._scan(max(self._seen, len(_MARK)))

    def _scan(self, at: int) -> None:
        assert self._map is not None
        end = len(self._map)
        while at + _HEAD.size <= end:
            path, content, count, checksum = _HEAD.unpack_from(self._map, at)
            begin = at + _HEAD.size
            size = count * (_KEY + self.width)
            if begin + size > end:
                break  # still being written, or cut off
            if zlib.crc32(memoryview(self._map)[begin : begin + size]) != checksum:
                break  # nothing behind it can be found for certain
            old = self._places.get(path)
            if old is not None:
                self.dead += _HEAD.size + old.chunks * (_KEY + self.width)
            self._places[path] = _Place(content, count, begin)
            at = begin + size
        self._seen = at

    def content(self, path: bytes) -> bytes | None:
        """The hash of the version of a file that has vectors."""
        place = self._places.get(path)
        return place.content if place is not None else None

    def count(self, path: bytes) -> int:
        return self._places[path].chunks

    def get(self, path: bytes) -> Entry | None:
        place = self._places.get(path)
        if place is None or self._map is None:
            return None
        ends = place.begin + place.chunks * _KEY
        raw = self._map[place.begin : ends]
        keys = tuple(raw[at : at + _KEY] for at in range(0, len(raw), _KEY))
        return Entry(place.content, keys, self._vectors(place))

    def begin(self, path: bytes) -> int:
        """Where the vectors of a file begin in ``data``; they lie side by side."""
        place = self._places[path]
        return place.begin + place.chunks * _KEY

    @property
    def data(self) -> Vectors:
        """All that was taken up, not copied. It stays as it is when the log grows."""
        if self._map is None:
            return np.zeros(0, np.int8)
        return np.frombuffer(self._map, np.int8, self._seen)

    def vectors(self, path: bytes) -> Vectors:
        """The vectors of a file, not copied."""
        return self._vectors(self._places[path])

    def _vectors(self, place: _Place) -> Vectors:
        assert self._map is not None
        begin = place.begin + place.chunks * _KEY
        flat = np.frombuffer(self._map, np.int8, place.chunks * self.width, begin)
        return flat.reshape(place.chunks, self.width)

    # Writing

    def add(self, entries: Iterable[tuple[bytes, bytes, Sequence[bytes], Vectors]]) -> None:
        """Adds entries: path key, content hash, keys and vectors of its chunks.

        A tail that cannot be read is left out first, so that what is added can be.
        """
        with _locked(self.path):
            self._add(entries)

    def _add(self, entries: Iterable[tuple[bytes, bytes, Sequence[bytes], Vectors]]) -> None:
        self.refresh()
        with contextlib.suppress(FileNotFoundError):
            if os.path.getsize(self.path) > self._seen:
                self._cut_off()
        with _opened(self.path) as file:
            if file.seek(0, os.SEEK_END) < len(_MARK):
                file.truncate(0)
                file.write(_MARK)
            for path, content, keys, vectors in entries:
                body = b"".join(keys) + np.ascontiguousarray(vectors, np.int8).tobytes()
                file.write(
                    _HEAD.pack(path, content[:16].ljust(16, b"\0"), len(keys), zlib.crc32(body))
                )
                file.write(body)
        self.refresh()

    def _cut_off(self) -> None:
        """Leaves out what cannot be read. The file is not made shorter but replaced: others read
        theirs through a mapping, and must not find that it ends before its vectors do."""
        kept = self._map[: self._seen] if self._map is not None else b""
        fresh = f"{self.path}.new"
        with contextlib.suppress(FileNotFoundError):
            os.remove(fresh)
        with _opened(fresh) as file:
            file.write(kept)
        os.replace(fresh, self.path)
        self.refresh()

    def compact(self, living: Mapping[bytes, bytes]) -> None:
        """Writes the log anew with the living alone: path keys and the content they have now."""
        with _locked(self.path):
            self.refresh()
            fresh = VectorLog(f"{self.path}.new", self.width)
            with contextlib.suppress(FileNotFoundError):
                os.remove(fresh.path)
            kept = [(path, entry) for path in living if (entry := self.get(path)) is not None]
            fresh._add((path, entry.content, entry.keys, entry.vectors) for path, entry in kept)
            os.replace(fresh.path, self.path)
            self.refresh()


def _opened(path: str) -> BinaryIO:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
    return open(os.open(path, flags, 0o600), "r+b")


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    """One writer at a time, also of other processes. Death gives the lock back."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(f"{path}.lock", flags, 0o600)
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
