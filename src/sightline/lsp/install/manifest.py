"""What an installed version consists of, kept beside its files, so that damage can be told.

It finds what a disk, a cleaner or a stopped copy took away or changed. It is no defence against
somebody who can write there: they can write the manifest, too.
"""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

__all__ = ["FILE", "damaged", "write"]

FILE = ".sightline-files.json"


class _Entry(Struct, frozen=True, array_like=True):
    size: int
    sha256: str


def write(tree: Path) -> None:
    """Notes every file below a folder."""
    entries = {path: _Entry(os.stat(tree / path).st_size, _hash(tree / path)) for path in _in(tree)}
    (tree / FILE).write_bytes(msgspec.json.encode(entries))


def damaged(tree: Path, *, thorough: bool) -> list[str]:
    """The files that are gone or differ, by their sizes or, thoroughly, by their hashes.

    A version that has no manifest was installed before there were any, and nothing is known of it.
    """
    try:
        noted = msgspec.json.decode((tree / FILE).read_bytes(), type=dict[str, _Entry])
    except FileNotFoundError:
        return []
    except (OSError, msgspec.DecodeError):
        return [FILE]
    return sorted(
        path for path, entry in noted.items() if not _is_whole(tree / path, entry, thorough)
    )


def _is_whole(file: Path, entry: _Entry, thorough: bool) -> bool:
    try:
        if file.stat().st_size != entry.size:
            return False
        return not thorough or _hash(file) == entry.sha256
    except OSError:
        return False


def _hash(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _in(tree: Path) -> Iterator[str]:
    """The files below a folder, without an older manifest."""
    for folder, _, names in os.walk(tree):
        paths = (os.path.relpath(os.path.join(folder, name), tree) for name in names)
        yield from (path for path in paths if path != FILE)
