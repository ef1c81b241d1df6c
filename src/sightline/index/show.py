"""Showing a part of a file: by lines, by the symbol declared there, or by the id of a hit.

Text is read through the gate and decoded as the index decodes it. Lines are numbered from 1. What
is shown is bounded by lines and bytes and says so when it was cut.
"""

import asyncio
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from sightline.contract.canonical import sha256_hex
from sightline.contract.failures import InvalidArguments, NotFound
from sightline.contract.uris import uri_of
from sightline.contract.values import Position
from sightline.index.building.builder import Builder, Progress
from sightline.index.cutting.chunks import Chunk, Symbol
from sightline.index.index import Index
from sightline.index.reading.languages import language_of
from sightline.index.reading.sources import content_hash, decode_text, has_mark
from sightline.index.searching.filters import split_name, symbols_named
from sightline.index.storage.segment import term_key
from sightline.index.terms.words import compact
from sightline.workspace.gate import Gate, GatedFile
from sightline.workspace.roots import Root

__all__ = [
    "Shown",
    "Target",
    "Text",
    "by_id",
    "by_symbol",
    "fewer",
    "lines",
    "lines_of_hit",
    "read_text",
]

_MAX_LINE = 2_000
_CUT = "…"
_MAX_CANDIDATES = 20
_MAX_BYTES = 400_000
#: Declarations of one symbol with at most so many lines between them are shown together.
_MAX_GAP = 2


class Target(NamedTuple):
    """Where to look. Lines count from 1."""

    real: str
    start_line: int
    end_line: int
    name: str = ""
    kind: str = ""
    container: str = ""
    position: Position = Position(0, 0)
    #: Whether the lines are those of the symbol itself. A prototype stands among others.
    own: bool = False
    #: Where else the same symbol is declared, in words.
    also: tuple[str, ...] = ()


class Text(NamedTuple):
    lines: list[str]
    language: str
    hash: bytes
    #: Whether the first line begins with a byte-order mark.
    marked: bool

    def place(self, position: Position) -> Position:
        """A position in the text of the index, as one in the file."""
        if self.marked and position.line == 0:
            return Position(0, position.character + 1)
        return position


class Shown(NamedTuple):
    text: str
    start: int
    end: int
    total: int
    language: str
    #: Whether there are more lines than these.
    more: bool
    #: Whether lines are shown of which the end is left out.
    cut: bool = False


def read_text(gate: Gate, file: GatedFile) -> Text:
    """The lines of a file inside the roots."""
    raw = gate.read(file)
    data = decode_text(raw)
    if isinstance(data, str):
        raise NotFound("the file is not text; nothing can be shown of it")
    marked = has_mark(raw)
    text = ("\ufeff" if marked else "") + data.decode("utf-8", "replace")
    found = text.replace("\r\n", "\n").split("\n")
    if found and not found[-1]:
        found.pop()
    name = file.path.rpartition("/")[2]
    return Text(found, language_of(name, data[:8_192]).name, content_hash(raw), marked)


def lines(
    text: Text, first: int | None, last: int | None, default: int, limit: int | None
) -> Shown:
    """Numbered lines, at most ``limit`` bytes of them. Without ``last``, at most ``default``."""
    total = len(text.lines)
    start = first or 1
    if total and start > total:
        raise InvalidArguments(f"startLine must be {total} or less; the file has {total} lines")
    wanted = min(last if last is not None else start + default - 1, total)
    width = len(str(max(wanted, 1)))
    out: list[str] = []
    cut = False
    room = min(limit or _MAX_BYTES, _MAX_BYTES)
    for number in range(start, wanted + 1):
        line = text.lines[number - 1]
        short = line if len(line) <= _MAX_LINE else line[:_MAX_LINE] + _CUT
        entry = f"{number:>{width}}  {short}"
        size = len(entry.encode("utf-8", "replace")) + 1
        if size > room:
            if out:
                break
            entry = _within(entry, room)
        cut |= len(entry) < width + 2 + len(line) or short is not line
        room -= size
        out.append(entry)
    end = start + len(out) - 1 if out else start - 1
    asked = last if last is not None else total
    more = end < min(asked, total)
    return Shown("\n".join(out), start, max(end, 0), total, text.language, more, cut)


def _within(entry: str, room: int) -> str:
    """The beginning of a line that takes so many bytes with its end."""
    kept = entry.encode("utf-8", "replace")[: max(0, room - len(_CUT.encode()) - 1)]
    return kept.decode("utf-8", "ignore") + _CUT


def fewer(shown: Shown, size: int) -> Shown:
    """The same with at most ``size`` bytes of text, and at least one line."""
    kept: list[str] = []
    for entry in shown.text.split("\n"):
        size -= len(entry.encode("utf-8", "replace")) + 2
        if kept and size < 0:
            break
        kept.append(entry)
    end = shown.start + len(kept) - 1
    return shown._replace(text="\n".join(kept), end=end, more=shown.more or end < shown.end)


async def by_id(index: Index, id: str, progress: Progress) -> Target:
    """The file and lines a hit's id names."""
    name, _, rest = id.partition(":")
    span, _, _ = rest.partition(":")
    first, _, last = span.partition("-")
    roots = await index.ready(progress)
    real = await asyncio.to_thread(_named, roots, name)
    if real is None:
        raise NotFound("the file of this hit is gone; search again")
    return Target(real, int(first), int(last))


