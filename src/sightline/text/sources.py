"""The sources of one project as bytes, to look for words in: read once, and what changes again.

Reading and looking take milliseconds to tenths of a second and run in a thread. When a second name
is looked for it is found out in the background which texts have which words, and from then on most
are not looked through at all. A project with more text than is kept is not looked through.

What others find out of one text, or of all of them, is kept here for as long as these are the texts
(``made``, ``made_of_all``).
"""

import asyncio
import re
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple, TypeVar, cast

from sightline.contract.texts import column_of, line_length_utf16
from sightline.contract.values import Position
from sightline.text.dirty_paths import Changed, DirtyPaths
from sightline.text.readable import State, read_whole
from sightline.text.spans import Spans, spans_of
from sightline.text.word_files import WordFiles

__all__ = [
    "Hits",
    "Sought",
    "SourceTexts",
    "after_dot",
    "numbered",
    "offset_of",
    "position_of",
    "word",
]

_MAX_BYTES = 4 << 20
#: So much is kept of a project.
_MOST = 64 << 20
#: So much is looked through in less time than a thread takes to begin and to have a turn.
_QUICK = 128 << 10
#: So many names that were looked for are remembered, but for those that stand everywhere.
_MOST_FOUND, _MOST_HITS = 8, 20_000
#: Less than so much is looked through as it is.
_FEW_WORDS = 256 << 10
#: If so much has changed, all words are read again.
_UNLIKE = 1 << 20

#: Where in each file something stands.
Hits = dict[str, list[int]]
T = TypeVar("T")


class Sought(NamedTuple):
    """A name to look for, with what may stand around it."""

    literal: bytes
    #: The bytes after which it goes on, and is another name.
    part: frozenset[int]
    #: Whether it has to stand after a dot.
    dotted: bool = False

    def starts(self, text: bytes) -> list[int]:
        """Where it stands in a text."""
        literal, part, found = self.literal, self.part, list[int]()
        counts = _is_after_dot if self.dotted else self._begins
        place, size = text.find(literal) if literal else -1, len(literal)
        while place >= 0:
            end = place + size
            if (end == len(text) or text[end] not in part) and counts(text, place):
                found.append(place)
            place = text.find(literal, end)
        return found

    def _begins(self, text: bytes, start: int) -> bool:
        return start == 0 or text[start - 1] not in self.part


def _is_after_dot(text: bytes, start: int) -> bool:
    while start and text[start - 1] in _BLANKS:
        start -= 1
    return start > 0 and text[start - 1] == _DOT


def word(name: str) -> Sought:
    """A name where it stands by itself. One with a hyphen is no part of a longer one.

    >>> word("log").starts(b"log $log-1 logs"), word("log-a").starts(b"log-a-b log-a")
    ([0, 5], [8])
    """
    return Sought(name.encode(), _HYPHENED if "-" in name else _PART)


def after_dot(name: str) -> Sought:
    """A name where it stands after a dot.

    >>> after_dot("go").starts(b"a.go(b . go, c.gone, go)")
    [2, 9]
    """
    return Sought(name.encode(), _DOTTED, dotted=True)


