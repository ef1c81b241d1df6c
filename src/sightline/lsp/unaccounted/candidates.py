"""The occurrences of a name that have to be resolved: those that can be uses of the symbol.

Decided from the texts alone, in a thread. Occurrences that an import says are the same stand in one
group, of which the server is asked once.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from sightline.contract.texts import line_length_utf16
from sightline.contract.uris import path_in
from sightline.contract.values import Location, Position
from sightline.lsp.unaccounted.rules import Rules, is_before
from sightline.lsp.unaccounted.symbols import Occurrence, Symbol, key_of, names_module
from sightline.text.scopes import Declared, Scope, path_of, scope_at
from sightline.text.sources import Hits, SourceTexts, offset_of

__all__ = ["Candidates", "Question", "TextOf"]

#: In more places of a name it is not told which are code.
_MOST_READ = 20_000
TextOf = Callable[[str], bytes]


class Candidates(NamedTuple):
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


class Question:
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

    def candidates(self, hits: Hits) -> Candidates:
        symbol = self._symbol()
        if symbol is None:
            return Candidates(Symbol(self._name, self._definitions, frozenset()))
        if symbol.scope is Scope.PARAMETER and self._grammar == "python":
            hits = {path: self._given(path, starts) for path, starts in hits.items()}
        unread = sum(map(len, hits.values()))
        if unread > _MOST_READ:
            return Candidates(symbol, unread=max(0, unread - len(self._places)))
        groups: dict[object, list[Occurrence]] = {}
        sure = list[Occurrence]()
        for each, is_sure in self._occurrences(symbol, hits):
            if is_sure:
                sure.append(each)
            else:
                groups.setdefault(self._meaning(each), []).append(each)
        # The occurrence that was asked about is never beyond the budget.
        first = sorted(groups.values(), key=lambda group: group[0].path != self._asked)
        return Candidates(symbol, first, sure=sure)

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
