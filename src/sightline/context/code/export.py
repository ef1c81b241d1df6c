"""A cache of a repository's declarations, made from a snapshot of its index.

The format is that of Markdown caches with three differences, which ``build_config.version`` tells:
documents are chunks with ids such as ``path::Class.method``; several lie in one file, a JSON array,
so that a large repository is a few hundred files, each named by the digest of its bytes; and their
metadata say what ranking needs. What the index knows beyond that is worked out again when the cache
is loaded, so equal repositories give equal bytes, however their index came about.
"""

import hashlib
import time
from collections.abc import Callable

import msgspec

from sightline.context.build import write_packed
from sightline.context.code.corpus import Corpus
from sightline.context.code.layout import Metadata, StoredChunk, pack_name, vector_text
from sightline.context.code.pieces import chunk_ids, chunk_text
from sightline.context.documents import version_of
from sightline.context.manifest import CONFIG_CODE, Entry, Manifest

__all__ = ["export"]

Pause = Callable[[], None]

_encode = msgspec.json.Encoder().encode


def export(
    corpus: Corpus,
    cache: str,
    *,
    replace: bool = False,
    pause: Pause = lambda: None,
    now_ns: Callable[[], int] = time.time_ns,
) -> Manifest:
    """Writes the cache of everything that is alive in a corpus."""
    snapshot = corpus.snapshot
    groups: dict[str, list[StoredChunk]] = {}
    for file in snapshot.files_by_path:
        pause()
        path = snapshot.path(file)
        group = groups.setdefault(hashlib.sha256(path.encode()).hexdigest()[:2], [])
        group += _chunks(corpus, file, path)
    packs: dict[str, bytes] = {}
    entries: list[Entry] = []
    for group in groups.values():
        pause()
        data = b"[" + b",\n".join(map(_encode, group)) + b"]"
        name = pack_name(data)
        packs[name] = data
        entries += [Entry(stored.id, stored.version, name) for stored in group]
    entries.sort(key=lambda entry: entry.id.encode())
    return write_packed(
        packs, entries, cache, config=CONFIG_CODE, replace=replace, pause=pause, now_ns=now_ns
    )


def _chunks(corpus: Corpus, file: int, path: str) -> list[StoredChunk]:
    snapshot = corpus.snapshot
    row = snapshot.rows[path]
    data = corpus.texts.at(path)
    record = snapshot.record(file)
    chunks = [record[number] for number in range(len(record))]
    found: list[StoredChunk] = []
    first = int(snapshot.chunk_first[file])
    for number, (id_, chunk) in enumerate(zip(chunk_ids(path, chunks), chunks, strict=True), first):
        content = chunk_text(chunk, data)
        version = version_of(content.encode())
        metadata = Metadata(
            kind=chunk.kind,
            name=chunk.name,
            container=chunk.container,
            language=row.language,
            role=row.role,
            start_line=chunk.start_line,
            end_line=chunk.end_line,
            symbols="\n".join([f"{symbol.kind} {symbol.name}" for symbol in chunk.symbols]),
            vector="" if corpus.matrix is None else vector_text(corpus.matrix.row(number)),
        )
        found.append(StoredChunk(id_, version, path, content, metadata))
    return found
