"""References as a caller means them: every use of a symbol, whichever server is asked.

A server's own answer is completed and cut to what was asked for:

- Python's servers take a name that an import gives (``import Cart as Basket``) for another symbol,
  so its uses are asked for, too; and names in ``__all__`` are uses.
- What the declaration is, servers see in different ways; see ``contract/declarations.py``.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import NamedTuple

from sightline.contract.declarations import without_declarations
from sightline.contract.orders import canonical, location_key
from sightline.contract.source import Expected
from sightline.contract.texts import listed
from sightline.contract.uris import path_in
from sightline.contract.values import Location
from sightline.lsp import questions
from sightline.lsp.python_names import PythonText
from sightline.lsp.server import Server
from sightline.lsp.together import together

__all__ = ["Ask", "Found", "find"]

Ask = Callable[[Server, Expected], Awaitable[Sequence[Location]]]

#: So many imports under another name are followed. Each is a search of its own; ``gettext as _``
#: is in hundreds of files.
_MOST_ALIASES = 8
#: So many files are read before others have a turn.
_AT_ONCE = 32
#: So many places of a file are looked at to see whether they bind a name.
_MOST_BINDINGS = 64
#: So many names are listed in a sentence.
_NAMED = 4


class Found(NamedTuple):
    places: Sequence[Location]
    #: What is to be said of places that were not looked for.
    note: str = ""


async def find(server: Server, question: Expected, language: str, ask: Ask) -> Found:
    """The places of the symbol at a position, with its declaration if that is wanted."""
    file, position, include_declaration = question
    if include_declaration or server.spec.declarations == "server":
        return await _complete(server, question, language, ask)

    async def named() -> Found:
        return Found(await questions.definition(server, file, language, position))

    found, definitions = await together(_complete(server, question, language, ask), named())
    texts = _Texts(server)
    uses = without_declarations(found.places, definitions.places, language, texts.of)
    return Found(uses, found.note)


async def _complete(server: Server, question: Expected, language: str, ask: Ask) -> Found:
    found = await ask(server, question)
    if language != "python" or not found:
        return Found(found)
    python = _Python(server, ask)
    return await python.complete(found)


class _Texts:
    """Texts of documents as they are on disk, each read once."""

    def __init__(self, server: Server) -> None:
        self._read = server.launch.read
        self._known: dict[str, str | None] = {}

    def of(self, uri: str) -> str | None:
        """The text of one of the server's own documents in the workspace."""
        path = path_in(uri)
        if path not in self._known:
            read = self._read(path)
            self._known[path] = read[0].text if read is not None else None
        return self._known[path]


class _Python:
    def __init__(self, server: Server, ask: Ask) -> None:
        self._server = server
        self._ask = ask
        self._texts: dict[str, PythonText | None] = {}

    async def complete(self, found: Sequence[Location]) -> Found:
        """With the uses of other names for the symbol, and with its names in ``__all__``."""
        places = list(found)
        aliases: dict[Location, str] = {}
        new, note = places, ""
        while new:
            await self._read(new)
            given = {alias: name for alias, name in self._aliases(new) if alias not in aliases}
            aliases |= given
            if len(aliases) > _MOST_ALIASES:
                note = _not_followed(given)
                break
            answers = await together(*map(self._uses_of, canonical(given, location_key)))
            known = set(places)
            new = [place for answer in answers for place in answer if place not in known]
            places += dict.fromkeys(new)
        places += self._exports(places, aliases)
        return Found(places, note)

    async def _uses_of(self, alias: Location) -> Sequence[Location]:
        read = self._server.launch.read(path_in(alias.uri))
        if read is None:
            return ()
        return await self._ask(self._server, Expected(read[0], alias.range.start, True))

    async def _read(self, places: Iterable[Location]) -> None:
        for number, uri in enumerate({place.uri for place in places} - self._texts.keys()):
            read = self._server.launch.read(path_in(uri))
            self._texts[uri] = PythonText(read[0].text) if read is not None else None
            if number % _AT_ONCE == _AT_ONCE - 1:
                await asyncio.sleep(0)

    def _aliases(self, places: Iterable[Location]) -> Iterable[tuple[Location, str]]:
        for place in places:
            text = self._texts[place.uri]
            alias = text.alias_after(place.range) if text is not None else None
            if text is not None and alias is not None:
                yield Location(place.uri, alias), text.at(alias)

    def _exports(
        self, places: Sequence[Location], aliases: Iterable[Location]
    ) -> Iterable[Location]:
        """The names in ``__all__`` of the modules that bind the symbol."""
        known = {(place.uri, place.range.start) for place in places}
        by_file: dict[str, list[Location]] = {}
        for place in [*places, *aliases]:
            by_file.setdefault(place.uri, []).append(place)
        for uri, there in by_file.items():
            text = self._texts.get(uri)
            if text is None or not text.has_exports:
                continue
            bound = {
                text.at(place.range)
                for place in there[:_MOST_BINDINGS]
                if text.binds_in_module(place.range)
            }
            for export in (each for name in sorted(bound) for each in text.exports(name)):
                if (uri, export.start) not in known:
                    yield Location(uri, export)


def _not_followed(aliases: dict[Location, str]) -> str:
    names = listed(sorted(set(aliases.values())), _NAMED)
    count = len({alias.uri for alias in aliases})
    files = "1 file" if count == 1 else f"{count:,} files"
    return f"It is imported under other names ({names}) in {files}; uses of those are not counted."
