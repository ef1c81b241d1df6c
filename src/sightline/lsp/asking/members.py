"""Uses of a member on values whose type a server cannot tell.

    def handle(request):          # of any type
        request.close()           # a use of Connection.close, perhaps

No server counts such a use, and none says so. So the name of a member is looked for in the text:
where it stands after a dot, outside of comments and texts, and was not reported. The server is
asked what each such place is. Those that it knows for something else do not matter, unless that is
the same member of a base class or a subclass (in Python, where no server follows it); the rest is
said, and never taken for a reference.
"""

import asyncio
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from sightline.contract.possessive import possessive
from sightline.contract.texts import column_of, line_length_utf16, line_text, listed_paths
from sightline.contract.uris import path_in, uri_of
from sightline.contract.values import Location, Position
from sightline.lsp.asking import questions
from sightline.lsp.asking.kin import Blocks, Kin, Kinship
from sightline.lsp.files.reading import read_bytes
from sightline.lsp.project.projects import Project
from sightline.lsp.server.server import Server
from sightline.text.code import JAVASCRIPT, PYTHON
from sightline.text.sources import Hits, SourceTexts, after_dot
from sightline.text.spans import spans_of

__all__ = [
    "MOST_ASKED",
    "MOST_READ",
    "TOO_MUCH",
    "Members",
    "Mentions",
    "Place",
    "can_be_asked",
    "code_places",
    "counted",
    "is_code",
    "is_global",
    "is_local",
    "is_member",
]

#: Of so many places it is told whether they are code, and so many are asked about.
MOST_READ = 500
MOST_ASKED = 48
#: The blocks of files with no more lines are kept.
_MOST_KEPT_LINES = 20_000
#: A longer file of somebody else's tells nothing of its classes.
_LARGEST = 4 << 20
#: So many bytes are looked through at once; what is code takes longer to tell than what is there.
_QUICK = 16 << 10
#: So many files are named in a sentence, if their names are plain.
_NAMED = 3


class _Syntax(NamedTuple):
    #: What is no code. What a named group of it matches may look like it: a text with expressions.
    no_code: re.Pattern[bytes]
    #: The line of a declaration before the name, and what follows it, where it is of a member.
    before: re.Pattern[str]
    after: re.Pattern[str]


_MODIFIER = (
    r"(?:public|private|protected|static|async|readonly|get|set|override|abstract|declare|accessor)"
)
_DECORATOR = possessive(r"@[\w$.]+(?:\((?:[^()]++|\([^()]*+\))*+\))?")
#: Before a parameter these make it a member, too.
_ACCESS = r"(?:public|private|protected|readonly|override)"

_PYTHON = _Syntax(
    PYTHON,
    re.compile(
        possessive(r"[ \t]+(?:(?:async[ \t]+)?def|class)[ \t]+|[ \t]+(?:\w+[ \t]*,[ \t]*)*+|.*\.")
    ),
    re.compile(r"\w+[ \t]*[:=(\[,]|(?<=\.)\w+"),
)
#: What is assigned to as a whole. ty points to where this begins, not to the name.
_ATTRIBUTE = re.compile(r"\w+\.")
_JAVASCRIPT = _Syntax(
    JAVASCRIPT,
    re.compile(
        rf"(?:.*[{{;}}.])?\s*(?:{_DECORATOR}\s+)*(?:{_MODIFIER}\s+)*[*#]?[\"']?"
        rf"|.*[(,]\s*(?:{_DECORATOR}\s+)*(?:{_ACCESS}\s+)+"
    ),
    re.compile(r"[\"']?[\w$]+[\"']?[?!]?\s*(?:[(:=<;}}]|\Z)"),
)
#: A property behind others in its line, and what stands before it.
_BEHIND = re.compile(r".*,\s*[\"']?")
_PROPERTY = re.compile(r"[\"']?[\w$]+[\"']?\??\s*[:(]")
#: What stands before a member of an ``enum`` in its line, and before all of them.
_BEFORE_MEMBER = re.compile(r"(?:.*[,{/])?\s*[\"']?")
_ENUM = re.compile(rb"\benum\s+[^\s{}()=]+\s*\Z")
_BRACES = re.compile(rb"[{}]")
#: So much of what an ``enum`` begins with is read.
_MOST_HEAD = 300
_SYNTAXES = {
    "python": _PYTHON,
    "javascript": _JAVASCRIPT,
    "javascriptreact": _JAVASCRIPT,
    "typescript": _JAVASCRIPT,
    "typescriptreact": _JAVASCRIPT,
}


