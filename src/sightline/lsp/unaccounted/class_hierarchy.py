"""Which members of Python's classes stand for one another: those of a class and of its bases.

    class Base:                        class Mail(Middle):     # and a Middle is a Base
        def handle(self): ...              def handle(self): ...

A call of ``Base.handle`` may reach ``Mail.handle``, and no server counts it as a use of that. The
head of a class names its bases, by any name and from any module, so the server is asked what each
of them is, and that one's bases then. Where it cannot tell, and outside of the project, where it is
not asked, the name alone counts, and nobody is sure then. A protocol is a base of every class that
has all of its members, though no head says so. Refused is to follow what only a program knows:
classes that a function makes.
"""

import asyncio
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from functools import cache, cached_property, lru_cache
from itertools import accumulate, islice
from typing import NamedTuple

from sightline.contract.possessive import possessive
from sightline.contract.texts import line_length_utf16
from sightline.contract.uris import path_in
from sightline.contract.values import Location, Position
from sightline.lsp.asking import questions
from sightline.lsp.files.reading import read_bytes
from sightline.lsp.server.server import Server
from sightline.text.code import PYTHON
from sightline.text.sources import SourceTexts
from sightline.text.spans import Spans, spans_of

__all__ = ["Blocks", "ClassHierarchy", "Kinship", "blocks_of", "openers"]

#: The first line of a block, or what ends a list of parameters.
_OPENS = re.compile(rb"([ \t]*)(?:(?:async[ \t]+)?(def|class)\b|([)\]}])|[^\s#])")
_CLASS = re.compile(rb"[ \t]*class[ \t]+(\w+)")
#: What is read of the head of a class: what is no code, brackets, its end, what a keyword gives,
#: and names, of which the last part is one that can be asked about.
_HEAD = re.compile(
    possessive(
        rb"#[^\n]*+|\"[^\"\n]*+\"?|'[^'\n]*+'?|(?P<open>[\[({])|(?P<close>[\])}])|(?P<end>:)"
        rb"|\w++\s*+=(?!=)\s*+[\w.]*+|(?P<name>\w++(?:\s*+\.\s*+\w++)*+)"
    )
)
_LAST = re.compile(rb"\w+\Z")
_PROTOCOL = "Protocol"
#: What a line in the body of a class declares. Every class has those with underscores around them.
_MEMBER = re.compile(rb"[ \t]+(?:(?:async[ \t]+)?def[ \t]+(?!__)(\w+)|(?!__)(\w+)[ \t]*[:=](?!=))")
#: So many lines may the head of a class have, and so much is read there.
_MOST_HEAD, _MOST_WORDS = 20, 256
#: A longer file of a library tells nothing of its classes.
_LARGEST = 4 << 20
#: So many bases are asked for, and so many steps are gone.
_MOST_ASKED, _DEEPEST = 200, 16

#: What something is in the body of: a ``def``, a ``class`` or nothing; and where that begins.
Opener = tuple[str, int]
_NOTHING: Opener = ("", 0)


class Blocks:
    """The lines of a source; nothing of those that begin inside a text or comment; and what each of
    them is in.

    >>> from sightline.text.spans import spans_of
    >>> text = b"class A:\\n    # b\\n    c"
    >>> blocks = Blocks(text, spans_of(re.compile(b"    #.*"), text))
    >>> [*blocks.lines(0, 9)], blocks.opener(2), blocks.class_line(2)
    ([b'class A:', b'', b'    c'], ('class', 0), 0)
    """

    def __init__(self, text: bytes, no_code: Spans) -> None:
        self._text = text
        self._no_code = no_code
        sizes = [len(line) + 1 for line in text.split(b"\n")]
        #: Where lines start, and where one more would.
        self._starts = array("I", accumulate(sizes, initial=0))
        #: How many lines were gone through for single ones.
        self._gone_through = 0

    def __len__(self) -> int:
        return len(self._starts) - 1

    def line(self, number: int) -> bytes:
        start, end = self._starts[number], self._starts[number + 1] - 1
        return b"" if start in self._no_code else self._text[start:end]

    def lines(self, first: int, end: int) -> Iterator[bytes]:
        """Those from one on to another, as far as there are so many."""
        return map(self.line, range(first, min(end, len(self))))

    @cached_property
    def openers(self) -> Sequence[Opener]:
        return openers(self.lines(0, len(self)))

    def opener(self, line: int) -> Opener:
        """What a line is in. Mostly that is one of the lines right above."""
        if line >= len(self):
            return _NOTHING
        if self._gone_through <= len(self):
            return self._above(line)
        return self.openers[line]

    def class_line(self, line: int) -> int | None:
        """The line in which the class begins whose member is declared in a line; an attribute is so
        in a method.
        """
        for _ in range(_DEEPEST):
            kind, above = self.opener(line)
            if kind != "def":
                return above if kind else None
            line = above
        return None

    def _above(self, line: int) -> Opener:
        """The same as ``openers``, from the line on upwards."""
        match = _OPENS.match(self.line(line))
        depth = 2 * len(match[1]) if match is not None else 0
        while line and depth:
            line -= 1
            self._gone_through += 1
            match = _OPENS.match(self.line(line))
            if match is None:
                continue
            other = 2 * len(match[1]) + (match[3] is not None)
            if other >= depth:
                continue
            if match[2]:
                return match[2].decode(), line
            depth = other
        return _NOTHING


