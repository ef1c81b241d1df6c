"""Lines with a name in code that a server may leave out, because it reads one build of a project.

The server answers for the build that it was told of, and says nothing of the rest: in a project
like curl every third name is also used where a default build does not look. Which lines those are
cannot be known without building, but where they can be is plain: under conditions, in macros, in
arguments that a macro drops, in sources that nobody compiles. And where a file has an error the
server loses uses without a word: in an expression with a name that is nowhere declared, of a
template after a header that is not there.
So a name that was asked about is looked for in such code, as far as the symbol reaches. It may be
another symbol's; it is said, and never taken for a reference.
"""

import asyncio
import re
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from sightline.contract.source import SourceFile
from sightline.contract.unaccounted import Place, Reason, Unaccounted, merged
from sightline.contract.uris import path_in
from sightline.contract.values import Location, Position
from sightline.lsp.c import dropped_arguments, preprocessor
from sightline.lsp.c.dropped_arguments import Definition
from sightline.lsp.files.reading import read_text
from sightline.lsp.project.projects import Project
from sightline.lsp.registry import ServerSpec
from sightline.lsp.wire.messages import SymbolDetails
from sightline.text.dirty_paths import DirtyPaths
from sightline.text.names import name_at
from sightline.workspace.changes import Change

__all__ = [
    "Builds",
    "Extent",
    "Mention",
    "OtherBuilds",
    "Sought",
    "builds_of",
    "extent_of",
]

_MAX_BYTES = 4 << 20
#: So many characters are kept. More are not looked through.
_MOST = 64 << 20
#: What a macro that may drop arguments counts as, in characters.
_MACRO_SIZE = 256
#: So many characters are held until it is known what macros drop; more are read once more.
_HELD = 32 << 20
#: So many take less time to look through than to hand to a thread.
_AT_ONCE = 256 << 10
# Expressions are compiled when they are first needed, which most programs never do.
_WORD = re.compile(r"[^\W\d]\w*")
#: How clangd tells symbols apart: by the file of one that no other file can name, and by the place
#: in it if it is a macro or belongs to a function; and by the types that it is or belongs to.
_OWN = r"c:(?P<file>[^@]+)@(?P<place>\d+\b(?!@macro@))?"
_MACRO = "@macro@"
#: A definition of a macro, and nothing else.
_DEFINE = re.compile(r"[ \t]*#[ \t]*define\b(?:[^\n]*\\\n)*[^\n]*")
_TYPE = r"@(?:[SUE]A?|T|FI)@"

Stretches = Sequence[tuple[int, str]]


class Builds(NamedTuple):
    """How a language says what belongs to some builds only."""

    #: A text with blanks for what is no code.
    code_of: Callable[[str], str]
    stretches: Callable[[str], Stretches]
    #: The macros of a text that may drop arguments; what all of them drop in the end; and those
    #: arguments in a text.
    definitions: Callable[[str], Sequence[Definition]]
    dropping: Callable[[Iterable[Definition]], Mapping[str, int]]
    arguments: Callable[[str, Mapping[str, int]], Stretches]
    #: The lines that a local name in a line can stand in.
    block_around: Callable[[str, int], range]
    #: The endings of files that are compiled as a part of others.
    shared: tuple[str, ...]
    keywords: frozenset[str]

    def is_shared(self, path: str) -> bool:
        return path.lower().endswith(self.shared)

    def names(self, word: str) -> frozenset[str]:
        """A word as what can be looked for: nothing where there is none, or a keyword."""
        return frozenset({word} - self.keywords - {""})


_BUILDS = {
    "preprocessor": Builds(
        preprocessor.code_of,
        preprocessor.stretches,
        dropped_arguments.definitions,
        dropped_arguments.dropping,
        dropped_arguments.arguments,
        preprocessor.block_around,
        preprocessor.HEADERS,
        preprocessor.KEYWORDS,
    )
}


def builds_of(spec: ServerSpec) -> Builds | None:
    return _BUILDS.get(spec.conditional)


class Extent(NamedTuple):
    """What a symbol is called, and how far it reaches."""

    names: frozenset[str]
    #: The only file that can name it; nothing if every file can.
    path: str = ""
    #: The only lines of that file.
    lines: range | None = None

    def covers(self, path: str, line: int) -> bool:
        if self.path and path != self.path:
            return False
        return self.lines is None or line in self.lines


