"""The uses of a symbol as lines of text: what each does, inside of what, and what nobody could
account for."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from sightline.contract.failures import TooMany
from sightline.contract.limits import MAX_REFERENCES_ITEMS_TOTAL
from sightline.contract.source import Source
from sightline.contract.unaccounted import Unaccounted, merged
from sightline.contract.uris import path_in, uri_of
from sightline.contract.values import Location, Position
from sightline.symbols.files import Files
from sightline.symbols.roles import ROLES, role_at
from sightline.symbols.symbol import Symbol, shown_line
from sightline.workspace.gate import Hidden

__all__ = ["Left", "Use", "Uses", "uses_of"]


class Use(Struct, frozen=True):
    """A use. Lines count from 0."""

    path: str
    line: int
    #: The innermost function or class around it.
    around: str
    role: str
    source: str
    in_tests: bool


class Left(Struct, frozen=True):
    """Places of the name that nobody could account for, for one reason."""

    unaccounted: Unaccounted
    #: As uses, of unknown role.
    places: tuple[Use, ...]


class Uses(Struct, frozen=True):
    items: tuple[Use, ...]
    left: tuple[Left, ...]
    notes: tuple[str, ...]


class _Told(NamedTuple):
    """What the answer source says of one symbol, all of its declarations taken together."""

    places: Sequence[Location]
    #: Those of them that declare it.
    declarations: frozenset[Location]
    unaccounted: Sequence[Unaccounted]
    notes: Mapping[str, None]


async def uses_of(source: Source, files: Files, symbol: Symbol, *, with_declarations: bool) -> Uses:
    """Every use, in the order of paths and lines. Complete, or a failure of the source."""
    told = await _ask(source, files, symbol, with_declarations=with_declarations)
    hidden: Counter[Hidden] = Counter()
    items: list[Use] = []
    for path, places in _by_path(files, told.places, hidden):
        for place in places:
            role = "declaration" if place in told.declarations else None
            items.append(
                _use(files, path, files.named_from(path, place.range.start, symbol.name), role)
            )
    if len(items) > MAX_REFERENCES_ITEMS_TOTAL:
        raise TooMany("more than 20,000 uses; ask about a narrower symbol")
    used = {(each.path, each.line) for each in items}
    left = tuple(_left(files, part, used) for part in told.unaccounted)
    notes = [
        *told.notes,
        *(f"{hidden[why]:,} {why.value} not shown." for why in Hidden if hidden[why]),
    ]
    items.sort(key=lambda each: (files.shown(each.path), each.line))
    return Uses(tuple(items), tuple(left), tuple(notes))


async def _ask(source: Source, files: Files, symbol: Symbol, *, with_declarations: bool) -> _Told:
    """Asks at the symbol, and at each further declaration of it in the same file: of overloads and
    of one definition per platform, a server may know only the one that it is asked about.
    """
    positions = [symbol.position]
    positions += [each.position for each in symbol.also if each.path == symbol.path]
    document = files.document(symbol.path)
    places: dict[Location, None] = {}
    uses: dict[Location, None] = {}
    unaccounted: list[Unaccounted] = []
    notes: dict[str, None] = {}
    for position in positions:
        told = await source.references(document, position, include_declaration=False)
        uses |= dict.fromkeys(told.items)
        unaccounted += told.unaccounted if position == positions[0] else ()
        if told.note:
            notes[told.note] = None
        if told.uncovered:
            notes[f"No language server for {', '.join(told.uncovered)}."] = None
        if with_declarations:
            whole = await source.references(document, position, include_declaration=True)
            places |= dict.fromkeys(whole.items)
    declarations = frozenset(place for place in places if place not in uses)
    kept = list({**uses, **places})
    return _Told(kept, declarations, merged(unaccounted), notes)


def _by_path(
    files: Files, places: Iterable[Location], hidden: Counter[Hidden]
) -> Iterable[tuple[str, Sequence[Location]]]:
    """The places that may be shown, by real path, each start once."""
    found: defaultdict[str, dict[Position, Location]] = defaultdict(dict)
    for place in places:
        uri = files.view.gate.look_at(place.uri)
        if isinstance(uri, Hidden):
            hidden[uri] += 1
        else:
            found[path_in(uri)].setdefault(place.range.start, place)
    for path in sorted(found):
        starts = sorted(found[path], key=lambda start: (start.line, start.character))
        yield path, [found[path][start] for start in starts]


def _use(files: Files, path: str, start: Position, role: str | None) -> Use:
    grammar = files.grammar(path)
    if role is None and files.is_declared_at(path, start):
        role = "declaration"
    if role is None:
        text = files.text(path)
        role = role_at(grammar, text, files.offset(path, start)) if grammar else ROLES[-1]
    return _at(files, path, start.line, role)


def _at(files: Files, path: str, line: int, role: str) -> Use:
    return Use(
        path,
        line,
        files.around(path, line),
        role,
        shown_line(files.line(path, line)),
        files.is_test(path),
    )


def _left(files: Files, part: Unaccounted, used: set[tuple[str, int]]) -> Left:
    """The places of one reason, each line once, those that are uses left out."""
    shown = [
        (path, line)
        for path, line in part.places
        if (path, line) not in used
        and not isinstance(files.view.gate.look_at(uri_of(path)), Hidden)
    ]
    return Left(part, tuple(_at(files, path, line, "") for path, line in dict.fromkeys(shown)))
