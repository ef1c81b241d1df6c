"""References as a caller means them: every use of a symbol, whichever server is asked.

The server's own answer is completed (``engine``), Python's other names of the symbol are followed
(``python_names``), and the declarations are left out unless they are wanted. What the declaration
is, servers see in different ways; see ``contract/declarations.py``.
"""

import re
from collections.abc import Awaitable, Sequence
from typing import NamedTuple

from sightline.contract.declarations import without_declarations
from sightline.contract.source import Expected, SourceFile
from sightline.contract.texts import column_of, line_text
from sightline.contract.unaccounted import Unaccounted, merged
from sightline.contract.uris import path_in
from sightline.contract.values import Location, Position, Range
from sightline.lsp.asking import questions
from sightline.lsp.asking.unknown_names import NOTE, is_name, is_nameless, is_unknown
from sightline.lsp.server.server import Server
from sightline.lsp.together import both
from sightline.lsp.unaccounted.engine import are_imports, as_import, complete, stand_in
from sightline.lsp.unaccounted.python_names import Ask, with_other_names
from sightline.lsp.unaccounted.twins import with_twins
from sightline.text.names import name_at
from sightline.text.sources import SourceTexts, word

__all__ = ["Ask", "Found", "define", "find"]


class Found(NamedTuple):
    places: Sequence[Location]
    unaccounted: tuple[Unaccounted, ...] = ()
    #: Whether the server knows nothing of the name that was asked about.
    unknown: bool = False
    #: Whether nothing was found because there is no symbol at the place.
    nameless: bool = False
    definitions: Sequence[Location] = ()
    note: str = ""


async def find(
    server: Server, question: Expected, language: str, ask: Ask, texts: SourceTexts | None = None
) -> Found:
    """The places of the symbol at a position, with its declaration if that is wanted.

    ``texts`` are the sources of the project, where other occurrences of the name are looked for.
    """
    file, position, include_declaration = question
    if server.spec.declarations == "server":
        return await _as_reported(server, question, language, ask)
    name, known = name_at(file.text, position, language), _Texts(server, file, texts)
    position = stand_in(language, known.encoded(file.uri), name, position)
    question = question._replace(position=position)
    asked = _listed(ask(server, question))
    defined = questions.definition(server, file, language, position)
    places, definitions = await both(asked, defined)
    if language == "python":
        definitions = [_at_name(place, name, known.of(place.uri)) for place in definitions]
    unaccounted: tuple[Unaccounted, ...] = ()
    if texts is not None and not definitions:
        definitions = as_import(language, file, known.encoded(file.uri), name, position)
    if texts is not None and language == "python":
        definitions, of_twins = await _of_twins(server, texts, name, definitions, known, ask)
        places = list(dict.fromkeys([*places, *of_twins]))
    # What a keyword such as ``return`` leads to is not called like it.
    nameless = is_nameless(language, file.text, position, definitions, known.of)
    if texts is not None and not nameless:
        completed = await complete(
            server, texts, language, name, definitions, places, known.encoded, file.path
        )
        places, unaccounted = list(completed.places), completed.unaccounted
        if language == "python":
            more = await with_other_names(server, texts, name, places, definitions, ask)
            places, unaccounted = more.places, merged([*unaccounted, *more.unaccounted])
    unknown = not (places or definitions) and is_name(language, file.text, position)
    nameless = nameless and not places
    if are_imports(language, definitions, known.encoded):
        places = [*places, *(place for place in definitions if place not in set(places))]
    elif include_declaration and texts is not None:
        declared = (place for place in definitions if place.range.start != place.range.end)
        own = [place for place in declared if path_in(place.uri) in texts]
        places = list(dict.fromkeys([*places, *own]))
    elif not include_declaration:
        places = without_declarations(places, definitions, language, known.of)
    return Found(places, unaccounted, unknown, nameless, definitions)


async def _of_twins(
    server: Server,
    texts: SourceTexts,
    name: str,
    definitions: Sequence[Location],
    known: "_Texts",
    ask: Ask,
) -> tuple[Sequence[Location], list[Location]]:
    """The definitions with those in stubs, or in sources of stubs, and the uses of these."""
    await texts.find(word(name))  # reads what changed
    found, more = await with_twins(server, texts, definitions, known.encoded), list[Location]()
    for place in found[len(definitions) :]:
        read = server.launch.read(path_in(place.uri))
        if read is not None and place.range.start != place.range.end:
            more += await ask(server, Expected(read[0], place.range.start, True))
    return found, more


async def define(server: Server, file: SourceFile, language: str, position: Position) -> Found:
    """Where the symbol at a position is defined, and whether the server knows it at all."""
    name, known = name_at(file.text, position, language), _Texts(server, file)
    position = stand_in(language, known.encoded(file.uri), name, position)
    found = await questions.definition(server, file, language, position)
    text_of = known.of
    if language == "python":
        found = [_at_name(place, name, text_of(place.uri)) for place in found]
    unknown = is_unknown(language, file.text, position, found, text_of)
    # Some servers know symbols that they have no definition of, such as keys of YAML.
    nameless = not (found or unknown or "references" in server.spec.not_offered)
    return Found(found, (), unknown, nameless, note=NOTE if unknown else "")


async def _as_reported(server: Server, question: Expected, language: str, ask: Ask) -> Found:
    """The answer of a server that tells declarations apart by itself."""
    file, position, include_declaration = question
    found = await ask(server, question)
    if found:
        return Found(found)
    unknown = is_name(language, file.text, position)
    if unknown:
        unknown = not await questions.definition(server, file, language, position)
    # An unused symbol has a declaration. Not every server can be asked where that is.
    whole = question._replace(include_declaration=True)
    nameless = include_declaration or not await ask(server, whole)
    return Found(found, unknown=unknown, nameless=nameless)


def _at_name(place: Location, name: str, text: str | None) -> Location:
    """The place of a definition without what stands before the name: ty's ranges of attributes
    begin at ``self``.
    """
    start, end = place.range.start, place.range.end
    if text is None or start.line != end.line or start == end:
        return place
    line = line_text(text, start.line) or ""
    stated = line[column_of(line, start.character) : column_of(line, end.character)]
    owner = re.fullmatch(r"[\w.\[\]()]*\.\s*", stated[: len(stated) - len(name)])
    if owner is None or not stated.endswith(name):
        return place
    length = end.character - len(name.encode("utf-16-le")) // 2
    return Location(place.uri, Range(Position(start.line, length), end))


async def _listed(found: Awaitable[Sequence[Location]]) -> list[Location]:
    return list(await found)


class _Texts:
    """Texts of documents as they are on disk, each read once; one was read by the caller."""

    def __init__(
        self, server: Server, file: SourceFile, sources: SourceTexts | None = None
    ) -> None:
        self._read = server.launch.read
        self._sources = sources
        self._known: dict[str, str | None] = {file.path: file.text}

    def of(self, uri: str) -> str | None:
        """The text of one of the server's own documents in the workspace."""
        path = path_in(uri)
        if path not in self._known:
            data = self._sources.current(path) if self._sources is not None else None
            text = data.decode("utf-8", "replace") if data is not None else None
            if text is None:
                read = self._read(path)
                text = read[0].text if read is not None else None
            self._known[path] = text
        return self._known[path]

    def encoded(self, uri: str) -> bytes:
        """The same with one way to end a line; empty if the document cannot be read."""
        text = self.of(uri) or ""
        return text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "surrogatepass")