def is_member(language: str, text: str, place: Position) -> bool:
    """Whether the name that is declared at a place may belong to a class or an object.

    >>> is_member("python", "class A:\\n    def close(self): ...", Position(1, 8))
    True
    >>> is_member("python", "def close(): ...", Position(0, 4))
    False
    >>> is_member("python", "def f():\\n    def close(): ...", Position(1, 8))
    False
    """
    syntax = _SYNTAXES.get(language)
    line = line_text(text, place.line)
    if syntax is None or line is None:
        return False
    column = column_of(line, place.character)
    if language == "python" and _ATTRIBUTE.match(line, column):
        return True
    before = syntax.before.fullmatch(line, 0, column)
    if before is None or syntax.after.match(line, column) is None:
        if language == "python":
            return False
        return _is_property(line, column) or _is_of_enum(text, place.line, line[:column])
    return language != "python" or line[:column].endswith(".") or _opener(text, place) == "class"


def _is_property(line: str, column: int) -> bool:
    """Whether the last bracket that is open before a property behind others begins an object."""
    if not (_PROPERTY.match(line, column) and _BEHIND.fullmatch(line, 0, column)):
        return False
    closed = 0
    for character in reversed(line[:column]):
        if character in ")]}":
            closed += 1
        elif character in "([{":
            if not closed:
                return character == "{"
            closed -= 1
    return False


def _is_of_enum(text: str, number: int, before: str) -> bool:
    """Whether the last brace that is open before a name begins an ``enum``. What is declared right
    there is a member, whatever follows it.
    """
    if "enum" not in text or _BEFORE_MEMBER.fullmatch(before) is None:
        return False
    whole = "\n".join([*text.split("\n", number)[:number], before]).encode()
    no_code = spans_of(_JAVASCRIPT.no_code, whole)
    closed = 0
    for brace in reversed(list(_BRACES.finditer(whole))):
        start = brace.start()
        if start in no_code:
            continue
        if brace[0] == b"{" and not closed:
            return _ENUM.search(whole, max(0, start - _MOST_HEAD), start) is not None
        closed += 1 if brace[0] == b"}" else -1
    return False


def is_local(text: str, place: Position) -> bool:
    """Whether a function or class of Python that is declared at a place belongs to a function.

    >>> is_local("def f():\\n    def g(): ...", Position(1, 8)), is_local("x = 1", Position(0, 0))
    (True, False)
    """
    line = line_text(text, place.line) or ""
    declared = _DECLARED.fullmatch(line, 0, column_of(line, place.character))
    return declared is not None and _opener(text, place) == "def"


def is_global(text: str, place: Position) -> bool:
    """Whether a name of Python that is declared at a place belongs to the module.

    >>> is_global("x, y = f(z)", Position(0, 3)), is_global("x, y = f(z)", Position(0, 9))
    (True, False)
    """
    line = line_text(text, place.line) or ""
    before = line[: column_of(line, place.character)]
    bound = _DECLARED.fullmatch(before) or _ASSIGNED.fullmatch(before)
    return bound is not None and _opener(text, place) == ""


_DECLARED = re.compile(r"[ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+")
_ASSIGNED = re.compile(possessive(r"[ \t]*(?:type[ \t]+|(?:\w+[ \t]*,[ \t]*)*+)"))


def _opener(text: str, place: Position) -> str:
    """What the line of a place in Python is in: the body of a ``def``, of a ``class``, or none."""
    if not (line_text(text, place.line) or "")[:1].isspace():
        return ""
    return blocks_of(_encoded(text)).opener(place.line)[0]


@lru_cache(maxsize=2)
def _encoded(text: str) -> bytes:
    """The same bytes every time, whose hash Python knows then: it is asked for place by place."""
    return text.encode()


