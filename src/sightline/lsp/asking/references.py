"""References as a caller means them: every use of a symbol, whichever server is asked.

A server's own answer is completed and cut to what was asked for:

- Python's servers take a name that an import gives (``import Cart as Basket``) for another symbol,
  so its uses are asked for, too; and names in ``__all__`` are uses, also of modules that have them
  by a star; see ``starred.py``.
- A Python source and the stub beside it declare one symbol; see ``stubs.py``.
- What the declaration is, servers see in different ways; see ``contract/declarations.py``.
- Of a name that the server knows nothing of that is said; see ``unknown_names.py``.
- Of a member it is said where its name stands on values of unknown type; see ``members.py``. Of a
  name of a module, too, where the value may be that module; see ``module_values.py``. Of a
  parameter it is said where a call of unknown meaning gives it; see ``named_parameters.py``.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import NamedTuple

from sightline.contract.declarations import without_declarations
from sightline.contract.orders import canonical, location_key
from sightline.contract.source import Expected, SourceFile
from sightline.contract.texts import listed
from sightline.contract.uris import path_in
from sightline.contract.values import Location, Position
from sightline.lsp.asking import module_values, named_fields, named_parameters, questions, starred
from sightline.lsp.asking.members import Members, Mentions, Place, is_global, is_member
from sightline.lsp.asking.module_values import Taken
from sightline.lsp.asking.named_fields import Named
from sightline.lsp.asking.named_parameters import Owner
from sightline.lsp.asking.spelled import Known
from sightline.lsp.asking.stubs import twins_at
from sightline.lsp.asking.unknown_names import NOTE, is_name, is_nameless, is_unknown
from sightline.lsp.python.names import PythonText
from sightline.lsp.server.server import Server
from sightline.lsp.together import both, together
from sightline.text.names import name_at

__all__ = ["Ask", "Found", "define", "find"]

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
    #: Whether the server knows nothing of the name that was asked about.
    unknown: bool = False
    #: What is known of it, with its declarations.
    known: Known = Known()
    #: Whether nothing was found because there is no symbol at the place.
    nameless: bool = False


async def find(
    server: Server, question: Expected, language: str, ask: Ask, members: Members | None = None
) -> Found:
    """The places of the symbol at a position, with its declaration if that is wanted.

    ``members`` are those of the project, where it is said of some that their uses are not known.
    """
    file, position, include_declaration = question
    if server.spec.declarations == "server":
        found = await ask(server, question)
        if found:
            return Found(found)
        unknown = is_name(language, file.text, position)
        if unknown:
            unknown = not await questions.definition(server, file, language, position)
        # What nobody uses has a declaration. Not every server can be asked where that is.
        whole = question._replace(include_declaration=True)
        nameless = include_declaration or not await ask(server, whole)
        return Found(found, unknown=unknown, nameless=nameless)
    name, texts = name_at(file.text, position, language), _Texts(server, file, members)

    looking = _declared(server, file, language, position, name, members, texts)
    places, declaration = await both(_listed(ask(server, question)), looking)
    definitions = declaration.places
    notes: list[str] = []
    if language == "python":
        before = len(definitions)
        more, note = await _of_twins(server, definitions, places, ask, members)
        notes.append(note)
        if declaration.of_members and members is not None and len(definitions) > before:
            named = await named_fields.search(members, name, definitions)
            declaration = declaration._replace(named=named)
        python = _Python(server, ask, texts)
        places, note = await python.complete(places + more)
        notes.append(note)
        places, note = await python.with_stars(name, members, places, definitions)
        notes.append(note)
    if members is not None and name:
        notes += await _of_others(server, members, language, name, declaration, places)
    unknown = is_unknown(language, file.text, position, definitions, texts.of)
    known = Known(definitions, places, declaration.of_members)
    nameless = not places and is_nameless(language, file.text, position, definitions, texts.of)
    if not include_declaration:
        places = without_declarations(places, definitions, language, texts.of)
    return Found(places, " ".join(filter(None, notes)), unknown, known, nameless)


class _Declared(NamedTuple):
    """Where a symbol is declared, and what that leads to."""

    places: list[Location]
    of_members: bool = False
    mentions: Mentions | None = None
    taken: Sequence[Taken] | None = ()
    #: Those that it is a parameter of, and where it is given.
    functions: Sequence[Owner] = ()
    given: Sequence[Place] = ()
    #: Where it may be given as a field.
    named: Named = Named()


async def _declared(
    server: Server,
    file: SourceFile,
    language: str,
    position: Position,
    name: str,
    members: Members | None,
    texts: "_Texts",
) -> _Declared:
    """Where a symbol is declared, and where else its name stands: what can be looked for while the
    server works.
    """
    places = list(await questions.definition(server, file, language, position))
    if members is None or not name:
        return _Declared(places)
    functions = named_parameters.owners(places, texts.of) if language == "python" else ()
    if functions:
        given = await named_parameters.search(members, name, functions)
        return _Declared(places, functions=functions, given=given)
    if _are_members(places, language, texts):
        mentions = await members.search(name, language)
        if language != "python":
            return _Declared(places, True, mentions)
        named = await named_fields.search(members, name, places)
        return _Declared(places, True, mentions, named=named)
    if _is_of_module(places, language, texts):
        taken = await module_values.search(members, name, places)
        return _Declared(places, taken=taken)
    return _Declared(places)


async def _of_others(
    server: Server,
    members: Members,
    language: str,
    name: str,
    declared: _Declared,
    places: Sequence[Location],
) -> list[str]:
    """What is to be said of places of a name that the server does not count."""
    definitions, taken = declared.places, declared.taken
    if declared.functions:
        return [await named_parameters.note(members, server, name, declared.given, places)]
    if declared.of_members:
        told = members.note(server, language, name, declared.mentions, places, definitions)
        notes = [await told]
        notes.append(await named_fields.note(members, server, name, declared.named, places))
        return notes
    if taken is None or taken:
        return [await module_values.note(members, server, name, taken, places, definitions)]
    return []


async def define(server: Server, file: SourceFile, language: str, position: Position) -> Found:
    """Where the symbol at a position is defined, and whether the server knows it at all."""
    found = await questions.definition(server, file, language, position)
    unknown = is_unknown(language, file.text, position, found, _Texts(server, file).of)
    # One that tells nothing else, as of keys of YAML, knows symbols that it has no definition of.
    nameless = not (found or unknown or "references" in server.spec.not_offered)
    return Found(found, NOTE if unknown else "", unknown, nameless=nameless)


async def _listed(found: Awaitable[Sequence[Location]]) -> list[Location]:
    return list(await found)


async def _of_twins(
    server: Server,
    definitions: list[Location],
    known: Sequence[Location],
    ask: Ask,
    members: Members | None,
) -> tuple[list[Location], str]:
    """The places of the same symbol in a stub, or in the source of one; both are definitions. And
    what is to be said of stubs that were not followed.
    """
    found: list[Location] = []
    left_out = 0
    starts = {(place.uri, place.range.start) for place in known}
    texts = members.texts if members is not None else None
    for place in {each.uri: each for each in reversed(definitions)}.values():
        twins = await twins_at(server, place, texts)
        left_out += twins.left_out
        for file, there in twins.places:
            if (file.uri, there.start) not in starts:
                found += await ask(server, Expected(file, there.start, True))
            definitions.append(Location(file.uri, there))
    return found, _of_stubs(left_out)


def _of_stubs(left_out: int) -> str:
    if not left_out:
        return ""
    stubs = "1 more stub" if left_out == 1 else f"{left_out:,} more stubs"
    return f"{stubs} may declare it; uses of what is declared there are not counted."


def _are_members(places: Iterable[Location], language: str, texts: "_Texts") -> bool:
    return any(
        is_member(language, texts.of(place.uri) or "", place.range.start) for place in places
    )


def _is_of_module(places: Sequence[Location], language: str, texts: "_Texts") -> bool:
    """Whether a name belongs to a module of Python, from which others can take it."""
    return language == "python" and any(
        is_global(texts.of(place.uri) or "", place.range.start) for place in places
    )


class _Texts:
    """Texts of documents as they are on disk, each read once. One was read by who asks."""

    def __init__(self, server: Server, file: SourceFile, members: Members | None = None) -> None:
        self._read = server.launch.read
        #: What may have been read to look for members.
        self._members = members
        self._known: dict[str, str | None] = {file.path: file.text}

    def of(self, uri: str) -> str | None:
        """The text of one of the server's own documents in the workspace."""
        path = path_in(uri)
        if path not in self._known:
            text = self._members.text(path) if self._members is not None else None
            if text is None:
                read = self._read(path)
                text = read[0].text if read is not None else None
            self._known[path] = text
        return self._known[path]


