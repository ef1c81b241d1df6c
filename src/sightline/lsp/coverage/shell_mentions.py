"""Uses in shell scripts that a server reads and does not see.

Its grammar takes what stands in some expansions for plain text: the pattern of ``${path#$PREFIX}``,
all of a ``<<-`` document. And a name that a command is given, as in ``trap cleanup EXIT``, is a
word like any other to it. So where it found no use, the name that was asked about is looked for in
the forms that only a use has. It may be another symbol's; it is said, and never taken for a
reference.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from sightline.contract.texts import line_length_utf16, listed_paths
from sightline.contract.uris import path_in
from sightline.contract.values import Location, Position
from sightline.lsp.coverage.source_texts import Hits, SourceTexts, word
from sightline.lsp.project.projects import Project
from sightline.workspace.changes import Change

__all__ = ["SHELL", "ShellMentions"]

#: What the registry calls the language.
SHELL = "bash"
#: So many files are named in a sentence, if their names are plain.
_NAMED = 3
_MISSING = "uses there may be missing."
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
#: Comments, texts in quotes that expand nothing, and documents of which that is said.
_DEAD = (
    rb"(?:(?<=[ \t;&|()\n])|\A)\#[^\n]*|'[^'\n]*'"
    rb"|<<-?[ \t]*(['\"\\])(\w+)[^\n]*\n(?:(?![ \t]*\2[ \t]*$)[^\n]*\n)*"
)
#: A text in quotes expands variables, and its words are no names.
_TEXT = rb"\"(?:[^\"\\\n]|\\.)*\""
_SILENT = re.compile(rb"%b|(?P<alive>%b|\\.)" % (_DEAD, _TEXT), re.MULTILINE)
_NO_WORDS = re.compile(rb"%b|%b|(?P<alive>\\.)" % (_DEAD, _TEXT), re.MULTILINE)
#: Commands that run such a text.
_RUNS = re.compile(rb"[^#\n]*\b(?:trap|eval)[ \t]")


class ShellMentions:
    """Those of one server in one project."""

    def __init__(self, project: Callable[[], Project]) -> None:
        self._project = project
        self._texts = SourceTexts(lambda: [*project().files(), *project().scripts()])

    def changed(self, changes: Sequence[Change]) -> None:
        self._texts.changed(changes)

    async def note(self, name: str, found: Sequence[Location]) -> str:
        """What is to be said of a name that was asked about, and found at these places."""
        hits = await self._texts.find(word(name)) if name else {}
        if hits is None:
            return f"Shell scripts are too much to look through; {_MISSING}"
        return self._sentence(await asyncio.to_thread(self._lines, name, hits, found))

    def _lines(self, name: str, hits: Hits, found: Sequence[Location]) -> dict[str, int]:
        """In how many lines of each file the name is used and was not found, in a thread."""
        places: dict[str, list[Location]] = {}
        for place in found:
            places.setdefault(path_in(place.uri), []).append(place)
        # Of scripts without an extension that have no use at all others tell.
        scripts = set(self._project().scripts())
        paths = (path for path in sorted(hits) if path in places or path not in scripts)
        lines = {
            path: {*self._unseen(path, name, hits[path], places.get(path, ()))} for path in paths
        }
        return {path: len(each) for path, each in lines.items() if each}

    def _unseen(
        self, path: str, name: str, starts: Iterable[int], found: Sequence[Location]
    ) -> Iterator[int]:
        """The lines in which the name is used, and was not found."""
        text = self._texts.text(path)
        silent, no_words = (self._texts.spans(path, each) for each in (_SILENT, _NO_WORDS))
        line = counted = 0
        for start in starts:
            line += text.count(b"\n", counted, start)
            counted, first = start, text.rfind(b"\n", 0, start) + 1
            before = text[max(first, start - _MOST_BEFORE) : start]
            runs = _RUNS.match(text, first, start) is not None
            if _USED.search(before):
                is_use = runs or start not in silent
            else:
                end = start + len(name.encode())
                is_word = _is_telling(name) and _is_word(text, start, end)
                is_defined = _DEFINED_AFTER.search(before) or _DEFINED_BEFORE.match(text, end)
                is_use = is_word and not is_defined and (runs or start not in no_words)
            if is_use:
                column = line_length_utf16(text[first:start].decode("utf-8", "replace"))
                if not any(_is_at(place, Position(line, column)) for place in found):
                    yield line

    def _sentence(self, lines: dict[str, int]) -> str:
        if not lines:
            return ""
        start = len(self._project().folder) + 1
        total = sum(lines.values())
        count = "1 line" if total == 1 else f"{total:,} lines"
        files = listed_paths([path[start:] for path in lines], _NAMED)
        return f"The name also stands in {count} that the server found no use in{files}; {_MISSING}"


def _is_telling(name: str) -> bool:
    """Whether a name is hardly an ordinary word.

    >>> _is_telling("clean_up"), _is_telling("build")
    (True, False)
    """
    return re.search(r"\w[_-]\w", name) is not None


def _is_word(text: bytes, start: int, end: int) -> bool:
    """Whether what stands here is a word by itself, or what one is set to."""
    return text[start - 1 : start] in _BEFORE and text[end : end + 1] in _AFTER


def _is_at(place: Location, at: Position) -> bool:
    """Whether a place that was found is this one. A whole function is found where it is defined."""
    start, end = place.range.start, place.range.end
    return start.line == end.line == at.line and start.character <= at.character <= end.character
