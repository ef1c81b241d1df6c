"""The other names of a Python symbol: those that imports give it, and those in ``__all__``.

    from shop.cart import Cart as Basket, total
    __all__ = ["Basket", "total"]

To servers ``Basket`` is a symbol of its own, and strings in ``__all__`` are none. A star import
passes names on, so a string in ``__all__`` may name what the module has from a star alone. Stars
are followed by what the server says of their modules, at most ``_MOST_STARS`` of them for a
question; a string that is then still open is unaccounted for.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from enum import Enum
from typing import NamedTuple

from sightline.contract.orders import canonical, location_key
from sightline.contract.possessive import possessive
from sightline.contract.source import Expected
from sightline.contract.texts import line_length_utf16
from sightline.contract.unaccounted import Reason, Unaccounted
from sightline.contract.uris import path_in, uri_of
from sightline.contract.values import Location, Position, Range
from sightline.lsp.asking import questions
from sightline.lsp.python.names import PythonText
from sightline.lsp.server.server import Server
from sightline.lsp.together import together
from sightline.lsp.unaccounted.python_imports import is_module
from sightline.text.sources import SourceTexts, position_of, word

__all__ = ["Ask", "OtherNames", "with_other_names"]

Ask = Callable[[Server, Expected], Awaitable[Sequence[Location]]]

#: So many aliases are followed: each is a search of its own. ``gettext as _`` is in hundreds of
#: files.
_MOST_ALIASES = 8
_MOST_STARS = 48
#: So many places of a file are looked at to see whether they bind a name.
_MOST_BINDINGS = 64
_STAR = re.compile(
    possessive(rb"^[ \t]*+from\b[ \t]*+(\.*+(?:(?!import\b)\w[\w.]*+)?+)[ \t]*+import[ \t]*+\*"),
    re.MULTILINE,
)


class OtherNames(NamedTuple):
    places: list[Location]
    unaccounted: Sequence[Unaccounted] = ()


async def with_other_names(
    server: Server,
    texts: SourceTexts,
    name: str,
    places: Sequence[Location],
    definitions: Sequence[Location],
    ask: Ask,
) -> OtherNames:
    """The places, with the uses of other names of the symbol and its names in ``__all__``."""
    names = _Names(server, texts, ask)
    return await names.complete(name, places, definitions)


class _Names:
    def __init__(self, server: Server, texts: SourceTexts, ask: Ask) -> None:
        self._server = server
        self._texts = texts
        self._ask = ask
        self._read: dict[str, PythonText] = {}

    async def complete(
        self, name: str, found: Sequence[Location], definitions: Sequence[Location]
    ) -> OtherNames:
        places = list(dict.fromkeys(found))
        aliases: dict[Location, str] = {}
        left: list[Unaccounted] = []
        new: Sequence[Location] = places
        while new:
            given = {alias: name for alias, name in self._aliases(new) if alias not in aliases}
            aliases.update(given)
            if len(aliases) > _MOST_ALIASES:
                where = tuple((path_in(each.uri), each.range.start.line) for each in given)
                left.append(Unaccounted(Reason.OVER_BUDGET, len(given), where))
                break
            answers = await together(*map(self._uses_of, canonical(given, location_key)))
            known = set(places)
            new = [place for answer in answers for place in answer if place not in known]
            places += dict.fromkeys(new)
        declared = [place for place in definitions if path_in(place.uri) in self._texts]
        bound = {path_in(place.uri) for place in [*places, *aliases, *declared]}
        places += self._exports([*places, *declared], aliases)
        stars = _Stars(self._server, self._texts, self._text, {name, *aliases.values()}, bound)
        starred = await stars.exports(places)
        return OtherNames([*places, *starred.places], [*left, *starred.unaccounted])

    def _text(self, path: str) -> PythonText:
        if path not in self._read:
            text = self._texts.text(path).decode("utf-8", "replace")
            self._read[path] = PythonText(text)
        return self._read[path]

    async def _uses_of(self, alias: Location) -> Sequence[Location]:
        read = self._server.launch.read(path_in(alias.uri))
        if read is None:
            return ()
        return await self._ask(self._server, Expected(read[0], alias.range.start, True))

    def _aliases(self, places: Iterable[Location]) -> Iterable[tuple[Location, str]]:
        for place in places:
            text = self._text(path_in(place.uri))
            alias = text.alias_after(place.range)
            if alias is not None:
                yield Location(place.uri, alias), text.at(alias)

    def _exports(
        self, places: Sequence[Location], aliases: Iterable[Location]
    ) -> Iterable[Location]:
        """The names in ``__all__`` of the modules that bind the symbol themselves."""
        known = {(place.uri, place.range.start) for place in places}
        by_file: dict[str, list[Location]] = {}
        for place in [*places, *aliases]:
            by_file.setdefault(place.uri, []).append(place)
        for uri, there in by_file.items():
            text = self._text(path_in(uri))
            if not text.has_exports:
                continue
            bound = {
                text.at(place.range)
                for place in there[:_MOST_BINDINGS]
                if text.binds_in_module(place.range)
            }
            for export in (each for name in sorted(bound) for each in text.exports(name)):
                if (uri, export.start) not in known:
                    yield Location(uri, export)


class _Gift(Enum):
    """What the stars of a module give it under a name."""

    SYMBOL = "symbol"
    #: Another symbol of the name.
    OTHER = "other"
    NOTHING = "nothing"
    #: One of them leads nowhere, or there are too many.
    OPEN = "open"


class _Stars:
    """Modules that have a name from one another by a star."""

    def __init__(
        self,
        server: Server,
        texts: SourceTexts,
        read: Callable[[str], PythonText],
        names: Collection[str],
        bound: Collection[str],
    ) -> None:
        self._server = server
        self._texts = texts
        self._read = read
        self._names = sorted(names)
        #: The files that have the symbol themselves.
        self._bound = bound
        self._left = _MOST_STARS

    async def exports(self, places: Iterable[Location]) -> OtherNames:
        known = {(path_in(place.uri), place.range.start) for place in places}
        found, left = list[Location](), list[Unaccounted]()
        for name in self._names:
            hits = await self._texts.find(word(name)) or {}
            for path in sorted(hits):
                if path in self._bound or not self._texts.made(path, _has_both):
                    continue
                strings = [
                    each
                    for each in self._read(path).exports(name)
                    if (path, each.start) not in known
                ]
                if not strings or self._binds(path, name):
                    continue
                gift = await self._given(path, name, {path})
                if gift is _Gift.SYMBOL:
                    found += (Location(uri_of(path), each) for each in strings)
                elif gift is _Gift.OPEN:
                    lines = tuple((path, each.start.line) for each in strings)
                    left.append(Unaccounted(Reason.UNRESOLVED_IMPORT, len(strings), lines))
        return OtherNames(found, left)

    async def _given(self, path: str, name: str, seen: set[str]) -> _Gift:
        """What the last star of a file gives it that gives it the name."""
        open_ = False
        text = self._texts.text(path)
        asked = [
            (path, self._texts.position(path, star.end(1) - len(_last(star[1]))))
            for star in _STAR.finditer(text)
            if _last(star[1])
        ]
        own = [self._package(path, star[1]) for star in _STAR.finditer(text) if not _last(star[1])]
        self._left -= len(asked)
        if self._left < 0:
            return _Gift.OPEN
        told = await questions.definitions_unopened(self._server, asked) if asked else []
        files = [[path_in(each.uri) for each in found] for found in told] + [[each] for each in own]
        for led in reversed(files):
            open_ = open_ or not led
            for each in led:
                for file in (each, each[:-1] if each.endswith("i") else f"{each}i"):
                    if file in seen or file not in self._texts:
                        continue
                    gift = await self._of(file, name, seen)
                    if gift in (_Gift.SYMBOL, _Gift.OTHER):
                        return gift
                    open_ = open_ or gift is _Gift.OPEN
        return _Gift.OPEN if open_ else _Gift.NOTHING

    async def _of(self, path: str, name: str, seen: set[str]) -> _Gift:
        """What a star of a module gives under a name."""
        text = self._read(path)
        if text.has_exports:
            if text.exports_only_texts and not text.exports(name):
                return _Gift.NOTHING
        elif name.startswith("_"):
            return _Gift.NOTHING
        if path in self._bound:
            return _Gift.SYMBOL
        if self._binds(path, name):
            return _Gift.OTHER
        return await self._given(path, name, seen | {path})

    def _binds(self, path: str, name: str) -> bool:
        """Whether a module binds a name itself, which then is that of another symbol."""
        text, units, data = self._read(path), line_length_utf16(name), self._texts.text(path)
        starts = word(name).starts(data)[:_MOST_BINDINGS]
        places = (position_of(data, start) for start in starts if not is_module(data, start))
        return any(
            text.binds_in_module(Range(at, Position(at.line, at.character + units)))
            for at in places
        )

    def _package(self, path: str, dots: bytes) -> str:
        """The file of the package that so many dots name."""
        return "/".join([*path.split("/")[: -len(dots)], "__init__.py"])


def _last(module: bytes) -> bytes:
    return module.rpartition(b".")[2]


def _has_both(texts: SourceTexts, path: str) -> bool:
    """Whether a file has both a star and ``__all__``."""
    text = texts.text(path)
    return b"__all__" in text and _STAR.search(text) is not None
