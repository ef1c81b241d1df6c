"""Reading a cache of code: everything verified, then indexed in memory.

Unlike with Markdown caches nobody else writes this format, so what is not exactly as it is written
is refused. Loading takes about as long as indexing without parsing; afterwards the cache answers
like the live index of the tree it was made from.
"""

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import msgspec
import numpy as np

from sightline.context.code.answer import answer
from sightline.context.code.corpus import Corpus
from sightline.context.code.layout import StoredChunk, pack_name, vector_bytes
from sightline.context.code.pieces import chunk_ids
from sightline.context.documents import tokens_of, version_of
from sightline.context.files import CacheFolder, NotInside, Stamp
from sightline.context.load import unchanged
from sightline.context.manifest import CONFIG_CODE, BuildConfig, Entry, Manifest, cache_version
from sightline.context.moments import check as check_moment
from sightline.context.problems import (
    DocumentDamaged,
    DocumentUnreadable,
    ManifestInvalid,
    ManifestUnreadable,
    system_text,
)
from sightline.context.select import Selection
from sightline.contract.limits import MAX_CONTEXT_CACHE_BYTES
from sightline.contract.ticks import settled_at
from sightline.index.building.inversion import Inversion, Keys
from sightline.index.cutting.chunks import KIND_BITS, Chunk, Symbol
from sightline.index.dense.nearness import Matrix
from sightline.index.reading.languages import LANGUAGES
from sightline.index.reading.roles import Role
from sightline.index.searching.lookup import Lookup
from sightline.index.storage.manifest import FileRow
from sightline.index.storage.segment import SECTIONS, Columns, Segment
from sightline.index.storage.snapshot import Part, Snapshot

__all__ = ["CodeCache", "load_code"]

Pause = Callable[[], None]


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    version: str
    file: str


class _Config(msgspec.Struct, forbid_unknown_fields=True):
    version: str
    hash_algorithm: str


class _Manifest(msgspec.Struct, forbid_unknown_fields=True):
    cache_version: str
    build_config: _Config
    created_at: str
    document_count: int
    documents: list[_Document]


_decode_manifest = msgspec.json.Decoder(_Manifest).decode
_decode_pack = msgspec.json.Decoder(list[StoredChunk]).decode


@dataclass(frozen=True)
class CodeCache:
    """A loaded cache of code."""

    manifest: Manifest
    corpus: Corpus
    stamps: tuple[tuple[str, Stamp], ...]
    settled: bool
    size: int
    #: What the documents' files take on disk.
    document_bytes: int

    def unchanged(self, pause: Pause) -> bool:
        return self.settled and unchanged(self.stamps, pause)

    def select(self, query: str, budget: int, pause: Pause) -> Selection:
        return answer(self.corpus, query, budget, pause)


def load_code(
    folder: CacheFolder,
    pause: Pause = lambda: None,
    now_ns: Callable[[], int] = time.time_ns,
    count: Callable[[str], int] = tokens_of,
) -> CodeCache:
    """The whole cache, verified, or the problem with it."""
    started = now_ns()
    manifest, stamp = _open_manifest(folder, pause)
    stamps = [(os.path.join(folder.path, "manifest.json"), stamp)]
    listed = {entry.id: entry for entry in manifest.entries}
    chunks: list[StoredChunk] = []
    size = 0
    for name in sorted({entry.file for entry in manifest.entries}):
        pause()
        pack, stamp = _open_pack(folder, name, pause)
        stamps.append((folder.path_of(name), stamp))
        size += stamp.size
        if size > MAX_CONTEXT_CACHE_BYTES:
            raise DocumentDamaged("the cache is larger than it may be")
        for stored in pack:
            _verify(stored, listed.pop(stored.id, None), name)
        chunks += pack
    if listed:
        raise DocumentDamaged("a listed document is not there")
    try:
        corpus, memory = _index(chunks, pause, count)
    except (ValueError, KeyError, IndexError, OverflowError):
        raise DocumentDamaged("metadata that no build writes") from None
    newest = max(max(stamp.modified, stamp.changed) for _, stamp in stamps)
    settled = settled_at(newest) < started
    return CodeCache(manifest, corpus, tuple(stamps), settled, 3 * size + memory, size)


def _open_manifest(folder: CacheFolder, pause: Pause) -> tuple[Manifest, Stamp]:
    try:
        data, stamp = folder.read("manifest.json", pause)
    except NotInside:
        raise ManifestInvalid("not a regular file inside the cache") from None
    except OSError as error:
        raise ManifestUnreadable(system_text(error)) from None
    try:
        found = _decode_manifest(data)
        check_moment(found.created_at)
    except (msgspec.MsgspecError, ValueError):
        raise ManifestInvalid("not a manifest of a cache of code") from None
    config = BuildConfig(found.build_config.version, found.build_config.hash_algorithm)
    entries = [Entry(entry.id, entry.version, entry.file) for entry in found.documents]
    ids = [entry.id.encode("utf-8", "surrogatepass") for entry in entries]
    if config != CONFIG_CODE or found.document_count != len(ids) or ids != sorted(set(ids)):
        raise ManifestInvalid("not the manifest that a build writes")
    if cache_version(config, entries) != found.cache_version:
        raise ManifestInvalid("another version than its documents make")
    return Manifest(found.cache_version, config, found.created_at, len(ids), entries), stamp


