"""What a C or C++ server keeps on disk of what it has read: one file for each that it read.

It lies beside the database that the server was given. Of each file it says here whether it was read
with errors, and what it includes. Nothing is concluded from one that cannot be read.
"""

import os
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

__all__ = ["INDEX", "Kept", "Listing", "about", "listing", "read", "remove"]

#: Where all of it is, below the folder of the database.
INDEX = ".cache"
_FILES = f"{INDEX}/clangd/index"
_ENDING = ".idx"
_SCHEME = b"file://"
#: A part that is larger is not read: the names in one file take less.
_MOST = 16 << 20
_HAD_ERRORS = 2
_DIGEST = 8
_NO_DIGEST = bytes(_DIGEST)

#: When each was written, and how long it is.
Listing = Mapping[str, tuple[int, int]]


class Kept(NamedTuple):
    """What is kept of one file."""

    shard: str
    had_errors: bool
    includes: tuple[str, ...]


def listing(folder: str) -> Listing:
    """What is there. One that is written anew is another file, even with the same text."""
    found: dict[str, tuple[int, int]] = {}
    try:
        with os.scandir(Path(folder, _FILES)) as entries:
            for entry in entries:
                if entry.name.endswith(_ENDING):
                    stat = entry.stat()
                    found[entry.name] = (stat.st_mtime_ns, stat.st_size)
    except OSError:
        pass  # nothing was kept, or the server has just replaced one
    return found


def about(shard: str) -> str:
    """The name of the file that one is about; after it comes a hash of its path."""
    return shard.rsplit(".", 2)[0]


def remove(folder: str, shard: str) -> None:
    Path(folder, _FILES, shard).unlink(missing_ok=True)


def read(folder: str, wanted: Callable[[str], bool] = lambda name: True) -> dict[str, Kept]:
    """What is kept of each file whose name is wanted, by its path."""
    found: dict[str, Kept] = {}
    try:
        entries = sorted(os.listdir(Path(folder, _FILES)))
    except OSError:
        return found
    for entry in entries:
        if entry.endswith(_ENDING) and wanted(about(entry)):
            try:
                found.update(_kept(entry, Path(folder, _FILES, entry).read_bytes()))
            except (OSError, ValueError, LookupError, struct.error, zlib.error):
                continue
    return found


def _kept(shard: str, data: bytes) -> Iterator[tuple[str, Kept]]:
    """The file that it is about has a digest; those that this one includes have none."""
    parts = dict(_parts(data))
    texts, sources = _texts(parts[b"stri"]), parts[b"srcs"]
    place = 0
    while place < len(sources):
        flags = sources[place]
        name, place = _number(sources, place + 1)
        digest = sources[place : place + _DIGEST]
        count, place = _number(sources, place + _DIGEST)
        includes = []
        for _ in range(count):
            included, place = _number(sources, place)
            includes.append(included)
        if digest != _NO_DIGEST:
            paths = tuple(_path(texts[each]) for each in includes)
            yield _path(texts[name]), Kept(shard, bool(flags & _HAD_ERRORS), paths)


def _path(uri: bytes) -> str:
    path = uri.removeprefix(_SCHEME)
    return (unquote_to_bytes(path) if b"%" in path else path).decode()


def _parts(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The parts of a RIFF file: four letters, a length, and so much, to an even place."""
    place = 12
    while place < len(data):
        name, size = struct.unpack_from("<4sI", data, place)
        yield name, data[place + 8 : place + 8 + size]
        place += 8 + size + size % 2


def _texts(part: bytes) -> list[bytes]:
    size = struct.unpack_from("<I", part)[0]
    packed = part[4:]
    if not size:  # then they are not packed
        return packed.split(b"\0")
    if size > _MOST:
        raise ValueError(size)
    return zlib.decompressobj().decompress(packed, _MOST).split(b"\0")


def _number(data: bytes, place: int) -> tuple[int, int]:
    """A number in groups of seven bits, and the place after it."""
    value = shift = 0
    while data[place] & 0x80:
        value |= (data[place] & 0x7F) << shift
        shift += 7
        place += 1
    return value | data[place] << shift, place + 1