def is_code(language: str, text: str, place: Position) -> bool:
    """Whether a place is in no comment and no text, as far as the language is known."""
    syntax = _SYNTAXES.get(language)
    lines = text.split("\n")
    if syntax is None or place.line >= len(lines):
        return syntax is None
    line = lines[place.line]
    before = "\n".join([*lines[: place.line], line[: column_of(line, place.character)]])
    return len(before.encode()) not in spans_of(syntax.no_code, text.encode())


def code_places(
    language: str,
    texts: SourceTexts,
    path: str,
    starts: Iterable[int],
    known: Collection[Position] = (),
) -> Iterator[Position]:
    """Those of some places in a file, in order, that are in no comment and no text inside it, but
    for those that are ``known``.

    Of a language that is not known, all.
    """
    syntax, text = _SYNTAXES.get(language), texts.text(path)
    line, counted = 0, 0
    for start in starts:
        line += text.count(b"\n", counted, start)
        counted = start
        before = text[text.rfind(b"\n", 0, start) + 1 : start].decode("utf-8", "replace")
        place = Position(line, line_length_utf16(before))
        # What is code takes longest to tell, and mostly every place is known.
        if place in known or (syntax is not None and start in texts.spans(path, syntax.no_code)):
            continue
        yield place


#: What stands before a part of the name of a module, in Python.
_PACKAGE = re.compile(rb"[ \t]*(?:from[ \t]+[\w.]*|import[ \t][\w., \t]*)\.")


#: A file, and where in it.
Place = tuple[str, Position]


class Mentions(NamedTuple):
    """Where a name stands after a dot."""

    hits: Hits
    #: Those that are code, where they are few enough to tell at once.
    places: Sequence[Place] | None


