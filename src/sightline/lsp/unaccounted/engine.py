"""Completes what a server says of a symbol by resolving every other occurrence of its name.

    reported          cart.add("tea")        a place that the server reported
    added             shop.cart.add(x)       it leads to the symbol, and was not reported
    dropped           basket.add(x)          it leads to something else
    unaccounted       unknown.add(x)         it leads nowhere

At most ``MOST_ASKED`` occurrences are resolved for one question; what is left then is counted as
over budget. The order of files and offsets decides which, so the same question gives the same
answer.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from sightline.contract.source import SourceFile
from sightline.contract.texts import line_length_utf16
from sightline.contract.unaccounted import Reason, Unaccounted, merged
from sightline.contract.uris import path_in, uri_of
from sightline.contract.values import Location, Position, Range
from sightline.lsp.asking import questions
from sightline.lsp.server.server import Server
from sightline.lsp.unaccounted.class_hierarchy import ClassHierarchy, blocks_of
from sightline.lsp.unaccounted.python import PythonRules
from sightline.lsp.unaccounted.rules import Rules, is_after_dot, is_before
from sightline.lsp.unaccounted.script import ScriptRules
from sightline.lsp.unaccounted.symbols import Key, Occurrence, Symbol, key_of, names_module
from sightline.text.scopes import Declared, Scope, grammar_of, is_prose, path_of, scope_at
from sightline.text.sources import Hits, SourceTexts, offset_of, position_of, word

__all__ = ["MOST_ASKED", "RULES", "Completed", "are_imports", "as_import", "complete", "stand_in"]

#: So many occurrences are resolved for one question, so many of them at a time.
MOST_ASKED, _AT_ONCE = 200, 50
#: In more places of a name it is not told which are code.
_MOST_READ = 20_000
#: So many names of a symbol are looked for, and so much text in less time than a thread takes.
_MOST_NAMES, _QUICK = 4, 64 << 10
_SCRIPT = ScriptRules()
RULES: Mapping[str, Rules] = {
    "python": PythonRules(),
    "javascript": _SCRIPT,
    "javascriptreact": _SCRIPT,
    "typescript": _SCRIPT,
    "typescriptreact": _SCRIPT,
}
TextOf = Callable[[str], bytes]


class Completed(NamedTuple):
    #: The places that the server reported, and those that were added.
    places: Sequence[Location]
    unaccounted: tuple[Unaccounted, ...] = ()


class _Candidates(NamedTuple):
    symbol: Symbol
    #: Those that may be uses, in groups that lead to the same place.
    found: Sequence[Sequence[Occurrence]] = ()
    #: How many were not even looked at.
    unread: int = 0
    #: Those that surely are uses.
    sure: Sequence[Occurrence] = ()

    @property
    def paths(self) -> set[str]:
        return {each.path for group in self.found for each in group}


async def complete(
    server: Server,
    texts: SourceTexts,
    language: str,
    name: str,
    definitions: Sequence[Location],
    places: Sequence[Location],
    text_of: TextOf,
    asked: str,
) -> Completed:
    """The places of a symbol, and what the rest of the occurrences of its name are.

    ``name`` is the one that was asked about, ``places`` what the server reported for it, and
    ``text_of`` gives the text of a file that may lie outside of the project, ``asked`` is the
    path of the one that was asked about.
    """
    rules = RULES.get(language)
    if rules is None or not name or not definitions:
        return Completed(places)
    places = [place for place in places if not _is_misreported(rules, texts, name, place)]
    names = _names(name, places, texts) if language != "python" else [name]
    added, parts = list[Location](), list[Unaccounted]()
    for each in names:
        hits = await texts.find(word(each))
        if hits is None:
            parts.append(Unaccounted(Reason.OVER_BUDGET, 1))
            continue
        known = [*places, *added]
        if _covers(hits, known):
            continue
        question = _Question(
            rules, texts, grammar_of(language), each, definitions, known, text_of, asked
        )
        if sum(len(texts.text(path)) for path in hits) <= _QUICK:
            candidates = question.candidates(hits)
        else:
            candidates = await asyncio.to_thread(question.candidates, hits)
        resolving = _Resolving(server, rules, texts, candidates.symbol, grammar_of(language))
        resolved = await resolving.resolve(candidates)
        added += resolved.places
        other = each if each != name else ""
        parts += (msgspec.structs.replace(part, name=other) for part in resolved.unaccounted)
    return Completed([*places, *added], merged(parts))


def stand_in(language: str, text: bytes, name: str, at: Position) -> Position:
    """The position that tells the server what the name at a position is: mostly the same."""
    rules = RULES.get(language)
    if rules is None or not name:
        return at
    end = offset_of(text, at)
    start = text.rfind(name.encode(), 0, end + len(name.encode()))
    other = rules.stand_in(text, name, start) if start >= 0 else None
    return at if other is None else position_of(text, other)


def are_imports(language: str, definitions: Sequence[Location], text_of: TextOf) -> bool:
    """Whether imports that lead nowhere are all there is of a definition."""
    rules = RULES.get(language)
    if rules is None or not definitions:
        return False
    for place in definitions:
        text = text_of(place.uri)
        offset = offset_of(text, place.range.start)
        if rules.origin(text, path_in(place.uri), offset) is None:
            return False
    return True


def as_import(
    language: str, file: SourceFile, text: bytes, name: str, at: Position
) -> list[Location]:
    """The place of a name in an import that leads nowhere: all there is of a definition."""
    rules = RULES.get(language)
    end = offset_of(text, at)
    start = text.rfind(name.encode(), 0, end + len(name.encode())) if name else -1
    if rules is None or start < 0 or rules.origin(text, file.path, start) is None:
        return []
    first = position_of(text, start)
    last = Position(first.line, first.character + line_length_utf16(name))
    return [Location(file.uri, Range(first, last))]


def can_be_asked(server: Server, path: str) -> bool:
    """Whether a server may be asked about a file that no question has opened.

    Some servers end when it is a script that only its first line tells and they were not shown.
    """
    return path in server.scripts or server.launch.project().speaks(path.rpartition("/")[2])


def _names(name: str, places: Sequence[Location], texts: SourceTexts) -> list[str]:
    """The name that was asked about, and others under which the same symbol was reported."""
    found = [name]
    for place in places:
        if len(found) == _MOST_NAMES:
            break
        there = texts.name_at(path_in(place.uri), place.range.start).decode("utf-8", "replace")
        if there and there not in found and there != "default":
            found.append(there)
    return found


def _is_misreported(rules: Rules, texts: SourceTexts, name: str, place: Location) -> bool:
    path = path_in(place.uri)
    text = texts.text(path)
    return bool(text) and rules.is_misreported(text, name, texts.offset(path, place.range.start))


def _covers(hits: Hits, places: Sequence[Location]) -> bool:
    """Whether every occurrence was reported, told by their numbers alone."""
    counts: dict[str, set[Position]] = {}
    for place in places:
        counts.setdefault(path_in(place.uri), set()).add(place.range.start)
    return all(len(starts) <= len(counts.get(path, ())) for path, starts in hits.items())


class _Question:
    """The occurrences of a name that have to be resolved. Runs in a thread."""

    def __init__(
        self,
        rules: Rules,
        texts: SourceTexts,
        grammar: str,
        name: str,
        definitions: Sequence[Location],
        places: Sequence[Location],
        text_of: TextOf,
        asked: str,
    ) -> None:
        self._asked = asked
        self._rules = rules
        self._texts = texts
        self._grammar = grammar
        self._name = name
        self._definitions = definitions
        self._places = places
        self._text_of = text_of

    def candidates(self, hits: Hits) -> _Candidates:
        symbol = self._symbol()
        if symbol is None:
            return _Candidates(Symbol(self._name, self._definitions, frozenset()))
        if symbol.scope is Scope.PARAMETER and self._grammar == "python":
            hits = {path: self._given(path, starts) for path, starts in hits.items()}
        unread = sum(map(len, hits.values()))
        if unread > _MOST_READ:
            return _Candidates(symbol, unread=max(0, unread - len(self._places)))
        groups: dict[object, list[Occurrence]] = {}
        sure = list[Occurrence]()
        for each, is_sure in self._occurrences(symbol, hits):
            if is_sure:
                sure.append(each)
            else:
                groups.setdefault(self._meaning(each), []).append(each)
        # The occurrence that was asked about is never beyond the budget.
        first = sorted(groups.values(), key=lambda group: group[0].path != self._asked)
        return _Candidates(symbol, first, sure=sure)

    def _meaning(self, occurrence: Occurrence) -> object:
        """What occurrences have in common that lead to the same place; else one by itself."""
        path, offset, _ = occurrence
        text = self._texts.text(path)
        return self._rules.meaning(text, self._name, offset) or (path, offset)

    def _given(self, path: str, starts: Sequence[int]) -> list[int]:
        """The occurrences behind which an argument may follow."""
        text, size = self._texts.text(path), len(self._name.encode())
        return [start for start in starts if is_before(text, start + size, b"=")]

    def _symbol(self) -> Symbol | None:
        """What the definitions tell; ``None`` if no other occurrence can be a use.

        A symbol of a library is not looked for: on values of unknown type it can be anything.
        """
        keys = frozenset(map(key_of, [*self._definitions, *self._places]))
        if names_module(self._definitions):
            return Symbol(self._name, self._definitions, keys, is_module=True)
        declared = [each for each in map(self._declared, self._definitions) if each is not None]
        origin = self._origin()
        if not declared or (not origin and all(each.scope is Scope.LOCAL for each in declared)):
            return None
        scopes = [Scope.GLOBAL] if origin else [each.scope for each in declared]
        scope = next(each for each in scopes if each is not Scope.LOCAL)
        owners = {each.owner for each in declared} - {""}
        if owners & {"__init__", "__new__"}:
            owners |= {each for each in map(self._class_of, self._definitions) if each}
        return Symbol(self._name, self._definitions, keys, scope, frozenset(owners), origin=origin)

    def _origin(self) -> bytes | None:
        """What an import names, where that is the only definition."""
        if len(self._definitions) != 1:
            return None
        place = self._definitions[0]
        text = self._text_of(place.uri)
        return self._rules.origin(text, path_in(place.uri), offset_of(text, place.range.start))

    def _declared(self, place: Location) -> Declared | None:
        text = self._text_of(place.uri)
        if not text:
            return None
        return scope_at(self._grammar, text, offset_of(text, place.range.start))

    def _class_of(self, place: Location) -> str:
        text = self._text_of(place.uri)
        path = path_of(self._grammar, text, offset_of(text, place.range.start)) if text else ()
        return path[-3] if len(path) > 2 else ""

    def _occurrences(self, symbol: Symbol, hits: Hits) -> Iterator[tuple[Occurrence, bool]]:
        """Those that may be uses, and whether they surely are."""
        known: dict[str, set[Position]] = {}
        for place in [*self._places, *self._definitions]:
            known.setdefault(path_in(place.uri), set()).add(place.range.start)
        rules, texts = self._rules, self._texts
        for path in sorted(hits):
            text, reported = texts.text(path), known.get(path, ())
            line = before = 0
            for start in hits[path]:
                line += text.count(b"\n", before, start)
                before = start
                column = text[text.rfind(b"\n", 0, start) + 1 : start]
                at = Position(line, line_length_utf16(column.decode("utf-8", "replace")))
                if at in reported:
                    continue
                sure = False
                if start in texts.spans(path, rules.no_code):
                    sure = rules.documents(symbol, text, path, start)
                    may = sure or rules.may_use_string(symbol, texts, path, start)
                else:
                    may = rules.may_use(symbol, texts, path, start)
                if may:
                    yield Occurrence(path, start, at), sure


#: An occurrence and the places that it leads to.
_Told = tuple[Occurrence, Sequence[Location]]


#: A group of occurrences, and the places that its first and its last lead to.
_Led = tuple[Sequence[Occurrence], Sequence[Location], Sequence[Location]]


class _Sorted(NamedTuple):
    added: list[Location]
    #: Those that led nowhere and may be uses.
    left: dict[Reason, list[Occurrence]]
    #: Those that led elsewhere.
    others: list[_Told]


class _Resolving:
    def __init__(
        self, server: Server, rules: Rules, texts: SourceTexts, symbol: Symbol, grammar: str
    ) -> None:
        self._server = server
        self._grammar = grammar
        self._rules = rules
        self._texts = texts
        self._symbol = symbol
        self._units = line_length_utf16(symbol.name)

    async def resolve(self, candidates: _Candidates) -> Completed:
        can = {path: can_be_asked(self._server, path) for path in candidates.paths}
        groups = [[each for each in group if can[each.path]] for group in candidates.found]
        some = [group for group in groups if group]
        if self._server.spec.unknown_members != "definition":
            some, rest = [], [each for group in some for each in group if self._is_unchecked(each)]
        else:
            rest = [each for group in some[MOST_ASKED:] for each in group]
        sorted_ = _Sorted([], {}, [])
        for first in range(0, min(len(some), MOST_ASKED), _AT_ONCE):
            part = some[first : min(first + _AT_ONCE, MOST_ASKED)]
            # Servers may resolve an import in one folder and not in another.
            asked = list(dict.fromkeys(each for group in part for each in (group[0], group[-1])))
            places = [(each.path, self._position(each)) for each in asked]
            told = await questions.definitions_unopened(self._server, places)
            to = dict(zip(asked, told, strict=True))
            led = [(group, to[group[0]], to[group[-1]]) for group in part]
            await asyncio.to_thread(self._sort, led, sorted_)
        added, left, others = sorted_
        left.setdefault(Reason.OVER_BUDGET, []).extend(rest)
        added += self._passed_on(others, added)
        left[Reason.OVERRIDE] = await self._overrides(others)
        parts = [
            Unaccounted(reason, len(those), tuple((each.path, each.at.line) for each in those))
            for reason, those in left.items()
            if those
        ]
        if candidates.unread:
            parts.append(Unaccounted(Reason.OVER_BUDGET, candidates.unread))
        return Completed([*map(self._location, candidates.sure), *added], merged(parts))

    def _is_unchecked(self, occurrence: Occurrence) -> bool:
        """Whether an occurrence that no server resolves is counted: a member on any value, or a
        name that is imported, or in Python taken, from what may be the project's own module.
        """
        if self._symbol.scope is Scope.MEMBER:
            return True
        path, offset, _ = occurrence
        text = self._texts.text(path)
        dotted = self._grammar == "python" and is_after_dot(text, offset)
        if not dotted and self._rules.origin(text, path, offset) is None:
            return False
        return self._rules.unresolved(self._symbol, self._texts, path, offset, None) is not None

    def _sort(self, told: Sequence[_Led], into: _Sorted) -> None:
        """What its first or its last occurrence leads to holds for all of a group.

        Texts are parsed for what led nowhere, so this runs in a thread.
        """
        for group, first, last in told:
            if self._is_own(group[0], first) or self._is_own(group[-1], last):
                into.added.extend(map(self._location, group))
            elif reason := self._reason(group[0], first):
                into.left.setdefault(reason, []).extend(group)
            elif first:
                into.others.extend((each, first) for each in group)

    def _is_own(self, occurrence: Occurrence, found: Sequence[Location]) -> bool:
        """Whether an occurrence leads to the symbol, or an import names the same as its own."""
        if self._symbol.is_at(found):
            return True
        origin = self._symbol.origin
        if not origin:
            return False
        text = self._texts.text(occurrence.path)
        return origin in (
            self._origin(occurrence, found),
            self._rules.meaning(text, self._symbol.name, occurrence.offset),
        )

    def _passed_on(self, others: list[_Told], added: Sequence[Location]) -> list[Location]:
        """The occurrences that lead to a declaration which only hands the symbol on."""
        keys, found = {*self._symbol.keys, *map(key_of, added)}, list[Location]()
        same: dict[Key, bool] = {}

        def hands_on(place: Location) -> bool:
            path, at, empty = key_of(place)
            if (path, at, empty) in keys:
                return True
            if (path, at, empty) not in same:
                text = self._texts.text(path)
                to = self._rules.passes_on(text, self._symbol.name, self._texts.offset(path, at))
                same[path, at, empty] = (
                    to is not None and (path, position_of(text, to), False) in keys
                )
            return same[path, at, empty]

        while True:
            new = [each for each in others if any(map(hands_on, each[1]))]
            if not new:
                return found
            for each in new:
                others.remove(each)
            places = [self._location(each) for each, _ in new]
            found += places
            keys.update(map(key_of, places))
            same = {key: known for key, known in same.items() if known}

    def _position(self, occurrence: Occurrence) -> Position:
        path, offset, at = occurrence
        other = self._rules.stand_in(self._texts.text(path), self._symbol.name, offset)
        return at if other is None else self._texts.position(path, other)

    def _location(self, occurrence: Occurrence) -> Location:
        at = occurrence.at
        end = Position(at.line, at.character + self._units)
        return Location(uri_of(occurrence.path), Range(at, end))

    def _origin(self, occurrence: Occurrence, found: Sequence[Location]) -> bytes | None:
        """What an import names that is all that an occurrence leads to."""
        path, offset, _ = occurrence
        text = self._texts.text(path)
        if not found:
            return self._rules.origin(text, path, offset)
        origins = set[bytes | None]()
        for place in found:
            if path_in(place.uri) != path:
                return None
            origins.add(self._rules.origin(text, path, self._texts.offset(path, place.range.start)))
        return origins.pop() if len(origins) == 1 else None

    def _reason(self, occurrence: Occurrence, found: Sequence[Location]) -> Reason | None:
        """Why an occurrence that did not lead to the symbol may be a use all the same."""
        path, offset, _ = occurrence
        if is_prose(self._grammar, self._texts.text(path), offset):
            return None
        if not found or self._only_dunder(found):
            return self._rules.unresolved(self._symbol, self._texts, path, offset, None)
        if any(questions.covers(place, uri_of(path), occurrence.at) for place in found):
            if self._origin(occurrence, found) is None:
                return None  # it declares something else
        elif misled := self._misled(found):
            return misled
        if self._origin(occurrence, found) is None:
            return None
        bound = self._texts.offset(path, found[0].range.start)
        return self._rules.unresolved(self._symbol, self._texts, path, offset, bound)

    def _misled(self, found: Sequence[Location]) -> Reason | None:
        led = {path_in(place.uri) for place in found}
        if led & {path_in(place.uri) for place in self._symbol.definitions}:
            return None
        reasons = (self._rules.misled(self._symbol, self._texts, path) for path in sorted(led))
        return next(filter(None, reasons), None)

    def _only_dunder(self, found: Sequence[Location]) -> bool:
        """Whether only ``__getattr__`` and its like answer for a name."""
        if self._symbol.name.startswith("__"):
            return False
        names = (self._texts.name_at(path_in(each.uri), each.range.start) for each in found)
        return all(name.startswith(b"__") and name.endswith(b"__") for name in names)

    async def _overrides(self, others: Sequence[_Told]) -> list[Occurrence]:
        """The uses of the same member of a base class or a subclass: they may reach this one."""
        if self._symbol.scope is not Scope.MEMBER or not isinstance(self._rules, PythonRules):
            return []
        uses = [
            (each, found)
            for each, found in others
            if not any(questions.covers(place, uri_of(each.path), each.at) for place in found)
        ]
        if not uses:
            return []
        texts, server = self._texts, self._server
        hierarchy = ClassHierarchy(
            server,
            lambda path: blocks_of(texts, path),
            lambda path: path in texts and can_be_asked(server, path),
        )
        kin = await hierarchy.of(self._symbol.definitions, [found for _, found in uses])
        return [each for (each, _), related in zip(uses, kin, strict=True) if related]