def extent_of(
    builds: Builds, symbols: Sequence[SymbolDetails], file: SourceFile, position: Position
) -> Extent:
    """The extent of what a server found at a position; of the word there if that is nothing."""
    # A macro hides what it becomes.
    meant = [each for each in symbols if _MACRO in (each.usr or "")][:1] or symbols
    if not meant:
        return Extent(builds.names(name_at(file.text, position)))
    names = frozenset(name for each in meant if _WORD.fullmatch(name := each.name or ""))
    own = [match for each in meant if (match := re.match(_OWN, each.usr or ""))]
    here = file.path.rpartition("/")[2]
    if len(own) == len(meant) and all(match["place"] and match["file"] == here for match in own):
        block = builds.block_around(builds.code_of(file.text), position.line)
        return Extent(names, file.path, block)
    is_own = not builds.is_shared(file.path) and all(_is_of(file, each) for each in meant)
    return Extent(names, file.path if is_own else "")


def _is_of(file: SourceFile, symbol: SymbolDetails) -> bool:
    """Whether nobody but this source can name a symbol, or they who include it."""
    usr = symbol.usr or ""
    own = re.match(_OWN, usr)
    if own is not None:
        return own["file"] == file.path.rpartition("/")[2]
    # Types have names in one file only, and so has what belongs to them.
    places = [symbol.declarationRange, symbol.definitionRange]
    uris = {place.uri for place in places if place is not None}
    return re.search(_TYPE, usr) is not None and uris == {file.uri}


class Mention(NamedTuple):
    """The places of a name in code that may be left out, and whether those tell why a server knows
    nothing of it: some of them are in code that is not compiled.
    """

    unaccounted: tuple[Unaccounted, ...] = ()
    explains: bool = False
    #: What the server calls the symbol, if that is one name.
    name: str = ""


class _Kept(NamedTuple):
    """A file: whether nobody compiles it, or only with errors; and the code that may be left out,
    which then is all of it. What it defines may drop arguments anywhere.
    """

    alone: bool
    wrong: bool
    stretches: Stretches
    macros: Sequence[Definition]
    arguments: Stretches = ()

    def reason(self, line: int) -> Reason:
        """Why a name in a line is not accounted for."""
        if self.alone:
            return Reason.EXCLUDED_FILE
        if any(_line_of(part, line).strip() for part in self.arguments):
            return Reason.MACRO
        around = (text for first, text in self.stretches if 0 <= line - first <= text.count("\n"))
        is_body = any(_DEFINE.fullmatch(text) for text in around)
        return Reason.MACRO if is_body else Reason.OTHER_BUILD

    @property
    def size(self) -> int:
        code = sum(len(text) for part in (self.stretches, self.arguments) for _, text in part)
        return code + len(self.macros) * _MACRO_SIZE


class _Looked(NamedTuple):
    """What is known after a look."""

    #: How often something had changed, and what was compiled, without errors or with.
    state: tuple[int, Collection[str], Collection[str]] = (-1, (), ())
    files: Mapping[str, _Kept] = {}
    #: The arguments that macros drop.
    dropped: Mapping[str, int] = {}
    #: How many characters are kept; more than may be if not everything is.
    size: int = 0


class Sought(NamedTuple):
    """Where a word stands in code that may be left out."""

    looked: _Looked
    names: frozenset[str]
    #: The lines of each file, with how often it occurs there.
    lines: dict[str, Counter[int]]
    #: Whether it makes no difference what was meant by the word.
    decided: bool


