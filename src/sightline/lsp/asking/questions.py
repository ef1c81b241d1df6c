"""The questions one server can be asked, whatever its dialect, and the reading of its answers.

An answer as long as a silent limit inside the server may have been cut there, so it is refused. A
text that shows that the project was not loaded yet is not an answer.
"""

import re
from collections.abc import Coroutine, Sequence
from typing import Any

from sightline.contract.failures import NotReady, TooMany, Unavailable
from sightline.contract.source import RawDiagnostic, RawSymbol, RawWorkspaceSymbol, SourceFile
from sightline.contract.texts import line_text
from sightline.contract.uris import path_in, uri_of
from sightline.contract.values import Hover, Location, Position, Range
from sightline.lsp.asking import answers, tsserver
from sightline.lsp.c.preprocessor import KEYWORDS
from sightline.lsp.registry import Operation
from sightline.lsp.server.server import Server
from sightline.lsp.together import both, together
from sightline.lsp.typescript.held_open import names_only
from sightline.lsp.wire import messages
from sightline.text.names import name_at

__all__ = [
    "covers",
    "definition",
    "definitions_unopened",
    "document_diagnostics",
    "document_symbols",
    "hover",
    "references",
    "symbols_at",
    "workspace_report",
    "workspace_symbols",
]


async def definition(
    server: Server, file: SourceFile, language: str, position: Position
) -> Sequence[Location]:
    if server.spec.dialect == "clangd":
        return await _clangd_definition(server, file, language, position)
    kept = server.definitions
    known = kept.known(file, position) if kept is not None else None
    if known is not None:
        return known
    changes = kept.changes if kept is not None else 0
    found = await _definition(server, file, language, position)
    if not found and server.spec.doubts_nothing:
        # ty writes a file to point to what is in its standard library. Of those who need the same
        # one at the same time some are told of nothing.
        found = await _definition(server, file, language, position)
    if kept is not None:
        kept.keep(file, position, found, changes)
    return found


async def _definition_unopened(server: Server, uri: str, position: Position) -> Sequence[Location]:
    """The same of a server that reads documents from disk, whether it has them open or not."""
    kept = server.definitions
    known = kept.known_unopened(uri, position) if kept is not None else None
    if known is not None:
        return known
    changes = kept.changes if kept is not None else 0
    place = {"line": position.line, "character": position.character}
    params = {"textDocument": {"uri": uri}, "position": place}
    result = await server.ask(
        "textDocument/definition", params, messages.DefinitionResult, wide=False
    )
    found = answers.locations(server.name, result)
    if kept is not None:
        kept.keep_unopened(uri, position, found, changes)
    return found


async def definitions_unopened(
    server: Server, places: Sequence[tuple[str, Position]]
) -> list[Sequence[Location]]:
    """The same of many places, each a path and a position, asked about side by side.

    Where nothing may mean busy, those that the server told nothing of are asked about again, one
    after the other: for what is in its standard library ty writes a file that it can point to, and
    where several questions need the same one at the same time it answers some of them with nothing.
    """

    def ask(path: str, place: Position) -> Coroutine[Any, Any, Sequence[Location]]:
        return _definition_unopened(server, uri_of(path), place)

    told = await together(*(ask(*place) for place in places))
    for _ in range(2 if server.spec.doubts_nothing else 0):
        told = [found or await ask(*at) for found, at in zip(told, places, strict=True)]
    return told


async def _definition(
    server: Server, file: SourceFile, language: str, position: Position
) -> Sequence[Location]:
    params, method = _at(file, position), "textDocument/definition"
    result = await server.ask_about(file, language, method, params, messages.DefinitionResult)
    return answers.locations(server.name, result)


async def _clangd_definition(
    server: Server, file: SourceFile, language: str, position: Position
) -> Sequence[Location]:
    """On a definition clangd jumps to the declaration instead; what was asked for is here.

    Whether it is one is asked beside, which takes less time than to ask after the answer. Of a name
    that is nothing to it, in a comment or under an ``#if`` that does not hold, it names something
    that is called so, if its index has that by then: a guess, and not the same every time.
    """
    question = server, file, language, position
    found, symbols = await both(_definition(*question), symbols_at(*question))
    if not symbols and _is_guessed(file, position):
        return []
    if any(covers(place, file.uri, position) for place in found):
        return found
    places = [symbol.definitionRange for symbol in symbols]
    return [place for place in places if place and covers(place, file.uri, position)] or found


def _is_guessed(file: SourceFile, position: Position) -> bool:
    """Whether a compiler would know what stands here, if it were in code that it has read."""
    name = name_at(file.text, position)
    if not name or name in KEYWORDS or name in _LEADS_ON:
        return False
    return not re.match(_INCLUDES, line_text(file.text, position.line) or "")


#: What clangd calls a macro: a string.
_MACRO = 15
#: Words that lead to what they stand for, and are no keywords elsewhere.
_LEADS_ON = ("final", "override")
_INCLUDES = r"[ \t]*#[ \t]*(?:include|import)"


