"""What stands in a shell script as plain text: comments, what is quoted, documents.

Quotes go on over lines, and in one that expands another may begin: ``"$(awk '...' "$1")"``. An
apostrophe in a comment, a document or a text begins nothing. One that is taken for a quote would
turn the rest of a script inside out, so a script is read from its start, once. It is not parsed:
what no script that runs has in it may be taken for something else.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from sightline.contract.possessive import possessive
from sightline.text.spans import Spans

__all__ = ["Plain", "plain_texts"]

_WORD = rb"[\w.+!-]++"
#: What a document ends with. Nothing in it expands if a part of that is quoted.
_DOCUMENT = re.compile(rb"<<-?[ \t]*+(?:'([^'\n]++)'|\"([^\"\n]++)\"|(\\?)((?!\d)%b))" % _WORD)
#: What begins or ends something, or keeps what follows from doing so.
_TOKEN = re.compile(
    rb"\\.|\$?['\"]|\$[({]|[()}`\n]|<<<|<<|(?<![^ \t;&|()\n])\#"
    rb"|\b(?:trap|eval)(?=[ \t])|\bcase(?=[ \t]++[^\s;]++[ \t]++in\b)|\besac\b",
    re.DOTALL,
)
#: A line that may be the end of a document. Longer ones are none.
_LINE = re.compile(rb"^[ \t]*+([^\n]{1,80}?)[ \t]*+$", re.MULTILINE)
_ESCAPED = re.compile(possessive(rb"(?:[^'\\]|\\.)*+'"), re.DOTALL)
_IN_BRACES = re.compile(rb"[^'\n}]*+'")

#: What is open at a place: a text in quotes, what a brace expands, and commands.
_QUOTED, _BRACES, _COMMANDS, _BACKQUOTED, _CASE = b'"', b"${", b"(", b"`", b"case"
_CODE = (_COMMANDS, _BACKQUOTED, _CASE)


class Plain(NamedTuple):
    #: What is taken as it stands there.
    silent: Spans
    #: That, and texts and documents that expand variables: their words are no names.
    no_words: Spans


def plain_texts(text: bytes) -> Plain:
    """What is plain text in a script, but for what ``trap`` and ``eval`` are given: that runs.

    >>> script = b"A 'B\\nC' \\"D\\n$E\\" F # G"
    >>> plain = plain_texts(script)
    >>> [[name for name in "ABCDEFG" if script.index(name.encode()) in each] for each in plain]
    [['B', 'C', 'G'], ['B', 'C', 'D', 'E', 'G']]
    """
    reader = _Reader(text)
    reader.read()
    return Plain(Spans(reader.silent), Spans(_outermost([*reader.silent, *reader.quoted])))


def _outermost(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    done = 0
    for start, end in sorted(spans):
        if start >= done:
            yield start, end
            done = end


def _end(document: re.Match[bytes]) -> bytes:
    return document[1] or document[2] or document[4]


class _Reader:
    def __init__(self, text: bytes) -> None:
        self._text = text
        self._place = 0
        #: What is open, each with where it begins.
        self._open: list[tuple[bytes, int]] = [(_COMMANDS, -len("$(") - 1)]
        #: Documents that begin with the next line: whether nothing in them expands, and their ends.
        self._documents: list[tuple[bool, bytes]] = []
        #: Whether a command in this line runs the texts that it is given.
        self._runs = False
        #: By the ends that documents may have, the lines that are such.
        self._ends: dict[bytes, list[int]] | None = None
        self.silent: list[tuple[int, int]] = []
        self.quoted: list[tuple[int, int]] = []

    def read(self) -> None:
        while (match := _TOKEN.search(self._text, self._place)) is not None:
            self._place = match.end()
            token, top = match[0], self._open[-1][0]
            if token[:1] == b"\\":
                continue
            if token[-1:] == b'"':
                self._double(match.start(), top)
            elif token in (b"$(", b"${"):
                self._open.append((_BRACES if token == b"${" else _COMMANDS, match.start()))
            elif token == b"`":
                self._backquote(match.start(), top)
            elif top == _BRACES:
                self._in_braces(token, match.start())
            elif top in _CODE:
                self._in_code(token, match.start(), top)

    def _double(self, start: int, top: bytes) -> None:
        if top != _QUOTED:
            self._open.append((_QUOTED, start))
            return
        _, begun = self._open.pop()
        if not self._runs:
            self.quoted.append((begun, self._place))

    def _backquote(self, start: int, top: bytes) -> None:
        if top == _BACKQUOTED:
            self._open.pop()
        else:
            self._open.append((_BACKQUOTED, start))

    def _in_braces(self, token: bytes, start: int) -> None:
        if token == b"}":
            self._open.pop()
        elif token[-1:] == b"'" and self._open[-2][0] != _QUOTED:
            self._single(token, start)
        elif token[-1:] == b"'" and (match := _IN_BRACES.match(self._text, self._place)):
            self._place = match.end()  # in a text in quotes it may be an apostrophe

    def _in_code(self, token: bytes, start: int, top: bytes) -> None:
        if token in (b"'", b"$'"):
            self._single(token, start)
        elif token == b"#":
            end = self._text.find(b"\n", start)
            self._place = len(self._text) if end < 0 else end
            self.silent.append((start, self._place))
        elif token == b"\n":
            self._line()
        elif token == b"(":
            self._open.append((_COMMANDS, start))
        elif token == b")" and top == _COMMANDS and len(self._open) > 1:
            self._open.pop()
        elif token == b"case":
            self._open.append((_CASE, start))
        elif token == b"esac" and top == _CASE:
            self._open.pop()
        elif token in (b"trap", b"eval"):
            self._runs = True
        elif token == b"<<" and not self._is_sum():
            document = _DOCUMENT.match(self._text, start)
            if document is not None:
                self._place = document.end()
                self._documents.append((document[4] is None or document[3] != b"", _end(document)))

    def _is_sum(self) -> bool:
        """Whether two brackets have begun a sum, in which numbers are shifted."""
        if len(self._open) < 2:
            return False
        (outer, first), (inner, second) = self._open[-2:]
        return outer == inner == _COMMANDS and 0 < second - first <= len("$(")

    def _single(self, token: bytes, start: int) -> None:
        """A text that is taken as it is. An apostrophe without another one begins none."""
        if token == b"'":
            end = self._text.find(b"'", self._place) + 1
        else:
            escaped = _ESCAPED.match(self._text, self._place)
            end = 0 if escaped is None else escaped.end()
        if end:
            self._place = end
            if not self._runs:
                self.silent.append((start, end))

    def _line(self) -> None:
        """The next line of code begins, or documents do."""
        self._runs = False
        for is_plain, word in self._documents:
            end = self._end_of(word)
            if end is None and is_plain:
                end = len(self._text)
            if end is None:
                continue  # a number was shifted
            (self.silent if is_plain else self.quoted).append((self._place, end))
            self._place = end
        self._documents.clear()

    def _end_of(self, word: bytes) -> int | None:
        """Where the line begins that ends a document."""
        if self._ends is None:
            self._ends = {_end(match): [] for match in _DOCUMENT.finditer(self._text)}
            for match in _LINE.finditer(self._text):
                if match[1] in self._ends:
                    self._ends[match[1]].append(match.start())
        ends = self._ends.get(word, [])
        number = bisect_left(ends, self._place)
        return ends[number] if number < len(ends) else None