def openers(lines: Iterable[bytes]) -> Sequence[Opener]:
    """For each line what it is in, the body of a ``def``, of a ``class``, or nothing; and the line
    in which that begins. Of lines without comments and texts.

    >>> openers([b"class A:", b"    x = 1", b"y = 2"])
    [('', 0), ('class', 0), ('', 0)]
    """
    found: list[Opener] = []
    #: Lines that the next one may be below: twice how deep they are, and what is in their bodies.
    above: list[tuple[int, Opener]] = []
    #: How deep the line before was, if it neither opened anything nor closed it, and what it is in.
    beside, same = -1, _NOTHING
    for number, line in enumerate(lines):
        match = _OPENS.match(line)
        if match is None:
            found.append(_NOTHING)
            continue
        depth = 2 * len(match[1])
        if depth == beside and match.lastindex == 1:
            found.append(same)
            continue
        same = _below(above, depth) if depth else _NOTHING
        found.append(same)
        beside = depth if match.lastindex == 1 else -1
        if match[3]:  # what ends a list of parameters stands below the line that opens it
            depth += 1
        while above and above[-1][0] >= depth:
            above.pop()
        opens = (match[2].decode(), number) if match[2] else _below(above, depth)
        above.append((depth, opens))
    return found


def _below(above: Sequence[tuple[int, Opener]], depth: int) -> Opener:
    """What a line so deep is in."""
    return next((opens for other, opens in reversed(above) if other < depth), _NOTHING)


def blocks_of(texts: SourceTexts, path: str) -> Blocks:
    """Those of a file of Python, in the project or in a library."""
    if path in texts:
        return _blocks(texts.text(path))
    return _blocks(read_bytes(path, _LARGEST) or b"")


@lru_cache(maxsize=32)
def _blocks(text: bytes) -> Blocks:
    return Blocks(text, spans_of(PYTHON, text))


class _Class(NamedTuple):
    path: str
    line: int
    name: str
    #: What its head names, base classes among it, and where.
    bases: tuple[tuple[str, Position], ...]


class Kinship(IntEnum):
    """Whether one class is derived from another."""

    NONE = 0
    #: It is derived from one of that name that nobody knows.
    PERHAPS = 1
    SURE = 2


