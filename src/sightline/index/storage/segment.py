"""A segment: an immutable part of an index in one file, checked when opened, mapped when read.

It holds files numbered from 0 and their chunks numbered from 0, and for terms, path words and
trigrams the lists of those that contain them. It knows nothing of paths, of other segments or of
which of its files are still alive; the manifest does. A damaged file is ``DamagedSegment``.

    magic | sections, each at a multiple of 8 | directory (MessagePack) | its size, checksum | magic
"""

import hashlib
import mmap
import os
import struct
import zlib
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sightline.index.storage.postings import contains, decode_counted, decode_plain

__all__ = [
    "SECTIONS",
    "Columns",
    "DamagedSegment",
    "Segment",
    "term_bytes",
    "term_key",
    "write_segment",
]

_MAGIC = b"SLSEG\x00\x01\n"
_TRAILER = struct.Struct("<II8s")

#: Every section and its type.
SECTIONS: Mapping[str, Any] = {
    "chunk_first": np.uint32,  # per file, and one more: its first chunk
    "chunk_length": np.uint32,  # per chunk: raw words in its own text
    "chunk_kinds": np.uint32,  # per chunk: the kinds of its symbols, as bits
    "record_first": np.uint32,  # per file, and one more: where its record begins
    "records": np.uint8,
    "term_keys": np.uint64,  # sorted; per key, and one more, where its list begins
    "term_first": np.uint32,
    "terms": np.uint8,
    "path_keys": np.uint64,
    "path_first": np.uint32,
    "path_dense": np.uint8,
    "paths": np.uint8,
    "gram_keys": np.uint32,
    "gram_first": np.uint32,
    "gram_dense": np.uint8,
    "grams": np.uint8,
}

Columns = Mapping[str, NDArray[Any]]
Ints = NDArray[np.int64]


class DamagedSegment(Exception):
    """The file is not a whole segment of this format."""


def write_segment(path: str, columns: Columns) -> int:
    """Writes a segment for its owner alone, all of it on disk before this returns; its size."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(_MAGIC)
        directory: dict[str, tuple[int, int, int]] = {}
        for name, kind in SECTIONS.items():
            data = np.ascontiguousarray(columns[name], kind)
            file.write(b"\0" * (-file.tell() % 8))
            raw = data.view(np.uint8).data if len(data) else b""
            directory[name] = (file.tell(), data.nbytes, zlib.crc32(raw))
            file.write(raw)
        packed = msgspec.msgpack.encode(directory)
        file.write(packed)
        file.write(_TRAILER.pack(len(packed), zlib.crc32(packed), _MAGIC))
        file.flush()
        os.fsync(file.fileno())
        return file.tell()


class Segment:
    """An open segment."""

    def __init__(self, path: str, *, verify: bool = True) -> None:
        try:
            with open(path, "rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:
            raise DamagedSegment("the file is empty") from None
        self.columns = _read(self._map, verify=verify)
        self.size = len(self._map)
        self.files = len(self.columns["chunk_first"]) - 1
        self.chunks = len(self.columns["chunk_length"])

    def terms(self, key: int) -> tuple[Ints, Ints] | None:
        """The chunks under a term and how often each has it."""
        raw = self._list("term", key)
        return None if raw is None else decode_counted(raw[0])

    def path_words(self, key: int) -> Ints | None:
        """The files whose path has a word."""
        raw = self._list("path", key)
        return None if raw is None else decode_plain(raw[0], dense=raw[1])

    def mark_trigram(self, code: int, flags: NDArray[np.bool_]) -> None:
        """Sets the flags of the files whose text has a trigram."""
        raw = self._list("gram", code)
        if raw is None:
            return
        if raw[1]:
            flags[:] = np.unpackbits(raw[0], count=self.files)
        else:
            flags[decode_plain(raw[0], dense=False)] = True

    def with_trigram(self, code: int, files: Ints) -> NDArray[np.bool_]:
        """Whether the text of each of some files has a trigram."""
        raw = self._list("gram", code)
        if raw is None:
            return np.zeros(len(files), bool)
        if raw[1]:
            bits: NDArray[np.uint8] = raw[0][files >> 3] << (files & 7).astype(np.uint8)
            return bits >= 0x80
        return contains(decode_plain(raw[0], dense=False), files)

    def record(self, file: int) -> bytes:
        """The packed record of one file."""
        first = self.columns["record_first"]
        raw = self.columns["records"][int(first[file]) : int(first[file + 1])].tobytes()
        try:
            return zlib.decompress(raw)
        except zlib.error:
            raise DamagedSegment("a record cannot be read") from None

    def _list(self, kind: str, key: int) -> tuple[NDArray[np.uint8], bool] | None:
        keys = self.columns[f"{kind}_keys"]
        place = int(np.searchsorted(keys, keys.dtype.type(key)))
        if place == len(keys) or int(keys[place]) != key:
            return None
        first = self.columns[f"{kind}_first"]
        data = self.columns[f"{kind}s"][int(first[place]) : int(first[place + 1])]
        dense = kind != "term" and bool(self.columns[f"{kind}_dense"][place])
        return data, dense


def _read(mapped: mmap.mmap, *, verify: bool) -> Columns:
    end = len(mapped) - _TRAILER.size
    if end < len(_MAGIC) or mapped[: len(_MAGIC)] != _MAGIC:
        raise DamagedSegment("not a segment of this format")
    size, checksum, magic = _TRAILER.unpack(mapped[end:])
    packed = mapped[max(0, end - size) : end]
    if magic != _MAGIC or zlib.crc32(packed) != checksum:
        raise DamagedSegment("the file was cut short or overwritten")
    directory = msgspec.msgpack.decode(packed, type=dict[str, tuple[int, int, int]])
    columns: dict[str, NDArray[Any]] = {}
    view = memoryview(mapped)
    for name, kind in SECTIONS.items():
        offset, length, check = directory[name]
        if verify and zlib.crc32(view[offset : offset + length]) != check:
            raise DamagedSegment(f"the section {name} was overwritten")
        count = length // np.dtype(kind).itemsize
        columns[name] = np.frombuffer(mapped, kind, count, offset)
    return columns


def term_key(term: str) -> int:
    """The 64-bit key of a term, which begins with the letter of its field.

    Two terms share a key about never, and then they merely count as one, in every index alike.
    """
    return int.from_bytes(term_bytes(term), "little")


def term_bytes(term: str) -> bytes:
    """The same key as it lies in a segment."""
    return hashlib.blake2b(term.encode("utf-8", "replace"), digest_size=8).digest()
