"""How a cache of code spells its documents, shared by what writes and what reads it."""

import base64
import hashlib

import msgspec

from sightline.index.dense.weights import DIGEST

__all__ = ["Metadata", "StoredChunk", "pack_name", "vector_bytes", "vector_text"]

_MODEL = DIGEST[:12]


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
    #: The vector of the chunk, as ``vector_text`` writes it, or nothing.
    vector: str = ""


class StoredChunk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    version: str
    source: str
    content: str
    metadata: Metadata


def pack_name(data: bytes) -> str:
    """The name of a file of documents: what is in it decides, so damage shows."""
    return f"documents/{hashlib.sha256(data).hexdigest()[:32]}.json"


def vector_text(vector: bytes) -> str:
    """How a vector of this package's model is written: with the model's digest before it."""
    return f"{_MODEL}:{base64.b64encode(vector).decode()}"


def vector_bytes(text: str) -> bytes | None:
    """The vector that was written so; nothing when there is none or it is another model's.

    ``ValueError`` when no build writes it.
    """
    model, _, rest = text.partition(":")
    return base64.b64decode(rest, validate=True) if model == _MODEL else None
