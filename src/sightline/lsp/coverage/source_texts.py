"""The sources of one project as bytes, to look for words in: read once, and what changes again.

Reading and looking take milliseconds to tenths of a second and run in a thread. A project with more
text than is kept is not looked through.
"""

import asyncio
import re
import threading
from collections.abc import Callable, Iterable, Sequence

from sightline.lsp.files.reading import read_bytes
from sightline.workspace.changes import Change

__all__ = ["Hits", "SourceTexts", "word"]

_MAX_BYTES = 4 << 20
#: So much is kept of a project.
_MOST = 64 << 20
#: So much is looked through in less time than a thread takes to begin.
_AT_ONCE = 16 << 10

#: Where in each file something stands.
Hits = dict[str, list[int]]


def word(name: str) -> re.Pattern[bytes]:
    """What matches a name where it stands by itself. One with a hyphen is no part of a longer one.

    >>> bool(word("log").search(b"$log-1")), bool(word("log-a").search(b"log-a-b"))
    (True, False)
    """
    around = rb"[\w\x80-\xff-]" if "-" in name else rb"[\w\x80-\xff]"
    return re.compile(rb"(?<!%b)(%b)(?!%b)" % (around, re.escape(name.encode()), around))


class SourceTexts:
    def __init__(self, files: Callable[[], Iterable[str]]) -> None:
        self._files = files
        self._texts: dict[str, bytes] = {}
        #: Files to read again.
        self._due: set[str] = set()
        #: How often something changed, and how often it had when files were last read.
        self._changes, self._seen = 0, -1
        self._size = 0
        #: The files that are too large, or cannot be read.
        self.unread: frozenset[str] = frozenset()
        self._noting = threading.Lock()
        self._looking = threading.Lock()

    def changed(self, changes: Sequence[Change]) -> None:
        with self._noting:
            self._due.update(change.path for change in changes)
            self._changes += 1

    def __contains__(self, path: str) -> bool:
        """Whether there was such a file at the last search."""
        return path in self._texts

    def text(self, path: str) -> bytes:
        """What a file holds, as it was at the last search."""
        return self._texts.get(path, b"")

    async def find(self, pattern: re.Pattern[bytes], literal: bytes) -> Hits | None:
        """The same as ``search``, in a thread unless there is next to nothing to do."""
        if self._seen == self._changes and self._size <= _AT_ONCE:
            return self.search(pattern, literal)
        return await asyncio.to_thread(self.search, pattern, literal)

    def search(self, pattern: re.Pattern[bytes], literal: bytes) -> Hits | None:
        """Where the group of a pattern matches, in a thread; ``None`` if there is too much text.

        ``literal`` is in every match: most files do not have it, and that is seen quickly.
        """
        with self._looking:
            self._read()
            if self._size > _MOST:
                return None
            texts = self._texts
        found: Hits = {}
        for path, text in texts.items():
            if literal in text:
                starts = [match.start(1) for match in pattern.finditer(text)]
                if starts:
                    found[path] = starts
        return found

    def _read(self) -> None:
        with self._noting:
            if self._seen == self._changes:
                return
            seen, due, self._due = self._changes, self._due, set()
        before, texts, size, unread = self._texts, dict[str, bytes](), 0, set[str]()
        for path in self._files():
            known = before.get(path)
            if known is None or path in due or path in self.unread:
                known = read_bytes(path, _MAX_BYTES)
            if known is None:
                unread.add(path)
                known = b""
            size += len(known)
            if size > _MOST:
                texts.clear()
                break
            texts[path] = known
        self._texts, self.unread = texts, frozenset(unread)
        self._size, self._seen = size, seen