class ClassHierarchy:
    """The classes of one question. ``blocks_of``: those of a file, none of one that cannot be read.
    ``is_asked``: whether the server is asked about a file.
    """

    def __init__(
        self,
        server: Server,
        blocks_of: Callable[[str], Blocks],
        is_asked: Callable[[str], bool],
    ) -> None:
        self._server = server
        self._is_asked = is_asked
        self._blocks = cache(blocks_of)
        self._around = cache(self._around_)
        self._members = cache(self._members_)
        #: The bases of a class, and the names of those that nobody knows.
        self._bases: dict[_Class, tuple[set[_Class], set[str]]] = {}

    async def of(
        self, definitions: Iterable[Location], others: Sequence[Sequence[Location]]
    ) -> list[Kinship]:
        """Whether members that are defined there are of a class that is a base of theirs, or is
        derived from theirs.
        """
        if not others:
            return []
        # Files are read and stepped through, which may take longer than others should wait.
        own, around = await asyncio.to_thread(self._classes, definitions, others)
        strangers = {each for each in around if each is not None} - own
        if not strangers:
            return [Kinship.NONE for _ in others]
        await self._learn(own | strangers)
        kin = await asyncio.to_thread(self._related, own, strangers)
        return [
            kin.get(each, Kinship.NONE) if each is not None else Kinship.NONE for each in around
        ]

    def _classes(
        self, definitions: Iterable[Location], others: Sequence[Sequence[Location]]
    ) -> tuple[set[_Class], list[_Class | None]]:
        own = {each for each in map(self._around, definitions) if each is not None}
        return own, [self._first(found) for found in others] if own else []

    def _related(self, own: set[_Class], strangers: set[_Class]) -> dict[_Class, Kinship]:
        higher = {each: self._above(each) for each in own | strangers}

        def base(one: _Class, other: _Class) -> Kinship:
            kinship = _among(one, higher[other])
            met = kinship is not Kinship.SURE and self._is_met(one, {other, *higher[other][0]})
            return Kinship.SURE if met else kinship

        return {
            other: max(max(base(other, each), base(each, other)) for each in own)
            for other in strangers
        }

    async def _learn(self, classes: set[_Class]) -> None:
        """What these classes are derived from, step by step."""
        left = _MOST_ASKED
        for _ in range(_DEEPEST):
            new = sorted(each for each in classes if each not in self._bases)
            if not new:
                return
            asked = [
                (each, name, place)
                for each in new
                for name, place in each.bases
                if self._is_asked(each.path)
            ][:left]
            left -= len(asked)
            told = await questions.definitions_unopened(
                self._server, [(each.path, place) for each, _, place in asked]
            )
            read = await asyncio.to_thread(self._all_at, told) if told else []
            for each in new:
                self._bases[each] = (set(), {name for name, _ in each.bases})
            for (each, name, _), bases in zip(asked, read, strict=True):
                if bases:
                    self._bases[each][0].update(bases)
                    self._bases[each][1].discard(name)
            classes = {base for each in new for base in self._bases[each][0]}

    def _above(self, start: _Class) -> tuple[set[_Class], set[str]]:
        """All that a class is derived from, and the names of what nobody knows."""
        found, names, waiting = set[_Class](), set[str](), [start]
        while waiting:
            bases, unknown = self._bases.get(waiting.pop(), ((), ()))
            names.update(unknown)
            waiting += [base for base in bases if base not in found]
            found.update(bases)
        return found, names

    def _is_met(self, protocol: _Class, classes: Iterable[_Class]) -> bool:
        """Whether a class is a protocol all of whose members these classes have together."""
        wanted = self._members(protocol) if _PROTOCOL in dict(protocol.bases) else frozenset()
        return bool(wanted) and wanted.issubset(
            member for each in classes for member in self._members(each)
        )

    def _members_(self, owner: _Class) -> frozenset[bytes]:
        """The names that the body of a class declares."""
        blocks = self._blocks(owner.path)
        found = (
            _MEMBER.match(blocks.line(number))
            for number, opener in enumerate(blocks.openers[owner.line :], owner.line)
            if opener == ("class", owner.line)
        )
        return frozenset(each[1] or each[2] for each in found if each is not None)

    def _first(self, places: Sequence[Location]) -> _Class | None:
        return next((each for each in map(self._around, places) if each is not None), None)

    def _around_(self, place: Location) -> _Class | None:
        """The class whose member is declared at a place."""
        path = path_in(place.uri)
        line = self._blocks(path).class_line(place.range.start.line)
        return self._read(path, line) if line is not None else None

    def _all_at(self, told: Sequence[Sequence[Location]]) -> list[set[_Class]]:
        return [{base for base in map(self._at, found) if base is not None} for found in told]

    def _at(self, place: Location) -> _Class | None:
        """The class that is declared at a place."""
        return self._read(path_in(place.uri), place.range.start.line)

    def _read(self, path: str, number: int) -> _Class | None:
        lines = [*self._blocks(path).lines(number, number + _MOST_HEAD)]
        found = _CLASS.match(b"\n".join(lines))
        if found is None:
            return None
        named = ((name, _place(lines, number, start)) for name, start in _named(found))
        return _Class(path, number, found[1].decode("utf-8", "replace"), tuple(named))


def _named(head: re.Match[bytes]) -> Iterator[tuple[str, int]]:
    """The names between the parentheses of a class, but for those that only fill in types."""
    brackets: list[bytes] = []
    for found in islice(_HEAD.finditer(head.string, head.end()), _MOST_WORDS):
        if found["open"]:
            brackets.append(found["open"])
        elif not brackets:
            return
        elif found["close"]:
            closed = brackets.pop()
            if not brackets and closed == b"(":
                return
        elif found["name"] and b"[" not in brackets:
            last = _LAST.search(found["name"])
            assert last is not None
            yield last[0].decode("utf-8", "replace"), found.start("name") + last.start()


def _place(lines: Sequence[bytes], number: int, start: int) -> Position:
    """Where something stands that begins so many bytes behind the start of some lines."""
    for line in lines:
        if start <= len(line):
            return Position(number, line_length_utf16(line[:start].decode("utf-8", "replace")))
        start -= len(line) + 1
        number += 1
    return Position(number, 0)


def _among(one: _Class, higher: tuple[set[_Class], set[str]]) -> Kinship:
    classes, names = higher
    if one in classes:
        return Kinship.SURE
    return Kinship.PERHAPS if one.name in names else Kinship.NONE
