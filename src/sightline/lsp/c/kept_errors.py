"""Which files a C or C++ server could not make sense of, as its index on disk says.

After an error it goes on, and much of what follows is lost without a word: the rest of an
expression that has an unknown name in it, and after a header that is not there every use of a
template. It notes in its index which files it read so, and tells nobody. Nothing is concluded from
a file of the index that cannot be read.
"""

import os
import struct
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from urllib.parse import unquote_to_bytes

__all__ = ["with_errors"]

#: Where the index is, below the folder of the database.
_FILES = ".cache/clangd/index"
_ENDING = ".idx"
_SCHEME = "file://"
#: A part that is larger is not read: the names in one file take less.
_MOST = 16 << 20
_HAD_ERRORS = 2
_DIGEST = 8


def with_errors(folder: str, paths: Collection[str]) -> frozenset[str]:
    """Those of these files that were read with errors, by the index beside a database."""
    names = {os.path.basename(path) for path in paths}
    found: set[str] = set()
    try:
        entries = sorted(os.listdir(Path(folder, _FILES)))
    except OSError:
        return frozenset()
    for entry in entries:
        # It has the name of the file that it is about, and a hash of its path.
        name, _, rest = entry.removesuffix(_ENDING).rpartition(".")
        if rest and name in names and entry.endswith(_ENDING):
            try:
                found.update(_marked(Path(folder, _FILES, entry).read_bytes()))
            except (OSError, ValueError, LookupError, struct.error, zlib.error):
                continue
    return frozenset(found.intersection(paths))


def _marked(data: bytes) -> Iterator[str]:
    """The paths of files that are marked. What a file is about is marked, what it includes not."""
    parts = dict(_parts(data))
    texts, sources = _texts(parts[b"stri"]), parts[b"srcs"]
    place = 0
    while place < len(sources):
        flags = sources[place]
        name, place = _number(sources, place + 1)
        included, place = _number(sources, place + _DIGEST)
        for _ in range(included):
            _, place = _number(sources, place)
        if flags & _HAD_ERRORS:
            uri = texts[name].decode()
            yield unquote_to_bytes(uri.removeprefix(_SCHEME)).decode()


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
