"""Resolves the candidates of a symbol by what the server says of each: added, dropped or left."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from sightline.contract.texts import line_length_utf16
from sightline.contract.unaccounted import Reason, Unaccounted, merged
from sightline.contract.uris import path_in, uri_of
from sightline.contract.values import Location, Position, Range
from sightline.lsp.asking import questions
from sightline.lsp.server.server import Server
from sightline.lsp.unaccounted.candidates import Candidates
from sightline.lsp.unaccounted.class_hierarchy import ClassHierarchy, blocks_of
from sightline.lsp.unaccounted.python import PythonRules
from sightline.lsp.unaccounted.rules import Rules, is_after_dot
from sightline.lsp.unaccounted.symbols import Key, Occurrence, Symbol, key_of
from sightline.text.scopes import Scope, is_prose
from sightline.text.sources import SourceTexts, position_of

__all__ = ["MOST_ASKED", "Completed", "Resolving"]

#: So many occurrences are resolved for one question, so many of them at a time.
MOST_ASKED, _AT_ONCE = 200, 50


class Completed(NamedTuple):
    #: The places that the server reported, and those that were added.
    places: Sequence[Location]
    unaccounted: tuple[Unaccounted, ...] = ()


def can_be_asked(server: Server, path: str) -> bool:
    """Whether a server may be asked about a file that no question has opened.

    Some servers end when it is a script that only its first line tells and they were not shown.
    """
    return path in server.scripts or server.launch.project().speaks(path.rpartition("/")[2])


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


class Resolving:
    def __init__(
        self, server: Server, rules: Rules, texts: SourceTexts, symbol: Symbol, grammar: str
    ) -> None:
        self._server = server
        self._grammar = grammar
        self._rules = rules
        self._texts = texts
        self._symbol = symbol
        self._units = line_length_utf16(symbol.name)

    async def resolve(self, candidates: Candidates) -> Completed:
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