def lines_of_hit(
    target: Target, first: int | None, last: int | None, total: int
) -> tuple[int, int]:
    """The lines to show for an id: its own, as far as the file still has them, or those asked for.

    One line that is asked for goes with the other end of the hit, so it must not lie beyond that.
    """
    if first is not None and last is None and first > target.end_line:
        raise InvalidArguments(
            f"startLine must be {target.end_line} or less, where the hit ends; "
            "pass endLine too to see what follows"
        )
    if last is not None and first is None and last < target.start_line:
        raise InvalidArguments(
            f"endLine must be {target.start_line} or more, where the hit begins; "
            "pass startLine too to see what is before"
        )
    start = max(1, min(target.start_line, total)) if first is None else first
    end = min(target.end_line, total) if last is None else last
    return start, end


def _named(roots: Sequence[tuple[Root, Builder]], name: str) -> str | None:
    """The file whose URI has a hash that begins so."""
    for root, builder in roots:
        assert builder.snapshot is not None
        for path in builder.snapshot.rows:
            real = f"{root.real}/{path}"
            if sha256_hex(uri_of(real))[:12] == name:
                return real
    return None


async def by_symbol(index: Index, symbol: str, real: str, progress: Progress) -> Target:
    """Where a symbol is declared. Several symbols of a name are listed, not guessed among.

    What stands in one file within the same names is one symbol: overloads, or declarations that
    TypeScript merges. So are a function and its prototypes, of which the function is shown.
    """
    roots = await index.ready(progress)
    return await asyncio.to_thread(_declared, index, roots, symbol, real)


def _declared(
    index: Index, roots: Sequence[tuple[Root, Builder]], symbol: str, real: str
) -> Target:
    name = split_name(symbol)[-1]
    found: list[Target] = []
    for root, builder in roots:
        snapshot = builder.snapshot
        assert snapshot is not None
        for field, wanted in (("s", name), ("l", compact(name))):
            chunks = index.lookup.terms(snapshot, term_key(field + wanted)).chunks
            for number in chunks.tolist():
                file = int(snapshot.chunk_file[number])
                path = f"{root.real}/{snapshot.path(file)}"
                if real and path != real:
                    continue
                chunk = snapshot.record(file)[number - int(snapshot.chunk_first[file])]
                found += _targets(path, chunk, symbol, exact=field == "s")
            if found:
                break
    unique = sorted(set(found), key=lambda t: (t.real, t.start_line, t.position.character))
    if not unique:
        missing = f"no symbol {symbol[:80]!r} is known here (those inside functions are not)"
        raise NotFound(f"{missing}; search for the name instead")
    major = [target for target in unique if target.kind not in ("field", "variable", "key")]
    defined = [target for target in major if not _is_prototype(target, major)]
    chosen = defined or unique
    files, containers = {each.real for each in chosen}, {each.container for each in chosen}
    if len(files) > 1 or len(containers) > 1:
        ways = ["path"] if len(files) > 1 else []
        ways += ["a qualified name"] if len(containers) > 1 else []
        listed = "; ".join(_described(index, target) for target in chosen[:_MAX_CANDIDATES])
        raise InvalidArguments(
            f"{len(chosen)} symbols are called {symbol[:80]!r}; pass {' or '.join(ways)}: {listed}"
        )
    first, *rest = chosen
    while rest and rest[0].start_line <= first.end_line + 1 + _MAX_GAP:
        first = first._replace(end_line=max(first.end_line, rest.pop(0).end_line))
    beside = [each for each in unique if each not in chosen and each.container == first.container]
    also = [_described(index, target) for target in [*rest, *beside]]
    return first._replace(also=tuple(also[:_MAX_CANDIDATES]))


def _is_prototype(target: Target, among: Sequence[Target]) -> bool:
    """Whether a function is only announced here, and defined at another of these places."""
    return not target.own and any(
        other.own and (other.kind, other.container) == (target.kind, target.container)
        for other in among
    )


def _targets(path: str, chunk: Chunk, symbol: str, *, exact: bool) -> list[Target]:
    return [
        _target(path, chunk, declared, container)
        for declared, container in symbols_named(chunk, symbol, exact=exact)
    ]


def _target(path: str, chunk: Chunk, symbol: Symbol, container: str) -> Target:
    own = symbol.name == chunk.name and symbol is chunk.symbols[0]
    start, end = (chunk.start_line, symbol.end_line) if own else (symbol.line, symbol.end_line)
    position = Position(symbol.line, symbol.column)
    return Target(path, start + 1, end + 1, symbol.name, symbol.kind, container, position, own)


def _described(index: Index, target: Target) -> str:
    roots = sorted(index.builders, key=len)
    place = bisect_right([len(root) for root in roots], len(target.real))
    inside = [root for root in roots[:place] if target.real.startswith(root + "/")]
    path = target.real[len(inside[-1]) + 1 :] if inside else target.real
    owner = f" in {target.container}" if target.container else ""
    return f"{path}:{target.start_line} ({target.kind}{owner})"