def numbered(text: bytes, starts: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Places in a text, in order, each with the number of its line. Counts on from the one before.

    >>> list(numbered(b"a\\nb b\\n", [0, 2, 4]))
    [(0, 0), (2, 1), (4, 1)]
    """
    line = before = 0
    for start in starts:
        line += text.count(b"\n", before, start)
        before = start
        yield start, line


def offset_of(text: bytes, place: Position) -> int:
    """The offset of a position in a text with one way to end a line.

    >>> offset_of("a\\né b".encode(), Position(1, 2))
    5
    """
    start = 0
    for _ in range(place.line):
        start = text.find(b"\n", start) + 1
        if not start:
            return len(text)
    end = text.find(b"\n", start)
    line = text[start : end if end >= 0 else len(text)].decode("utf-8", "replace")
    return start + len(line[: column_of(line, place.character)].encode())


def position_of(text: bytes, offset: int) -> Position:
    """The position of an offset; the other way round than ``offset_of``."""
    start = text.rfind(b"\n", 0, offset) + 1
    column = text[start:offset].decode("utf-8", "replace")
    return Position(text.count(b"\n", 0, start), line_length_utf16(column))


def _starts_of_lines(texts: "SourceTexts", path: str) -> Sequence[int]:
    """Where the lines of a file start, and where one more would."""
    sizes = (len(line) + 1 for line in texts.text(path).split(b"\n"))
    return array("L", accumulate(sizes, initial=0))


#: The bytes of names, of blanks in a line, and of a dot.
_PART = frozenset(byte for byte in range(256) if byte >= 0x80 or re.match(rb"\w", bytes([byte])))
_HYPHENED, _DOTTED = _PART | {ord("-")}, _PART | {ord("$")}
_BLANKS, _DOT = b" \t", ord(".")


def _read_lines(path: str) -> tuple[bytes | None, State]:
    """What a file holds, with one way to end a line, so that places in it are counted alike."""
    data, state = read_whole(path, _MAX_BYTES)
    if data is not None and b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data, state


class SourceTexts:
    def __init__(self, files: Callable[[], Iterable[str]], top: str = "") -> None:
        self._files = files
        #: The root that they are in, if that is known.
        self.top = top
        self._texts: dict[str, bytes] = {}
        #: By file and pattern, each with the text that it is of.
        self._spans: dict[tuple[str, re.Pattern[bytes]], tuple[bytes, Spans]] = {}
        #: By file and what makes it, each with the text that it is made of.
        self._made: dict[tuple[str, Callable[..., object]], tuple[bytes, object]] = {}
        #: By what makes it of all texts, each with these.
        self._of_all: dict[Callable[..., object], tuple[Mapping[str, bytes], object]] = {}
        self._dirty = DirtyPaths()
        #: How often something had changed when files were last read.
        self._seen = -1
        self._size = 0
        #: The name that was last looked for, and the files that have it.
        self._having: tuple[bytes, Sequence[str]] = (b"", ())
        #: Where the names stand that were last looked for: several look for the same ones.
        self._found: dict[Sought, Hits] = {}
        #: How many names were looked for one after the other.
        self._names = 0
        #: Which texts have which words, once that is known.
        self._words: WordFiles | None = None
        self._reading_words: threading.Thread | None = None
        #: The files that are too large, or cannot be read.
        self.unread: frozenset[str] = frozenset()
        #: How the files are that something is wrong with.
        self._wrong: dict[str, State] = {}
        self._looking = threading.Lock()

    def changed(self, changes: Iterable[Changed]) -> None:
        self._dirty.note(changes)

    def __contains__(self, path: str) -> bool:
        """Whether there was such a file at the last search."""
        return path in self._texts

    def paths(self) -> Sequence[str]:
        """The files that there were at the last search."""
        return list(self._texts)

    def text(self, path: str) -> bytes:
        """What a file holds, as it was at the last search."""
        return self._texts.get(path, b"")

    def line(self, path: str, number: int) -> bytes:
        """A line of a file, as far as that is known."""
        starts = self.made(path, _starts_of_lines)
        if number + 1 >= len(starts):
            return b""
        return self.text(path)[starts[number] : starts[number + 1] - 1]

    def name_at(self, path: str, place: Position) -> bytes:
        """The name that begins at a place, as far as the file is known."""
        text = self.line(path, place.line).decode("utf-8", "replace")
        name = re.match(r"[\w$]*", text[column_of(text, place.character) :])
        return name[0].encode() if name is not None else b""

    def position(self, path: str, offset: int) -> Position:
        """The position of an offset in a file."""
        return position_of(self.text(path), offset)

    def offset(self, path: str, place: Position) -> int:
        """The offset of a position in a file; the same as ``offset_of``, for many of them."""
        starts, text = self.made(path, _starts_of_lines), self.text(path)
        if place.line + 1 >= len(starts):
            return len(text)
        line = self.line(path, place.line).decode("utf-8", "replace")
        return starts[place.line] + len(line[: column_of(line, place.character)].encode())

    def current(self, path: str) -> bytes | None:
        """What a file holds, where that was read and nothing changed since."""
        known = self._seen == self._dirty.changes and path not in self.unread
        return self._texts.get(path) if known else None

    def wrong(self) -> dict[str, State] | None:
        """How the files are that are not text, or closed, in a thread; ``None`` if there is too
        much text.
        """
        with self._looking:
            if self._size <= _MOST:  # otherwise there was too much, and hardly less by now
                self._read()
            return self._wrong if self._size <= _MOST else None

    def spans(self, path: str, pattern: re.Pattern[bytes]) -> Spans:
        """What a pattern matches in a file, which is found out once."""
        text, known = self.text(path), self._spans.get((path, pattern))
        if known is None or known[0] is not text:
            known = self._spans[path, pattern] = (text, spans_of(pattern, text))
        return known[1]

    def made(self, path: str, make: "Callable[[SourceTexts, str], T]") -> T:
        """What somebody makes of a file and nothing else, which is done once."""
        text, known = self.text(path), self._made.get((path, make))
        if known is not None and known[0] is text:
            return cast("T", known[1])
        found = make(self, path)
        if self.text(path) is text:  # otherwise it may be of another text than this one
            self._made[path, make] = (text, found)
        return found

    def made_of_all(self, make: "Callable[[SourceTexts], T]") -> T:
        """What somebody makes of all files, which is done once for as long as none changes."""
        texts, known = self._texts, self._of_all.get(make)
        if known is not None and known[0] is texts:
            return cast("T", known[1])
        found = make(self)
        if self._texts is texts:
            self._of_all[make] = (texts, found)
        return found

    async def find(self, sought: Sought) -> Hits | None:
        """The same as ``search``, in a thread unless there is next to nothing to do."""
        known = self._found.get(sought)
        if known is not None and self._seen == self._dirty.changes:
            return known
        if self.is_quick(sought, _QUICK):
            return self.search(sought)
        return await asyncio.to_thread(self.search, sought)

    def is_quick(self, sought: Sought, most: int) -> bool:
        """Whether no more than so many bytes have to be looked through for a name."""
        if self._seen != self._dirty.changes or not self._looking.acquire(blocking=False):
            return False  # something is to be read, or is being read
        try:
            if self._words is None:
                return self._size <= most
            return sum(len(self._texts[path]) for path in self._paths_with(sought.literal)) <= most
        finally:
            self._looking.release()

    def search(self, sought: Sought) -> Hits | None:
        """Where a name stands, in a thread; ``None`` if there is too much text."""
        with self._looking:
            self._read()
            if self._size > _MOST:
                return None
            known = self._found.get(sought)
            if known is not None:
                return known
            texts, having = self._texts, self._paths_with(sought.literal)
            self._read_words_beside()
        hits = {path: starts for path in having if (starts := sought.starts(texts[path]))}
        if sum(map(len, hits.values())) <= _MOST_HITS:
            with self._looking:
                if texts is self._texts:
                    if len(self._found) >= _MOST_FOUND:
                        self._found.clear()
                    self._found[sought] = hits
        return hits

    def _paths_with(self, literal: bytes) -> Sequence[str]:
        """The files that may have a name. The same one is looked for in several ways."""
        known, having = self._having
        if known != literal:
            self._names += 1
            if self._words is not None:
                having = self._words.having(literal, self._texts)
            else:
                having = [path for path, text in self._texts.items() if literal in text]
            self._having = (literal, having)
        return having

    def _read_words_beside(self) -> None:
        """Has the words of all texts read, where that was not done or much has changed since."""
        words, texts = self._words, self._texts
        if self._size <= _FEW_WORDS or self._reading_words is not None:
            return
        if self._names < 2:
            return  # the server has mostly just started, and needs every processor itself
        if words is not None and words.unlike(texts) <= _UNLIKE:
            return

        def read() -> None:
            self._words = WordFiles(texts, gently=True)
            self._reading_words = None

        # It ends by itself, and nobody has to wait for it at the end.
        self._reading_words = threading.Thread(target=read, name="words", daemon=True)
        self._reading_words.start()

    def _read(self) -> None:
        if self._seen != self._dirty.changes:
            with self._dirty.taken() as (seen, due):
                self._read_again(due)
                self._seen = seen

    def _read_again(self, due: set[str]) -> None:
        before, texts, size, unread = self._texts, dict[str, bytes](), 0, set[str]()
        wrong: dict[str, State] = {}
        for path in self._files():
            known, state = before.get(path), self._wrong.get(path, State.FINE)
            if known is None or path in due or path in self.unread:
                known, state = _read_lines(path)
            if state is not State.FINE:
                wrong[path] = state
            if known is None:
                unread.add(path)
                known = b""
            size += len(known)
            if size > _MOST:
                texts.clear()
                break
            texts[path] = known
        self._texts, self.unread, self._wrong = texts, frozenset(unread), wrong
        self._spans = {
            key: known for key, known in [*self._spans.items()] if known[0] is texts.get(key[0])
        }
        self._made = {
            key: made for key, made in [*self._made.items()] if made[0] is texts.get(key[0])
        }
        self._of_all = {}
        self._having = (b"", ())
        self._found = {}
        self._size = size
