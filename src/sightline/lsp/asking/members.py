"""Uses of a member on values whose type a server cannot tell.

    def handle(request):          # of any type
        request.close()           # a use of Connection.close, perhaps

No server counts such a use, and none says so. So the name of a member is looked for in the text:
where it stands after a dot, outside of comments and texts, and was not reported. The server is
asked what each such place is. Those that it knows for something else do not matter; the rest is
said, and never taken for a reference.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from sightline.contract.texts import PLAIN_PATH, column_of, line_length_utf16, line_text, listed
from sightline.contract.uris import path_in, uri_of
from sightline.contract.values import Location, Position
from sightline.lsp.asking import questions
from sightline.lsp.coverage.source_texts import Hits, SourceTexts
from sightline.lsp.project.projects import Project
from sightline.lsp.server.server import Server
from sightline.workspace.changes import Change

__all__ = ["Members", "is_code", "is_member"]

#: Of so many places it is told whether they are code, and so many are asked about.
_MOST_READ = 500
_MOST_ASKED = 48
#: So many files are named in a sentence, if their names are plain.
_NAMED = 3


class _Syntax(NamedTuple):
    #: What is no code. What is ``code`` may look like it: a text with expressions in it.
    no_code: re.Pattern[bytes]
    #: The line of a declaration before the name, and what follows it, where it is of a member.
    before: re.Pattern[str]
    after: re.Pattern[str]


_SINGLE = rb"\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?"
_TRIPLE = rb'"""(?:[^"\\]|\\.|"(?!""))*+(?:"""|\Z)|\'\'\'(?:[^\'\\]|\\.|\'(?!\'\'))*+(?:\'\'\'|\Z)'
_MODIFIER = r"(?:public|private|protected|static|async|readonly|get|set|override|abstract|declare)"

_PYTHON = _Syntax(
    re.compile(
        rb"\b(?P<code>(?:[fF][rR]?|[rR][fF])(?:%b|%b))|#[^\n]*|%b|%b"
        % (_TRIPLE, _SINGLE, _TRIPLE, _SINGLE),
        re.DOTALL,
    ),
    re.compile(r"[ \t]+(?:(?:async[ \t]+)?def|class)[ \t]+|[ \t]+|[ \t]*\w+\."),
    re.compile(r"\w+[ \t]*[:=(\[]"),
)
_JAVASCRIPT = _Syntax(
    re.compile(
        rb"(?P<code>`(?:[^`\\]|\\.)*+`?)|//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)|%b" % _SINGLE,
        re.DOTALL,
    ),
    re.compile(rf"(?:.*[{{;}}.])?\s*(?:{_MODIFIER}\s+)*[*#]?"),
    re.compile(r"[\w$]+[?!]?\s*[(:=<;]"),
)
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
    """
    syntax = _SYNTAXES.get(language)
    line = line_text(text, place.line)
    if syntax is None or line is None:
        return False
    column = column_of(line, place.character)
    before = syntax.before.fullmatch(line, 0, column)
    return before is not None and syntax.after.match(line, column) is not None


def is_code(language: str, text: str, place: Position) -> bool:
    """Whether a place is in no comment and no text, as far as the language is known."""
    syntax = _SYNTAXES.get(language)
    lines = text.split("\n")
    if syntax is None or place.line >= len(lines):
        return syntax is None
    line = lines[place.line]
    before = "\n".join([*lines[: place.line], line[: column_of(line, place.character)]])
    return any(True for _ in _code(text.encode(), [len(before.encode())], syntax.no_code))


class Members:
    """Those of one project."""

    def __init__(self, project: Callable[[], Project]) -> None:
        self._project = project
        self._texts = SourceTexts(lambda: [*project().files(), *project().scripts()])

    def changed(self, changes: Sequence[Change]) -> None:
        self._texts.changed(changes)

    async def search(self, name: str) -> Hits | None:
        """Where a name stands after a dot; ``None`` if there is too much to look through."""
        word = name.encode()
        pattern = re.compile(rb"\.[ \t]*(%b)(?![\w$\x80-\xff])" % re.escape(word))
        return await asyncio.to_thread(self._texts.search, pattern, word)

    async def note(
        self, server: Server, language: str, name: str, hits: Hits | None, known: Iterable[Location]
    ) -> str:
        """What is to be said of these places of a name, given those that are known."""
        if hits is None:
            return "There is too much code here to look for uses on values of unknown type."
        speaks = self._project().speaks
        # Of other scripts nobody is asked: some servers end when they are.
        hits = {p: hits[p] for p in hits if p in server.scripts or speaks(p.rpartition("/")[2])}
        starts = {(path_in(place.uri), place.range.start) for place in known}
        if sum(map(len, hits.values())) > _MOST_READ + len(starts):
            where = f"more than {_MOST_READ} other places"
            return f"{name} stands after a dot in {where}; {_UNKNOWN} are not counted."
        no_code, places = _SYNTAXES[language].no_code, list[tuple[str, Position]]()
        for path in sorted(hits):
            found = _code(self._texts.text(path), hits[path], no_code)
            places += [(path, place) for place in found if (path, place) not in starts]
        if len(places) > _MOST_ASKED or (places and server.spec.unknown_members == "text"):
            where = f"{_counted(places, 'other ')} ({self._names(places)})"
            return f"{name} stands after a dot in {where}; {_UNKNOWN} are not counted."
        unknown = await _unknown(server, places)
        if not unknown:
            return ""
        where = f"{_counted(unknown)} ({self._names(unknown)})"
        return f"{name} stands on values of unknown type in {where}; uses there are not counted."

    def _names(self, places: Iterable[tuple[str, Position]]) -> str:
        start = len(self._project().folder) + 1
        names = sorted({path[start:] for path, _ in places})
        return listed([name for name in names if re.fullmatch(PLAIN_PATH, name)], _NAMED)


_UNKNOWN = "uses on values of unknown type"


def _counted(places: Sequence[object], other: str = "") -> str:
    return f"1 {other}place" if len(places) == 1 else f"{len(places)} {other}places"


async def _unknown(
    server: Server, places: Sequence[tuple[str, Position]]
) -> Sequence[tuple[str, Position]]:
    """The places of which the server cannot tell what stands there.

    They are asked about one after the other, and again where nothing may mean busy: for what is in
    its standard library ty writes a file that it can point to, and where several questions need
    the same one at the same time it answers some of them with nothing.
    """
    for _ in range(2 if server.spec.doubts_nothing else 1):
        told = [await questions.definition_unopened(server, uri_of(p), at) for p, at in places]
        places = [place for place, found in zip(places, told, strict=True) if not found]
    return places


def _code(text: bytes, starts: Sequence[int], no_code: re.Pattern[bytes]) -> Iterator[Position]:
    """The places that are code."""
    spans = (match.span() for match in no_code.finditer(text) if match.lastgroup is None)
    span, line, counted = next(spans, None), 0, 0
    for start in starts:
        while span is not None and span[1] <= start:
            span = next(spans, None)
        if span is not None and span[0] <= start:
            continue
        line += text.count(b"\n", counted, start)
        counted = start
        before = text[text.rfind(b"\n", 0, start) + 1 : start].decode("utf-8", "replace")
        yield Position(line, line_length_utf16(before))
