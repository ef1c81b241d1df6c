"""Asking tsserver itself, through the server in front of it, for what that one would cut or split.

The server in front limits workspace symbols to 256 and publishes diagnostics in several parts
without saying which is the last. tsserver answers both in one piece. Its lines and columns count
from 1, in UTF-16 units.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from sightline.contract.canonical import canonical_json
from sightline.contract.source import RawDiagnostic, RawWorkspaceSymbol, SourceFile
from sightline.contract.uris import uri_of
from sightline.contract.values import Location, Position, Range
from sightline.lsp.asking.answers import unusable
from sightline.lsp.server.server import Server
from sightline.lsp.together import together

__all__ = ["diagnostics", "workspace_symbols"]

_COMMAND = "typescript.tsserverRequest"
_KINDS = ("syntacticDiagnosticsSync", "semanticDiagnosticsSync", "suggestionDiagnosticsSync")
_SEVERITIES = {"error": 1, "warning": 2, "message": 3, "suggestion": 4}
_SYMBOL_KINDS = {
    "class": 5,
    "local class": 5,
    "type": 5,
    "method": 6,
    "property": 7,
    "getter": 7,
    "setter": 7,
    "accessor": 7,
    "constructor": 9,
    "enum": 10,
    "interface": 11,
    "function": 12,
    "local function": 12,
    "enum member": 22,
    "module": 2,
    "type parameter": 26,
}
_VARIABLE = 13
_SOURCE = "ts"


class Place(Struct, frozen=True, gc=False):
    line: int
    offset: int


class TsDiagnostic(Struct, frozen=True, gc=False):
    start: Place
    end: Place
    text: str
    code: int | None = None
    category: str = "error"
    source: str = _SOURCE


class Symbol(Struct, frozen=True, gc=False):
    name: str
    kind: str
    file: str
    start: Place
    end: Place
    containerName: str = ""  # noqa: N815


class Reply(Struct, frozen=True):
    success: bool = False
    body: Any = None


async def diagnostics(server: Server, file: SourceFile, language: str) -> Sequence[RawDiagnostic]:
    """Syntax, types and suggestions of one document."""

    async def ask(kind: str) -> list[TsDiagnostic]:
        params = {"command": _COMMAND, "arguments": [kind, {"file": file.path}]}
        reply = await server.ask_about(file, language, "workspace/executeCommand", params, Reply)
        items: list[TsDiagnostic] = _body(server, reply, list[TsDiagnostic])
        return items

    # The server takes them one after the other, but need not wait for us in between.
    parts = await together(*map(ask, _KINDS))
    return [_diagnostic(item) for part in parts for item in part]


async def workspace_symbols(server: Server, query: str) -> Sequence[RawWorkspaceSymbol]:
    """Every symbol of every loaded project whose name matches."""
    arguments = ["navto", {"searchValue": query}]
    params = {"command": _COMMAND, "arguments": arguments}
    reply = await server.ask("workspace/executeCommand", params, Reply)
    return [_symbol(item) for item in _body(server, reply, list[Symbol])]


def _body(server: Server, reply: Reply, kind: Any) -> Any:  # noqa: ANN401 - the body's type
    if not reply.success:
        raise unusable(server.name)
    try:
        return msgspec.convert(reply.body if reply.body is not None else [], kind)
    except msgspec.ValidationError:
        raise unusable(server.name) from None


def _diagnostic(item: TsDiagnostic) -> RawDiagnostic:
    code: str | UnsetType = UNSET if item.code is None else canonical_json(item.code)
    severity = _SEVERITIES.get(item.category, 1)
    return RawDiagnostic(_range(item.start, item.end), item.text, severity, code, item.source)


def _symbol(item: Symbol) -> RawWorkspaceSymbol:
    location = Location(uri_of(item.file), _range(item.start, item.end))
    kind = _SYMBOL_KINDS.get(item.kind, _VARIABLE)
    return RawWorkspaceSymbol(item.name, kind, location, item.containerName or UNSET)


def _range(start: Place, end: Place) -> Range:
    return Range(
        Position(max(start.line - 1, 0), max(start.offset - 1, 0)),
        Position(max(end.line - 1, 0), max(end.offset - 1, 0)),
    )
