"""Uses in shell scripts that a server reads and does not see.

Its grammar takes what stands in some expansions for plain text: the pattern of ``${path#$PREFIX}``,
all of a ``<<-`` document. And a name that a command is given, as in ``trap cleanup EXIT``, is a
word like any other to it. So where it found no use, the name that was asked about is looked for in
the forms that only a use has. It may be another symbol's; it is said, and never taken for a
reference.
"""

import asyncio
import math
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

from sightline.contract.texts import line_length_utf16
from sightline.contract.unaccounted import Reason, Unaccounted
from sightline.contract.uris import path_in
from sightline.contract.values import Location
from sightline.lsp.coverage.shell_quotes import Plain, plain_texts
from sightline.lsp.project.projects import Project
from sightline.text.sources import Hits, SourceTexts, word
from sightline.workspace.changes import Change

__all__ = ["SHELL", "ShellMentions"]

#: What the registry calls the language.
SHELL = "bash"
#: What stands before a name that is used, in its line: an expansion, an index, or a command that
#: takes names.
_USED = re.compile(
    rb"(?:(?<!\\)(?:\$\{?[!#]?|\$\(|`)|\w\[|(?:\b(?:trap|time|command|exec|eval|type|sudo|xargs|nohup"
    rb"|let|getopts[ \t]+[^ \t]+)(?:[ \t]+-\w+)*|[ \t]-[vFc])[ \t]+['\"]?)\Z"
)
#: What parts words: the name of a function, or of a variable to be set, may be handed on as one.
_BEFORE, _AFTER = b" \t=", b" \t\n;&|)`='\""
#: What stands around the name of a function where that is defined.
_DEFINED_AFTER, _DEFINED_BEFORE = (
    re.compile(rb"\bfunction[ \t]+\Z"),
    re.compile(rb"[ \t]*\([ \t]*\)"),
)
#: So much of a line is looked at.
_MOST_BEFORE = 200
#: Commands that run the texts they are given. What is behind them in their line counts.
_RUNS = re.compile(rb"\b(?:trap|eval)[ \t]|[#\n]")
#: So many places of a name are looked at besides those that were found, which takes a few tenths
#: of a second. More has hardly a name that one asks about, and nobody can end a thread.
_MOST_LOOKED_AT = 20_000


class ShellMentions:
    """Those of one server in one project."""

    def __init__(self, project: Callable[[], Project]) -> None:
        self._project = project
        self._texts = SourceTexts(lambda: [*project().files(), *project().scripts()])
        #: By file, each with the text that it is of.
        self._plain: dict[str, tuple[bytes, Plain]] = {}

    def changed(self, changes: Sequence[Change]) -> None:
        self._texts.changed(changes)

    async def unaccounted(self, name: str, found: Sequence[Location]) -> Sequence[Unaccounted]:
        """The lines in which a name is used, but for the places in ``found``."""
        hits = await self._texts.find(word(name)) if name else {}
        if hits is None:
            return [Unaccounted(Reason.OVER_BUDGET, 1)]
        count = sum(map(len, hits.values()))
        if count > _MOST_LOOKED_AT + len(found):
            return [Unaccounted(Reason.OVER_BUDGET, count - len(found))]
        lines = await asyncio.to_thread(self._lines, name, hits, found)
        places = [(path, line) for path in sorted(lines) for line in sorted(lines[path])]
        return [Unaccounted(Reason.QUOTED, len(places), tuple(places))]

    def _lines(self, name: str, hits: Hits, found: Sequence[Location]) -> dict[str, set[int]]:
        """The lines of each file in which the name is used and was not found, in a thread."""
        places: dict[str, list[Location]] = {}
        for place in found:
            places.setdefault(path_in(place.uri), []).append(place)
        self._plain = {p: known for p, known in list(self._plain.items()) if p in self._texts}
        # Of scripts without an extension that have no use at all others tell.
        scripts = set(self._project().scripts())
        paths = (path for path in sorted(hits) if path in places or path not in scripts)
        lines = {
            path: {*self._unseen(path, name, hits[path], places.get(path, ()))} for path in paths
        }
        return {path: each for path, each in lines.items() if each}

    def _unseen(
        self, path: str, name: str, starts: Iterable[int], found: Sequence[Location]
    ) -> Iterator[int]:
        """The lines in which the name is used, and was not found."""
        text, plain, seen = self._texts.text(path), self._plain_of(path), _Found(found)
        line = first = column = measured = 0
        runs_from, size = _runs_from(text, 0), len(name.encode())
        for start in starts:
            begin = text.rfind(b"\n", measured, start) + 1
            if begin:
                line += text.count(b"\n", measured, start)
                first = measured = begin
                column, runs_from = 0, _runs_from(text, first)
            column += line_length_utf16(text[measured:start].decode("utf-8", "replace"))
            measured, end = start, start + size
            before = text[max(first, start - _MOST_BEFORE) : start]
            runs = runs_from <= start
            if _USED.search(before):
                is_use = runs or start not in plain.silent
            else:
                is_word = _is_telling(name) and _is_word(text, start, end)
                is_defined = _DEFINED_AFTER.search(before) or _DEFINED_BEFORE.match(text, end)
                is_use = is_word and not is_defined and (runs or start not in plain.no_words)
            if is_use and not seen.has(line, column):
                yield line

    def _plain_of(self, path: str) -> Plain:
        """What is plain text in a script, which is found out once."""
        text, known = self._texts.text(path), self._plain.get(path)
        if known is None or known[0] is not text:
            known = self._plain[path] = (text, plain_texts(text))
        return known[1]


def _is_telling(name: str) -> bool:
    """Whether a name is hardly an ordinary word.

    >>> _is_telling("clean_up"), _is_telling("build")
    (True, False)
    """
    return re.search(r"\w[_-]\w", name) is not None


def _is_word(text: bytes, start: int, end: int) -> bool:
    """Whether what stands here is a word by itself, or what one is set to."""
    return text[start - 1 : start] in _BEFORE and text[end : end + 1] in _AFTER


def _runs_from(text: bytes, first: int) -> float:
    """From where on what a line says is run."""
    match = _RUNS.search(text, first)
    return match.end() if match is not None and match[0] not in (b"#", b"\n") else math.inf


class _Found:
    """The places that were found in a file, to be asked about others from its start to its end. A
    whole function is found where it is defined.
    """

    def __init__(self, places: Iterable[Location]) -> None:
        spans = ((place.range.start, place.range.end) for place in places)
        within = ((a.line, a.character, b.character) for a, b in spans if a.line == b.line)
        self._spans = deque(sorted(within))
        #: The line, and how far it was found.
        self._furthest = (-1, 0)

    def has(self, line: int, column: int) -> bool:
        while self._spans and self._spans[0][:2] <= (line, column):
            at, _, end = self._spans.popleft()
            self._furthest = max(self._furthest, (at, end))
        return self._furthest >= (line, column)