class _Python:
    def __init__(self, server: Server, ask: Ask, texts: _Texts) -> None:
        self._server = server
        self._ask = ask
        self._on_disk = texts
        self._texts: dict[str, PythonText | None] = {}
        #: The other names that imports give the symbol.
        self.aliases: dict[Location, str] = {}

    async def complete(self, found: Sequence[Location]) -> tuple[list[Location], str]:
        """With the uses of other names for the symbol, and with its names in ``__all__``."""
        places = list(dict.fromkeys(found))
        aliases = self.aliases
        new, note = places, ""
        while new:
            await self._read(new)
            given = {alias: name for alias, name in self._aliases(new) if alias not in aliases}
            aliases.update(given)
            if len(aliases) > _MOST_ALIASES:
                note = _not_followed(given)
                break
            answers = await together(*map(self._uses_of, canonical(given, location_key)))
            known = set(places)
            new = [place for answer in answers for place in answer if place not in known]
            places += dict.fromkeys(new)
        places += self._exports(places, aliases)
        return places, note

    async def with_stars(
        self,
        name: str,
        members: Members | None,
        places: list[Location],
        definitions: Sequence[Location],
    ) -> tuple[list[Location], str]:
        """With its names in ``__all__`` of modules that have them by a star."""
        if members is None or not _is_of_module(definitions, "python", self._on_disk):
            return places, ""
        names, known = {name, *self.aliases.values()} - {""}, [*places, *self.aliases]
        found = await starred.exports(members, self._server, names, known)
        return [*places, *found.places], found.note

    async def _uses_of(self, alias: Location) -> Sequence[Location]:
        read = self._server.launch.read(path_in(alias.uri))
        if read is None:
            return ()
        return await self._ask(self._server, Expected(read[0], alias.range.start, True))

    async def _read(self, places: Iterable[Location]) -> None:
        for number, uri in enumerate({place.uri for place in places} - self._texts.keys()):
            text = self._on_disk.of(uri)
            self._texts[uri] = PythonText(text) if text is not None else None
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