async def symbols_at(
    server: Server, file: SourceFile, language: str, position: Position
) -> Sequence[messages.SymbolDetails]:
    """What clangd knows by name at a position."""
    params = _at(file, position)
    method, result = "textDocument/symbolInfo", messages.SymbolDetailsResult
    return await server.ask_about(file, language, method, params, result) or ()


async def references(
    server: Server,
    file: SourceFile,
    language: str,
    position: Position,
    *,
    include_declaration: bool,
) -> Sequence[Location]:
    """Where the server leaves out more than declarations, they are in the answer: see ``find``."""
    whole = include_declaration or server.spec.declarations == "definition"
    params = {**_at(file, position), "context": {"includeDeclaration": whole}}
    result = await server.ask_about(
        file, language, "textDocument/references", params, messages.ReferencesResult, wide=True
    )
    found = _uncut(server, "references", result or [])
    if server.spec.opens == "tsconfig":
        return [place for place in found if not names_only(place.uri)]
    return found


async def hover(
    server: Server, file: SourceFile, language: str, position: Position
) -> Hover | None:
    result = await server.ask_about(
        file, language, "textDocument/hover", _at(file, position), messages.HoverResult
    )
    found = answers.hover(result)
    unfinished = server.spec.unfinished
    if found is not None and unfinished and any(unfinished in c.value for c in found.contents):
        raise NotReady(waiting_for=f"{server.name} to load the project")
    return found


async def document_symbols(server: Server, file: SourceFile, language: str) -> Sequence[RawSymbol]:
    params = {"textDocument": {"uri": file.uri}}
    result = await server.ask_about(
        file, language, "textDocument/documentSymbol", params, messages.DocumentSymbolResult
    )
    return _uncut(server, "documentSymbols", answers.document_symbols(server.name, result))


async def workspace_symbols(server: Server, query: str) -> Sequence[RawWorkspaceSymbol]:
    if server.spec.dialect == "tsserver":
        return await tsserver.workspace_symbols(server, query)
    run = await server.ready()
    method = "workspace/symbol"
    if not run.capabilities.get("workspaceSymbolProvider") and not run.client.supports(method):
        # It may answer all the same, with nothing.
        raise Unavailable(f"this {server.name} does not answer that")
    result = await server.ask(method, {"query": query}, messages.SymbolResult)
    found = answers.workspace_symbols(server.name, result)
    if server.spec.dialect == "clangd":  # it knows macros of what it has open, and of no other file
        found = [symbol for symbol in found if symbol.kind != _MACRO]
    return _uncut(server, "workspaceSymbols", found)


async def document_diagnostics(
    server: Server, file: SourceFile, language: str, *, opened: bool = True
) -> Sequence[RawDiagnostic]:
    """The diagnostics of exactly this text. ``opened``: the server must have it open for that."""
    match server.spec.diagnostics:
        case "push":
            return answers.diagnostics(await server.diagnostics_pushed(file, language))
        case "push-unversioned":
            return answers.diagnostics(await server.diagnostics_under_own_name(file, language))
        case "tsserver":
            return await tsserver.diagnostics(server, file, language)
    method, params = "textDocument/diagnostic", {"textDocument": {"uri": file.uri}}
    if opened:
        report = await server.ask_about(file, language, method, params, messages.DiagnosticReport)
    else:
        report = await server.ask(method, params, messages.DiagnosticReport)
    return answers.diagnostics(report.items)


async def workspace_report(server: Server) -> dict[str, Sequence[RawDiagnostic]]:
    """Every file's diagnostics in one answer, from a server that can."""
    # A server that has nothing to report may keep the question until it has. One that is reminded
    # of a report it never made has to take that back at once.
    nothing = {"uri": f"{uri_of(server.launch.folder)}/.sightline-none", "value": "0"}
    params = {"previousResultIds": [nothing]}
    result = await server.ask("workspace/diagnostic", params, messages.WorkspaceReport)
    return {report.uri: answers.diagnostics(report.items) for report in result.items}


def _at(file: SourceFile, position: Position) -> dict[str, Any]:
    place = {"line": position.line, "character": position.character}
    return {"textDocument": {"uri": file.uri}, "position": place}


def _uncut(server: Server, operation: Operation, items: list[Any]) -> list[Any]:
    """The items, unless there are so many that the server may have left some out."""
    cap = server.spec.caps.get(operation)
    if cap is not None and len(items) >= cap:
        raise TooMany(f"{server.name} tells at most {cap} results; ask more narrowly")
    return items


def covers(location: Location, uri: str, position: Position) -> bool:
    """Whether a place is around, or ends at, a position in a document."""
    # Servers spell one file in several ways.
    return path_in(location.uri) == path_in(uri) and _inside(location.range, position)


def _inside(span: Range, position: Position) -> bool:
    place = (position.line, position.character)
    start = (span.start.line, span.start.character)
    return start <= place <= (span.end.line, span.end.character)
