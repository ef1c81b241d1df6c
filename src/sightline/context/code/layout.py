"""How a cache of code spells its documents, shared by what writes and what reads it."""

import base64
import hashlib

import msgspec

from sightline.index.dense.weights import DIGEST

__all__ = ["Metadata", "StoredChunk", "vector_bytes", "vector_text"]

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


def vector_text(vector: bytes, version: str) -> str:
    """How a vector of this package's model is written beside the content of that version."""
    return f"{_MODEL}:{_check(_MODEL, version, vector)}:{base64.b64encode(vector).decode()}"


def vector_bytes(text: str, version: str) -> bytes | None:
    """The vector that was written so; nothing when there is none or it is another model's.

    ``ValueError`` when no build writes it.
    """
    if not text:
        return None
    model, check, rest = text.split(":")
    vector = base64.b64decode(rest, validate=True)
    if check != _check(model, version, vector):
        raise ValueError("not the vector that was written")
    return vector if model == _MODEL else None


def _check(model: str, version: str, vector: bytes) -> str:
    return hashlib.sha256(f"{model}\0{version}\0".encode() + vector).hexdigest()[:12]
