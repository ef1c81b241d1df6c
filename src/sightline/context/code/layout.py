"""How a cache of code spells its documents, shared by what writes and what reads it."""

import msgspec

__all__ = ["Metadata", "StoredChunk"]


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
