"""Reading a cache into memory: manifest, documents, and how often each word occurs in each.

A document counts only if its id is the manifest's and its content has the manifest's digest. By
default its own version must agree as well and its file must lie inside the cache; ``strict`` leaves
these two out, as v0 does. What is loaded remembers the stamps of its files, so that the next call
can tell with a few system calls whether anything changed.
"""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from sys import getsizeof
from typing import NamedTuple

from sightline.context.documents import Document, read_document, tokens_of, version_of
from sightline.context.files import CacheFolder, NotInside, Stamp
from sightline.context.manifest import Entry, Manifest, read_manifest
from sightline.context.problems import (
    DocumentDamaged,
    DocumentUnreadable,
    ManifestInvalid,
    ManifestMissing,
    ManifestUnreadable,
    system_text,
)
from sightline.context.reader import Refused
from sightline.context.words import MOST_DISTINCT, count_words
from sightline.contract.limits import MAX_CONTEXT_CACHE_BYTES
from sightline.contract.ticks import settled_at

__all__ = ["Counted", "Loaded", "load", "open_manifest", "unchanged"]

Pause = Callable[[], None]

#: What a word costs in the tables, roughly.
_WORD_BYTES = 80
#: How many counts are kept for one cache. Documents past that are counted again for every query.
_MOST_COUNTS = 2_000_000


class Counted(NamedTuple):
    """A document ready for scoring. ``counts`` is ``None`` when it has too many words to keep."""

    id: str
    version: str
    content: str
    tokens: int
    total_words: int
    counts: Mapping[str, int] | None


@dataclass(frozen=True)
class Loaded:
    manifest: Manifest
    documents: tuple[Counted, ...]
    #: Every file that was read, and its stamp.
    stamps: tuple[tuple[str, Stamp], ...]
    #: Whether a later change is sure to show in the stamps.
    settled: bool
    #: What this takes in memory, roughly.
    size: int

    def unchanged(self, pause: Pause) -> bool:
        """Whether every file is still the one that was read."""
        return self.settled and unchanged(self.stamps, pause)


def unchanged(stamps: Iterable[tuple[str, Stamp]], pause: Pause) -> bool:
    """Whether files still have their stamps."""
    try:
        for number, (path, stamp) in enumerate(stamps):
            if number % 64 == 0:
                pause()
            if Stamp.of(os.stat(path)) != stamp:
                return False
    except OSError:
        return False
    return True


def open_manifest(folder: CacheFolder, pause: Pause = lambda: None) -> tuple[Manifest, Stamp]:
    """The manifest of a cache, or the problem with it."""
    try:
        data, stamp = folder.read("manifest.json", pause)
    except FileNotFoundError:
        raise ManifestMissing(folder.path) from None
    except IsADirectoryError as error:
        raise ManifestInvalid(system_text(error)) from None
    except OSError as error:
        raise ManifestUnreadable(system_text(error)) from None
    except NotInside:
        raise ManifestInvalid("not a regular file inside the cache") from None
    try:
        return read_manifest(data, pause), stamp
    except Refused as refused:
        raise ManifestInvalid(str(refused)) from None


def load(
    folder: CacheFolder,
    pause: Pause = lambda: None,
    now_ns: Callable[[], int] = time.time_ns,
    count: Callable[[str], int] = tokens_of,
) -> Loaded:
    """The whole cache, verified."""
    started = now_ns()
    manifest, stamp = open_manifest(folder, pause)
    stamps = [(os.path.join(folder.path, "manifest.json"), stamp)]
    documents: list[Counted] = []
    counting = _Counting(pause, count)
    bytes_read = 0
    for entry in manifest.entries:
        pause()
        document, stamp = _open_document(folder, entry, pause)
        stamps.append((folder.path_of(entry.file), stamp))
        bytes_read += stamp.size
        if bytes_read > MAX_CONTEXT_CACHE_BYTES:
            raise DocumentDamaged("the cache is larger than it may be")
        documents.append(counting.take(document))
    newest = max(stamp.changed for _, stamp in stamps)  # this time nobody can set
    return Loaded(
        manifest,
        tuple(documents),
        tuple(stamps),
        settled=settled_at(newest) < started,
        size=sum(map(_size, documents)) + counting.size(),
    )


def _open_document(folder: CacheFolder, entry: Entry, pause: Pause) -> tuple[Document, Stamp]:
    try:
        data, stamp = folder.read(entry.file, pause)
        document = read_document(data, pause)
    except PermissionError as error:
        raise DocumentUnreadable(system_text(error)) from None
    except (OSError, NotInside, Refused) as error:
        raise DocumentDamaged(str(error)) from None
    if document.id != entry.id:
        raise DocumentDamaged("another id than the manifest says")
    if version_of(document.content.encode()) != entry.version:
        raise DocumentDamaged("another content than the manifest says")
    if not folder.strict and (document.version != entry.version or not document.id):
        raise DocumentDamaged("no id, or another version than the manifest says")
    return document, stamp


class _Counting:
    """Counts the words of one document after the other, and keeps the tables in bounds."""

    def __init__(self, pause: Pause, count: Callable[[str], int]) -> None:
        self._count = count
        self.known: dict[str, str] = {}
        self._pause = pause
        self._room = _MOST_COUNTS

    def take(self, document: Document) -> Counted:
        total, counts = count_words(document.content, self._pause, min(self._room, MOST_DISTINCT))
        kept: dict[str, int] | None = None
        if counts is not None:
            self._room -= len(counts)
            # Equal words of different documents share one string.
            kept = {self.known.setdefault(word, word): count for word, count in counts.items()}
        tokens = self._count(document.content)
        return Counted(document.id, document.version, document.content, tokens, total, kept)

    def size(self) -> int:
        return _WORD_BYTES * len(self.known) + getsizeof(self.known)


def _size(document: Counted) -> int:
    return getsizeof(document.content) + getsizeof(document.counts) + 256
