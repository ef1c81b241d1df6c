"""The documents of a cache: what one is, its id and version, and its file.

An id is the path below the sources with ``/`` between its parts, in lower case. A version is the
digest of the content's bytes, exactly as they are: no newline, byte-order mark or form is changed.

>>> document_id("./Guides\\\\Start.md")
'guides/start.md'
"""

import hashlib
from collections.abc import Callable
from typing import NamedTuple

from sightline.context.output import compact
from sightline.context.reader import Field, Reader, Refused
from sightline.context.words import lower

__all__ = ["Document", "document_id", "file_stem", "read_document", "tokens_of", "version_of"]

_STEM_DIGITS = 12
_I64_MIN, _I64_MAX = -(2**63), 2**63 - 1


class Document(NamedTuple):
    id: str
    version: str
    source: str
    content: str

    def encoded(self) -> bytes:
        """The bytes of the document's file."""
        return compact({**self._asdict(), "metadata": {}})


def document_id(relative: str) -> str:
    """The id of the file at a path relative to the sources."""
    path = relative.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    return lower(path)


def version_of(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def file_stem(version: str) -> str:
    """The name of the file of a document with this version, without its ending."""
    return version.removeprefix("sha256:")[:_STEM_DIGITS]


def tokens_of(content: str) -> int:
    """The estimate that budgets are spent in: a token for every four bytes begun."""
    size = len(content) if content.isascii() else len(content.encode())
    return (size + 3) // 4


def read_document(data: bytes, pause: Callable[[], None] = lambda: None) -> Document:
    """The document in the bytes of its file, or ``reader.Refused``."""
    reader = Reader(data, pause)
    id_, version, source, content, _ = reader.struct("Document", _DOCUMENT)
    reader.end()
    return Document(id_, version, source, content)


def _metadata_value(reader: Reader) -> None:
    value = reader.value()
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not isinstance(value, str) and not (whole and _I64_MIN <= value <= _I64_MAX):
        raise Refused("metadata values must be strings or 64-bit integers")


_DOCUMENT = (
    Field("id", Reader.text),
    Field("version", Reader.text),
    Field("source", Reader.text),
    Field("content", Reader.text),
    Field("metadata", lambda r: r.members(_metadata_value)),
)