class Members:
    """Those of one project."""

    def __init__(self, project: Callable[[], Project], texts: SourceTexts) -> None:
        self._project = project
        self.texts = texts

    def text(self, path: str) -> str | None:
        """The text of a file, where it is known as it is now."""
        data = self.texts.current(path)
        try:
            return data.decode() if data is not None else None
        except UnicodeDecodeError:
            return None

    async def search(self, name: str, language: str) -> Mentions | None:
        """Where a name stands after a dot; ``None`` if there is too much to look through.

        It takes longest to tell what is code, so that is done while the server works.
        """
        sought = after_dot(name)

        def look() -> Mentions | None:
            hits = self.texts.search(sought)
            if hits is None:
                return None
            if language == "python":
                hits = {path: self._values(path, there) for path, there in hits.items()}
            few = sum(map(len, hits.values())) <= MOST_READ
            return Mentions(hits, self._in_code(hits, language) if few else None)

        if self.texts.is_quick(sought, _QUICK):
            return look()
        return await asyncio.to_thread(look)

    def _in_code(self, hits: Hits, language: str) -> Sequence[Place]:
        return [
            (path, place)
            for path in sorted(hits)
            for place in code_places(language, self.texts, path, hits[path])
        ]

    async def note(
        self,
        server: Server,
        language: str,
        name: str,
        mentions: Mentions | None,
        known: Iterable[Location],
        definitions: Iterable[Location] = (),
    ) -> str:
        """What is to be said of these places of a name, given those that are known, and where it is
        defined.
        """
        if mentions is None:
            return TOO_MUCH
        hits = {path: mentions.hits[path] for path in mentions.hits if can_be_asked(server, path)}
        starts = {(path_in(place.uri), place.range.start) for place in known}
        if sum(map(len, hits.values())) > MOST_READ + len(starts):
            where = f"more than {MOST_READ} other places"
            return f"{name} stands after a dot in {where}; {_UNKNOWN} are not counted."
        places = mentions.places
        if places is None:  # they are many
            places = await asyncio.to_thread(self._in_code, hits, language)
        places = [each for each in places if each[0] in hits and each not in starts]
        if len(places) > MOST_ASKED or (places and server.spec.unknown_members == "text"):
            return self.said_of_other(name, places)
        told = await questions.definitions_unopened(server, places)
        said: list[str] = []
        unknown = [
            place
            for place, found in zip(places, told, strict=True)
            if not found or (language == "python" and self._only_of_value(found))
        ]
        if unknown:
            said.append(self.said_of_unknown(name, unknown))
        kin: dict[Place, Kinship] = {}
        if language == "python":
            kin = await self._of_kin(server, places, told, definitions)
        for kinship, whose in _KIN.items():
            if used := [place for place in kin if kin[place] is kinship]:
                where = f"{counted(used)}{self.named(used)}"
                said.append(f"{name} of {whose} is used in {where}, not counted here.")
        return " ".join(said)

    def said_of_other(self, name: str, places: Sequence[Place]) -> str:
        """That nobody was asked about these places of a name."""
        where = f"{counted(places, 'other ')}{self.named(places)}"
        return f"{name} stands after a dot in {where}; {_UNKNOWN} are not counted."

    def said_of_unknown(self, name: str, places: Sequence[Place]) -> str:
        """That a server knows nothing of these places of a name."""
        where = f"{counted(places)}{self.named(places)}"
        return f"{name} stands on values of unknown type in {where}; uses there are not counted."

    async def _of_kin(
        self,
        server: Server,
        places: Sequence[Place],
        told: Sequence[Sequence[Location]],
        definitions: Iterable[Location],
    ) -> dict[Place, Kinship]:
        """The places at which the same member of a base class, or of a subclass, is used: the call
        may reach this one, or come from it. Where that is declared is no use.
        """

        def is_asked(path: str) -> bool:
            return path in self.texts and can_be_asked(server, path)

        kin = Kin(server, self.blocks, is_asked)
        uses = [
            (place, found)
            for place, found in zip(places, told, strict=True)
            if not any(questions.covers(each, uri_of(place[0]), place[1]) for each in found)
        ]
        are = await kin.of(definitions, [found for _, found in uses])
        return {place: kinship for (place, _), kinship in zip(uses, are, strict=True) if kinship}

    def inside(self, path: str) -> str:
        """A path from the folder of the project on."""
        return path[len(self._project().folder) + 1 :]

    def _only_of_value(self, found: Iterable[Location]) -> bool:
        """Whether a server knows the value at a place, but nothing that is called so there: what
        ``__getattr__`` returns, of which it names what calling it means.
        """
        return all(
            self.texts.name_at(path_in(each.uri), each.range.start).startswith(b"__")
            for each in found
        )

    def blocks(self, path: str) -> Blocks:
        """Those of a file of Python, in the project or not."""
        if path in self.texts:
            return blocks_of(self.texts.text(path))
        # Of a package, or of the standard library.
        return blocks_of(read_bytes(path, _LARGEST) or b"")

    def _values(self, path: str, starts: Sequence[int]) -> list[int]:
        """Those of some places that stand after a value, not after the name of a package."""
        text = self.texts.text(path)
        lines = ((start, text.rfind(b"\n", 0, start) + 1) for start in starts)
        return [start for start, line in lines if not _PACKAGE.fullmatch(text, line, start)]

    def named(self, places: Iterable[Place]) -> str:
        """The files of some places, in brackets for a sentence."""
        return listed_paths(sorted({self.inside(path) for path, _ in places}), _NAMED)


def blocks_of(text: bytes) -> Blocks:
    """Those of a text. Most classes are in one of a few files, so some are kept; but only two of
    files with many lines, which may take much more than their text.
    """
    return (_of_few if text.count(b"\n") <= _MOST_KEPT_LINES else _of_many)(text)


def _new_blocks(text: bytes) -> Blocks:
    return Blocks(text, spans_of(_PYTHON.no_code, text))


_of_few, _of_many = lru_cache(maxsize=64)(_new_blocks), lru_cache(maxsize=2)(_new_blocks)


_KIN = {
    Kinship.SURE: "a base class or subclass",
    Kinship.PERHAPS: "what may be a base class or subclass",
}
_UNKNOWN = "uses on values of unknown type"
TOO_MUCH = "There is too much code here to look for uses on values of unknown type."


def can_be_asked(server: Server, path: str) -> bool:
    """Whether a server may be asked about a file that it has not open by a question.

    Some end when it is a script that only its first line tells, and that they were not shown.
    """
    return path in server.scripts or server.launch.project().speaks(path.rpartition("/")[2])


def counted(places: Sequence[object], other: str = "") -> str:
    return f"1 {other}place" if len(places) == 1 else f"{len(places)} {other}places"
