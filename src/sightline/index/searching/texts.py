"""The texts of indexed files, read from disk when an answer needs them, and checked.

An answer must never mix an old index with a new file: a text whose hash is not the indexed one is
``Outdated``, and the search starts over on a refreshed index.
"""

import os
from collections import OrderedDict

from sightline.contract.failures import Failure
from sightline.index.reading.sources import (
    MAX_BYTES,
    content_hash,
    decode_text,
    has_mark,
    read_whole,
    with_line_feeds,
)
from sightline.index.storage.snapshot import Snapshot
from sightline.workspace.gate import Gate
from sightline.workspace.roots import Root, RootSet

__all__ = ["Outdated", "Texts"]

_KEPT_BYTES = 1 << 20


class Outdated(Exception):
    """A file changed after it was indexed. ``real`` is its path."""

    def __init__(self, real: str) -> None:
        super().__init__(real)
        self.real = real


class Texts:
    """Reads for one search on one snapshot. Not for several threads at once."""

    def __init__(self, snapshot: Snapshot, root: str) -> None:
        self._snapshot = snapshot
        self._root = root
        self._gate = Gate(RootSet.of([Root(root, root)]))
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0
        self._marked: set[str] = set()

    def of(self, file: int) -> bytes:
        """The text of a file of the snapshot, as UTF-8 bytes."""
        return self.at(self._snapshot.path(file))

    def at(self, path: str) -> bytes:
        kept = self._kept.get(path)
        if kept is not None:
            self._kept.move_to_end(path)
            return kept
        data = self.read(path)
        self._kept[path] = data
        self._size += len(data)
        while self._size > _KEPT_BYTES and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._size -= len(dropped)
        return data

    def is_marked(self, path: str) -> bool:
        """Whether a file that was read began with a byte-order mark, which its text lacks."""
        return path in self._marked

    def read(self, path: str) -> bytes:
        """The text as it was indexed, not kept. What is the same needs not be judged again."""
        real = f"{self._root}/{path}"
        row = self._snapshot.rows[path]
        try:
            descriptor = self._gate.open_again(real)
            try:
                raw = read_whole(descriptor, row.size, MAX_BYTES)
                # Taken after reading: whoever wrote meanwhile has moved it.
                status = os.fstat(descriptor)
            finally:
                os.close(descriptor)
        except (Failure, OSError):
            raise Outdated(real) from None
        if not row.is_at(status) and content_hash(raw) != row.hash:
            raise Outdated(real)
        if raw.isascii():
            return with_line_feeds(raw)
        if has_mark(raw):
            self._marked.add(path)
        data = decode_text(raw)
        assert isinstance(data, bytes), "it was text when it was indexed"
        return data