class OtherBuilds:
    """The code of one project that may belong to another build. Read once, and what changes."""

    def __init__(self, builds: Builds, project: Callable[[], Project]) -> None:
        self.builds = builds
        self._project = project
        self._looked = _Looked()
        self._dirty = DirtyPaths()
        self._looking = threading.Lock()

    def changed(self, changes: Sequence[Change]) -> None:
        self._dirty.note(changes)

    async def seek(self, units: Collection[str], wrong: Collection[str], word: str) -> Sought:
        """Where a word stands that is asked about. ``units`` are the files that are compiled, and
        ``wrong`` all that were read with errors, after which much is lost.
        """
        looked = self._looked
        if looked.state != (self._dirty.changes, units, wrong):
            looked = await asyncio.to_thread(self._look, units, wrong)
        names = self.builds.names(word)
        if looked.size > _MOST:
            return Sought(looked, names, {}, decided=True)
        lines = await self._search(looked, names)
        return Sought(looked, names, lines, decided=bool(names) and not lines)

    async def note(
        self,
        sought: Sought,
        reach: Extent | None,
        found: Callable[[], Awaitable[Iterable[Location]]],
    ) -> Mention:
        """What is to be said of a word that was sought.

        What was meant by it need be known only where the word does not decide. Where it was found,
        with its declarations, is asked for only where the answer depends on it.
        """
        looked, names, lines, _ = sought
        if looked.size > _MOST:
            return Mention((Unaccounted(Reason.OVER_BUDGET, 1),), explains=True)
        if sought.decided or reach is None:
            return Mention()
        if reach.names != names:
            lines = await self._search(looked, reach.names)
        if not any(reach.covers(path, line) for path in lines for line in lines[path]):
            return Mention()
        for place in set(await found()):
            lines.get(path_in(place.uri), Counter())[place.range.start.line] -= 1
        left = [
            (path, line)
            for path in sorted(lines)
            for line in sorted(lines[path])
            if reach.covers(path, line)
            for _ in range(lines[path][line])
        ]
        return self._mention(looked, left)._replace(
            name=next(iter(reach.names)) if len(reach.names) == 1 else ""
        )

    async def _search(self, looked: _Looked, names: Collection[str]) -> dict[str, Counter[int]]:
        """The lines of each file that one of these names stands in."""
        if not names:
            return {}
        if looked.size > _AT_ONCE:
            return await asyncio.to_thread(_lines, looked, names)
        return _lines(looked, names)

    def _mention(self, looked: _Looked, places: Sequence[Place]) -> Mention:
        parts = merged(
            Unaccounted(looked.files[path].reason(line), 1, ((path, line),))
            for path, line in places
        )
        kept = [looked.files[path] for path, _ in places]
        return Mention(parts, explains=bool(kept) and not all(file.wrong for file in kept))

    def _look(self, units: Collection[str], wrong: Collection[str]) -> _Looked:
        """Reads what changed, in a thread."""
        with self._looking:
            with self._dirty.taken() as (changes, due):
                self._looked = self._kept(units, wrong, due)._replace(state=(changes, units, wrong))
            return self._looked

    def _kept(self, units: Collection[str], wrong: Collection[str], due: set[str]) -> _Looked:
        """What is to be kept of every file, and how much that is; nothing if it is too much."""
        before, kept, size = self._looked.files, dict[str, _Kept](), 0
        read, held = dict[str, str | None](), 0
        for path in self._project().files():
            alone = path not in units and not self.builds.is_shared(path)
            known, is_wrong = before.get(path), path in wrong
            if known is None or path in due or (known.alone, known.wrong) != (alone, is_wrong):
                code = self._code(path)
                known = self._of(code, alone=alone, wrong=is_wrong)
                held += len(code)
                read[path] = code if held <= _HELD else None
            size += known.size
            if size > _MOST:
                return _Looked(size=size)
            kept[path] = known
        dropped = self.builds.dropping(each for file in kept.values() for each in file.macros)
        # Elsewhere the arguments are what they were, unless other ones are dropped now.
        for path in list(kept if dropped != self._looked.dropped else read):
            size -= kept[path].size
            kept[path] = self._with_arguments(path, kept[path], read.pop(path, None), dropped)
            size += kept[path].size
            if size > _MOST:
                return _Looked(size=size)
        return _Looked(files=kept, dropped=dropped, size=size)

    def _code(self, path: str) -> str:
        return self.builds.code_of(read_text(path, _MAX_BYTES) or "")

    def _of(self, code: str, *, alone: bool, wrong: bool) -> _Kept:
        stretches = [(0, code)] if alone or wrong else self.builds.stretches(code)
        return _Kept(alone, wrong, stretches, self.builds.definitions(code))

    def _with_arguments(
        self, path: str, file: _Kept, code: str | None, dropped: Mapping[str, int]
    ) -> _Kept:
        if file.alone or file.wrong:
            return file
        code = self._code(path) if code is None else code
        return file._replace(arguments=self.builds.arguments(code, dropped))


def _lines(looked: _Looked, names: Collection[str]) -> dict[str, Counter[int]]:
    found: dict[str, Counter[int]] = {}
    for path, kept in looked.files.items():
        # An argument that a macro drops may also be under a condition.
        lines = _occurrences(kept.stretches, names) | _occurrences(kept.arguments, names)
        if lines:
            found[path] = lines
    return found


def _occurrences(stretches: Stretches, names: Collection[str]) -> Counter[int]:
    """How often one of some names occurs in each line."""
    found = Counter[int]()
    for name in names:
        for first, text in stretches:
            place = text.find(name)
            line, counted = first, 0
            while place >= 0:
                end = place + len(name)
                if not _is_part(text, place - 1) and not _is_part(text, end):
                    line += text.count("\n", counted, place)
                    counted = place
                    found[line] += 1
                place = text.find(name, end)
    return found


def _line_of(stretch: tuple[int, str], line: int) -> str:
    """A line as far as it is in a stretch.

    >>> [_line_of((2, "a\\nb"), line) for line in (1, 2, 3, 4)]
    ['', 'a', 'b', '']
    """
    first, text = stretch
    if line < first:
        return ""
    lines = text.split("\n", line - first + 1)
    return lines[line - first] if line - first < len(lines) else ""


def _is_part(text: str, place: int) -> bool:
    """Whether a part of a word stands at a place, which may lie outside of the text."""
    return 0 <= place < len(text) and (text[place].isalnum() or text[place] == "_")