def _open_pack(folder: CacheFolder, name: str, pause: Pause) -> tuple[list[StoredChunk], Stamp]:
    try:
        data, stamp = folder.read(name, pause)
        if pack_name(data) != name:
            raise DocumentDamaged("a file of documents is not the one that was written")
        return _decode_pack(data), stamp
    except PermissionError as error:
        raise DocumentUnreadable(system_text(error)) from None
    except (OSError, NotInside, msgspec.MsgspecError, ValueError):
        raise DocumentDamaged("a file of documents cannot be read") from None


def _verify(stored: StoredChunk, entry: Entry | None, name: str) -> None:
    if entry is None or entry.file != name or stored.version != entry.version:
        raise DocumentDamaged("a document is not the one that the manifest lists")
    if version_of(stored.content.encode("utf-8", "surrogatepass")) != stored.version:
        raise DocumentDamaged("another content than the manifest says")


def _index(
    chunks: list[StoredChunk], pause: Pause, count: Callable[[str], int]
) -> tuple[Corpus, int]:
    """The documents as a snapshot with a single part, files in the order of their paths."""
    inversion = Inversion(Keys())
    rows: dict[str, FileRow] = {}
    texts: list[bytes] = []
    vectors: list[bytes] = []
    ordered = sorted(chunks, key=lambda c: c.source.encode("utf-8", "surrogatepass"))
    for path, group in groupby(ordered, key=lambda c: c.source):
        pause()
        stored = list(group)
        data, cut, row = _file(path, stored, len(texts))
        if chunk_ids(path, cut) != [one.id for one in stored]:
            raise ValueError("ids that no build gives")
        inversion.add(path, data, cut)
        texts.append(data)
        rows[path] = row
        for one in stored:
            vector = vector_bytes(one.metadata.vector)
            vectors += [] if vector is None else [vector]
    segment = MemorySegment(inversion.finish())
    snapshot = Snapshot([Part.of(0, segment, rows.values())], rows, 0)
    memory = sum(column.nbytes for column in segment.columns.values())
    corpus = Corpus(snapshot, _Texts(snapshot, texts), Lookup(), count)
    if 0 < len(vectors) < snapshot.chunks:
        raise ValueError("vectors for some chunks only")
    if vectors:
        corpus.matrix = _matrix(vectors)
        memory += 2 * sum(map(len, vectors))  # themselves, where each begins and sketches
    else:
        corpus.lacking = "the cache has no vectors of this model; build it again"
    return corpus, memory


def _matrix(vectors: list[bytes]) -> Matrix:
    if len(set(map(len, vectors))) != 1:
        raise ValueError("vectors of several lengths")
    return Matrix.whole(np.frombuffer(b"".join(vectors), np.int8).reshape(len(vectors), -1))


def _file(path: str, stored: list[StoredChunk], place: int) -> tuple[bytes, list[Chunk], FileRow]:
    """The text of a file as far as it is in the cache, its chunks, and its row."""
    stored.sort(key=lambda c: (c.metadata.start_line, -c.metadata.end_line))
    pieces: list[bytes] = []
    cut: list[Chunk] = []
    offset = 0
    for one in stored:
        told = one.metadata
        data = one.content.encode()
        symbols = tuple(_symbols(told.symbols, told.start_line))
        if not 0 <= told.start_line <= told.end_line < 2**31 or told.kind not in KIND_BITS:
            raise ValueError(told.kind)
        span = (offset, offset + len(data))
        cut.append(
            Chunk(
                told.kind, told.name, told.container, told.start_line, told.end_line, (span,),
                symbols,
            )
        )  # fmt: skip
        pieces += (data, b"\n")
        offset += len(data) + 1
    language, role = stored[0].metadata.language, Role(stored[0].metadata.role)
    if language not in LANGUAGES:
        raise ValueError(language)
    row = FileRow(
        path, offset, 0, 0, 0, b"", language, int(role), 0, place, len(cut), 0, ""
    )  # fmt: skip
    return b"".join(pieces), cut, row


def _symbols(lines: str, line: int) -> Iterable[Symbol]:
    for told in lines.split("\n") if lines else ():
        kind, _, name = told.partition(" ")
        if kind not in KIND_BITS:
            raise ValueError(kind)
        yield Symbol(name, kind, line, 0, line)


class MemorySegment(Segment):
    """A segment that was never written."""

    def __init__(self, columns: Columns) -> None:
        self.columns: dict[str, Any] = {
            name: np.ascontiguousarray(columns[name], kind) for name, kind in SECTIONS.items()
        }
        self.size = 0
        self.files = len(self.columns["chunk_first"]) - 1
        self.chunks = len(self.columns["chunk_length"])


class _Texts:
    """The texts of a loaded cache."""

    def __init__(self, snapshot: Snapshot, texts: list[bytes]) -> None:
        self._snapshot = snapshot
        self._texts = texts

    def of(self, file: int) -> bytes:
        return self._texts[file]

    def at(self, path: str) -> bytes:
        return self._texts[self._snapshot.rows[path].place]
