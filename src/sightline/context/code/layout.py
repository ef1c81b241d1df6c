"""How a cache of code spells its documents, shared by what writes and what reads it."""

import hashlib

import msgspec

__all__ = ["Metadata", "StoredChunk", "pack_name"]


class Metadata(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What ranking needs to know of a chunk: text and whole numbers only, as v0 allows."""

    kind: str
    name: str
    container: str
    language: str
    #: The number of a role of ``index.roles``.
    role: int
    #: 0-based, both inclusive.
    start_line: int
    end_line: int
    #: A line for each declared name, after its kind.
    symbols: str


class StoredChunk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    version: str
    source: str
    content: str
    metadata: Metadata


def pack_name(data: bytes) -> str:
    """The name of a file of documents: what is in it decides, so damage shows."""
    return f"documents/{hashlib.sha256(data).hexdigest()[:32]}.json"
