"""What ``find`` answers, in words: declarations, the lines of files, and ranked places."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from sightline.contract.failures import NotFound, NotReady
from sightline.contract.texts import visible
from sightline.contract.values import Position
from sightline.index.index import Answer, Index
from sightline.index.searching.filters import Filters
from sightline.index.searching.query import understand
from sightline.index.searching.search import Item, Ranking, Request
from sightline.index.searching.snippets import Limits
from sightline.index.searching.texts import Outdated
from sightline.symbols.declared import Declared, declared
from sightline.symbols.engine import Symbols
from sightline.symbols.files import Files
from sightline.symbols.merging import merged_in_files
from sightline.symbols.near import near
from sightline.symbols.symbol import Symbol
from sightline.tools.tool import Block, Desk, Said, Section, plural, without
from sightline.workspace.view import ViewOutdated

__all__ = ["Asked"]

#: So many lines of a text search are listed. All of them are counted.
_MAX_LINES = 20_000
#: So many declarations of one name, and places that a question is about.
_MAX_DECLARED = 500
_MAX_PLACES = 20
_MAX_NAME = 80
_MAX_NEAR = 5
_CHANGED = "a file changed while it was read; ask again"
_ONE_LINE = Limits(lines=1, characters=120)


@dataclass(frozen=True)
class Asked:
    """One question, and what it is put to."""

    desk: Desk
    index: Index
    symbols: Symbols
    query: str
    globs: Sequence[str]
    ranking: Ranking

    @property
    def shown(self) -> str:
        """The query as an answer repeats it."""
        line = visible(self.query)
        return f"'{line if len(line) <= _MAX_NAME else line[: _MAX_NAME - 1] + '…'}'"

    @cached_property
    def files(self) -> Files:
        return Files(self.desk.view, self.symbols.sources)

    async def anything(self) -> Said:
        """A name is looked up as one; where none is declared so, every line that has it follows."""
        if not understand(self.query).exact:
            return await self.places()
        if self.ranking != "auto":
            return await self.places()
        named = await self.names()
        if named.sections[0].blocks:
            return named
        lines = await self.lines("literal")
        (found,) = lines.sections
        if not found.blocks:
            return named
        head = [f"{found.head[0]}; nothing is declared so", *found.head[1:]]
        return Said([Section(head, found.blocks)], named.data | lines.data)

    async def names(self) -> Said:
        """The declarations of a name, each as the answers about it begin."""
        found = await declared(self.index, self.query, self.globs, self.desk.progress)
        try:
            shown, data = await asyncio.to_thread(self._declarations, found.declared)
        except ViewOutdated:
            raise NotReady(_CHANGED, waiting_for="the files") from None
        if not found.declared:
            words = await asyncio.to_thread(near, self.symbols.sources, found.name)
            alike = list(dict.fromkeys([*found.near, *words]))[:_MAX_NEAR]
            also = f"; near names: {', '.join(alike)}" if alike else ""
            head = [f"nothing is declared as {self.shown}{self._where()}{also}"]
            head += self._notes(found.skipped, fileless=found.fileless)
            return Said([Section(head)], {"query": self.query, "near": alike, "symbols": []})
        count = plural(len(shown), "declaration")
        if len(found.declared) > _MAX_DECLARED:
            count = f"the first {_MAX_DECLARED} of {len(found.declared):,} declarations"
        spelled = "" if found.declared[0].name == found.name else ", in another case"
        head = [f"{count} of {self.shown}{spelled}{self._where()}"]
        blocks = [Block("", [line]) for line in shown]
        return Said([Section(head, blocks)], {"query": self.query, "near": [], "symbols": data})

    def _declarations(self, found: Sequence[Declared]) -> tuple[list[str], list[dict[str, Any]]]:
        """How declarations read, in a thread. Overloads in a file are one."""
        symbols = [_symbol(self.files, each) for each in found[:_MAX_DECLARED]]
        merged = merged_in_files(symbols)
        data = [
            {
                "path": each.shown,
                "line": each.position.line + 1,
                "kind": each.kind,
                "name": each.qualified,
                "signature": each.signature,
            }
            for each in merged
        ]
        return [each.echo for each in merged], data

    async def lines(self, mode: Literal["literal", "regex"]) -> Said:
        """Every line with a text, or in which a pattern matches, by file."""
        request = Request(self.query, mode, Filters(tuple(self.globs)))
        found = await self.index.search(request, self.desk.progress)
        try:
            listed = await asyncio.to_thread(found.by_file, _MAX_LINES)
        except Outdated:
            raise NotReady(_CHANGED, waiting_for="the files") from None
        shown = [(self.files.shown(f"{root}/{path}"), own) for root, path, own in listed]
        blocks = [
            Block(path, [f"{number}: {_source(text)}" for number, text in own.items()])
            for path, own in shown
        ]
        matches = mode == "regex"
        if not blocks:
            verb = "matches" if matches else "has"
            head = [f"no line {verb} {self.shown}{self._where()}"]
        else:
            least = "at least " if found.capped else ""
            files = plural(found.files, "file")
            one = found.lines == 1
            verb = ("matches" if one else "match") if matches else ("has" if one else "have")
            head = [f"{least}{plural(found.lines, 'line')} in {least}{files} {verb} {self.shown}"]
        if found.lines > _MAX_LINES:
            head.append(f"The first {_MAX_LINES:,} lines are listed.")
        head += self._notes(found.skipped, found.note, fileless=found.fileless)
        data = {
            "query": self.query,
            "lines": found.lines,
            "files": [{"path": path, "lines": own} for path, own in shown],
        }
        return Said([Section(head, blocks)], data)

    async def places(self) -> Said:
        """What a question in plain words is about, best first."""
        filters = Filters(tuple(self.globs))
        request = Request(self.query, "auto", filters, False, _ONE_LINE, self.ranking)
        found = await self.index.search(request, self.desk.progress, first=_MAX_PLACES)
        count = min(len(found), _MAX_PLACES)
        items = [found.item(place) for place in range(count)]
        if not items:
            head = [f"nothing is found for {self.shown}{self._where()}"]
        else:
            total = f"{len(found)} or more" if found.capped else str(len(found))
            best = f"the best {count} of {total} places"
            whole = plural(count, "place")
            head = [f"{best if count < len(found) else whole} for {self.shown}"]
        missing = found.missing
        if missing is not None:
            near = f"; near names: {', '.join(missing.near)}" if missing.near else ""
            head.append(f"{missing.name[:_MAX_NAME]!r} is nowhere{self._where()}{near}")
        head += self._notes(0 if items else found.skipped, found.note, fileless=found.fileless)
        try:
            lines = await asyncio.to_thread(
                lambda: [self._place(found, number, item) for number, item in enumerate(items)]
            )
        except Outdated:
            raise NotReady(_CHANGED, waiting_for="the files") from None
        data = {"query": self.query, "places": [_place_data(item) for item in items]}
        return Said([Section(head, [Block("", [line]) for line in lines])], data)

    def _place(self, found: Answer, number: int, item: Item) -> str:
        """``shop/cart.py:2-9  method Cart.add  def add(self, item):``."""
        path = self.files.shown(found.real(number))
        last = f"-{item.end_line}" if item.end_line > item.start_line else ""
        name = visible(f"{item.kind} {found.qualified(number)}")
        source = visible(found.source(number))
        return "  ".join(filter(None, (f"{path}:{item.start_line}{last}", name, source)))

    def _where(self) -> str:
        return f" in {', '.join(self.globs)}" if self.globs else ""

    def _notes(self, skipped: int, note: str = "", *, fileless: bool = False) -> list[str]:
        said: list[str] = []
        if fileless and self.globs:
            said.append("No indexed file passes in; globs start at the root, such as src/**.")
        if note:
            said.append(note)
        if skipped:
            said.append(f"{plural(skipped, 'file')} not indexed; sightline index status says why.")
        gone = without(self.desk.view.gone).strip()
        return [*said, *([gone] if gone else [])]


def _symbol(files: Files, found: Declared) -> Symbol:
    with suppress(NotFound):  # the index reads more encodings
        for each in files.declared(found.real):
            if (each.line, each.name) == (found.line, found.name):
                return files.symbol(found.real, each)
    # What no grammar reads: a heading, a key.
    name = f"{found.container}.{found.name}" if found.container else found.name
    return Symbol(
        found.name,
        found.kind,
        name,
        found.container,
        found.real,
        files.shown(found.real),
        Position(found.line, found.column),
        found.line,
        found.end_line,
        signature="",
    )


def _source(line: str) -> str:
    """A line without indentation; what else it holds stays, so that it can be found again."""
    line = line.strip()
    return line if line.isprintable() else "".join(c if c.isprintable() else " " for c in line)


def _place_data(item: Item) -> dict[str, Any]:
    return {
        "path": item.path,
        "line": item.start_line,
        "endLine": item.end_line,
        "kind": item.kind,
        "name": item.name,
        "score": round(item.score, 4),
    }
