"""Questions about a name in a header, put in a source that has the name too.

A compiler's server reads a header by itself when it is asked about it: what stands before its
include in a source is not there, and uses in it may be nothing to the server. What it keeps of the
sources knows them. So a name in a header is looked for in the sources, and the question is put
there if the server says that it is the same.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sightline.contract.source import Expected, SourceFile
from sightline.contract.uris import path_in
from sightline.contract.values import Location
from sightline.lsp.asking import questions
from sightline.lsp.c.by_itself import has_errors, loses_types
from sightline.lsp.server.server import Server
from sightline.text.names import name_at

__all__ = ["Asked", "in_a_source", "note_of"]

#: Shorter names are too many symbols'.
_SHORTEST = 3
#: So many symbols of the name are asked about.
_MOST = 4
_ALONE = "This file does not compile by itself; uses in it may be missing."
_TYPES = "This file names types that it does not declare or include; uses in it may be missing."


class Asked(NamedTuple):
    """A question as it is to be put, and answers that are known from looking for its place."""

    question: Expected
    known: Mapping[Expected, Sequence[Location]] = {}


async def in_a_source(server: Server, question: Expected) -> Asked:
    """The question at a place in a source, if there is a sure one; else as it is."""
    file, position, include_declaration = question
    name = name_at(file.text, position)
    await server.ready()
    if server.compiles(file.path) or len(name) < _SHORTEST:
        return Asked(question)
    symbols = await questions.workspace_symbols(server, name)
    places = [symbol.location for symbol in symbols if symbol.name == name]
    for place in [each for each in places if server.compiles(path_in(each.uri))][:_MOST]:
        read = server.launch.read(path_in(place.uri))
        if read is None:
            continue
        start = place.range.start
        found = await questions.references(server, *read, start, include_declaration=True)
        if any(questions.covers(each, file.uri, position) for each in found):
            whole = Expected(read[0], start, True)
            return Asked(whole._replace(include_declaration=include_declaration), {whole: found})
    return Asked(question)


async def note_of(server: Server, file: SourceFile, language: str) -> str:
    """What is to be said of an answer that was given in a file."""
    if server.compiles(file.path):
        return ""
    said = await questions.document_diagnostics(server, file, language)
    if has_errors(said):
        return _ALONE
    return _TYPES if loses_types(said) else ""
