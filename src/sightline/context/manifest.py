"""The manifest of a cache: what it lists, how it is read and written, and the cache's version.

The version is a digest of the build configuration and of every document's id and version, so that
two caches with equal versions hold equal documents. The manifest decides what a cache contains;
``index.json`` repeats it for other programs and is never read here.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from sightline.context import moments
from sightline.context.output import compact, quoted
from sightline.context.reader import Field, Reader

__all__ = [
    "CONFIG_CODE",
    "CONFIG_V0",
    "BuildConfig",
    "Entry",
    "Manifest",
    "cache_version",
    "read_manifest",
]


class BuildConfig(NamedTuple):
    version: str
    hash_algorithm: str


CONFIG_V0 = BuildConfig("1", "sha256")
#: Caches of code. Rises when chunks, ids or metadata change.
CONFIG_CODE = BuildConfig("code-2", "sha256")


class Entry(NamedTuple):
    """One document: its id, the digest of its content, and its file inside the cache."""

    id: str
    version: str
    file: str


class Manifest(NamedTuple):
    cache_version: str
    build_config: BuildConfig
    created_at: str
    document_count: int
    entries: Sequence[Entry]

    def encoded(self) -> bytes:
        """The bytes of ``manifest.json``."""
        # Spelled by hand: a large cache has tens of thousands of entries.
        config = self.build_config
        rows = ",".join(map(_row, self.entries))
        documents = f"[{rows}\n  ]" if rows else "[]"
        return (
            f'{{\n  "cache_version": {quoted(self.cache_version)},\n'
            f'  "build_config": {{\n    "version": {quoted(config.version)},\n'
            f'    "hash_algorithm": {quoted(config.hash_algorithm)}\n  }},\n'
            f'  "created_at": {quoted(self.created_at)},\n'
            f'  "document_count": {self.document_count},\n  "documents": {documents}\n}}'
        ).encode()

    def encoded_index(self) -> bytes:
        """The bytes of ``index.json``: which file holds which id."""
        rows = ",".join(f"\n  {quoted(e.id)}: {quoted(e.file)}" for e in self.entries)
        return f"{{{rows}\n}}".encode() if rows else b"{}"


def _row(entry: Entry) -> str:
    id_, version, file = map(quoted, entry)
    return (
        f'\n    {{\n      "id": {id_},\n      "version": {version},\n      "file": {file}\n    }}'
    )


def cache_version(config: BuildConfig, entries: Iterable[Entry]) -> str:
    """The version of a cache whose entries are in the order of their ids."""
    digest = hashlib.sha256(compact(config._asdict()))
    for entry in entries:
        digest.update(f"{entry.id}:{entry.version}".encode())
    return f"sha256:{digest.hexdigest()}"


def read_manifest(data: bytes, pause: Callable[[], None] = lambda: None) -> Manifest:
    """The manifest in the bytes of ``manifest.json``, or ``reader.Refused``."""
    reader = Reader(data, pause)
    version, config, created_at, count, entries = reader.struct("CacheManifest", _MANIFEST)
    reader.end()
    return Manifest(version, config, created_at, count, entries)


def _moment(text: str) -> str:
    moments.check(text)
    return text


_TEXT = Reader.text
_ENTRY = (Field("id", _TEXT), Field("version", _TEXT), Field("file", _TEXT))
_CONFIG = (Field("version", _TEXT), Field("hash_algorithm", _TEXT))
_MANIFEST = (
    Field("cache_version", _TEXT),
    Field("build_config", lambda r: BuildConfig(*r.struct("CacheBuildConfig", _CONFIG))),
    Field(
        "created_at",
        lambda r: r.parsed_text("an RFC 3339 formatted date and time string", _moment),
    ),
    Field("document_count", lambda r: r.unsigned("usize")),
    Field(
        "documents",
        lambda r: r.sequence(lambda r: Entry(*r.struct("ManifestDocumentEntry", _ENTRY))),
    ),
)
