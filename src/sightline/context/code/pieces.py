"""Chunks of an index as documents of a context: their ids and their texts.

An id is ``path::Qualified.name``. Several declarations of one name in a file are told apart by
``#2``, ``#3`` in the order of their lines; what has no name is called by its lines,
``path#L10-L40``. Unlike the ids of Markdown caches they keep their case, because code does.
"""

from collections.abc import Iterator, Sequence

from sightline.index.cutting.chunks import Chunk
from sightline.index.storage.records import Record

__all__ = ["chunk_ids", "chunk_text", "qualified"]


def qualified(chunk: Chunk) -> str:
    """The name of a declaration with the names around it."""
    return f"{chunk.container}.{chunk.name}" if chunk.container else chunk.name


def chunk_ids(path: str, record: Record | Sequence[Chunk]) -> list[str]:
    """The ids of all chunks of a file, in its order."""
    return list(_ids(path, record))


def _ids(path: str, record: Record | Sequence[Chunk]) -> Iterator[str]:
    seen: dict[str, int] = {}
    for number in range(len(record)):
        chunk = record[number]
        if chunk.name:
            name = f"{path}::{qualified(chunk)}"
        else:
            name = f"{path}#L{chunk.start_line + 1}-L{chunk.end_line + 1}"
        seen[name] = seen.get(name, 0) + 1
        yield name if seen[name] == 1 else f"{name}#{seen[name]}"


def chunk_text(chunk: Chunk, data: bytes) -> str:
    """The own text of a chunk: a class without its methods, whole lines, no blank lines around.

    Text is what the index counts as the chunk's own; where inner declarations were left out, the
    parts stand below each other.
    """
    parts: list[str] = []
    for place, (start, end) in enumerate(chunk.spans):
        # Declarations begin after their indent; with it their lines keep their shape.
        line = data.rfind(b"\n", 0, start) + 1 if place == 0 else start
        begin = start if data[line:start].strip() else line
        text = data[begin:end].decode("utf-8", "replace")
        kept = text.strip("\r\n").rstrip()
        if kept.strip():
            parts.append(kept)
    return "\n".join(parts)
