"""What language servers answer, as typed structs.

Decoding straight into these is 21 times faster than generic protocol classes on a large
``references`` answer. Members that Sightline does not use are not declared and cost nothing. A
value that does not fit is a ``DecodeError``: the server's fault, never half an answer.
"""

from typing import Any

from msgspec import Raw, Struct

from sightline.contract.values import Location, Range

__all__ = [
    "AnyLocation",
    "AnySymbol",
    "DefinitionResult",
    "DiagnosticReport",
    "DocumentSymbolResult",
    "Envelope",
    "HoverResult",
    "InitializeResult",
    "LspDiagnostic",
    "Marked",
    "PublishDiagnostics",
    "ReferencesResult",
    "ResponseError",
    "SymbolDetailsResult",
    "SymbolResult",
    "WorkspaceReport",
    "WorkspaceSymbolItem",
]


class ResponseError(Struct, frozen=True):
    code: int
    message: str = ""


class Envelope(Struct, frozen=True):
    """Any message. ``result`` and ``params`` stay undecoded until somebody knows their type."""

    id: int | str | None = None
    method: str | None = None
    params: Raw = Raw(b"null")
    result: Raw = Raw(b"null")
    error: ResponseError | None = None


class ServerInfo(Struct, frozen=True):
    name: str = ""
    version: str = ""


class InitializeResult(Struct, frozen=True):
    #: Capabilities are a bag of booleans and objects that differ by server.
    capabilities: dict[str, Any]
    serverInfo: ServerInfo = ServerInfo()  # noqa: N815


class AnyLocation(Struct, frozen=True, gc=False):
    """A ``Location`` or a ``LocationLink``."""

    uri: str | None = None
    range: Range | None = None
    targetUri: str | None = None  # noqa: N815
    targetRange: Range | None = None  # noqa: N815
    targetSelectionRange: Range | None = None  # noqa: N815


DefinitionResult = list[AnyLocation] | AnyLocation | None
ReferencesResult = list[Location] | None


class Marked(Struct, frozen=True):
    """``MarkupContent`` (kind, value) or ``MarkedString`` (language, value)."""

    value: str
    kind: str | None = None
    language: str | None = None


class SymbolDetails(Struct, frozen=True, gc=False):
    """What clangd's ``symbolInfo`` tells of a symbol."""

    name: str | None = None
    #: What it is told apart from others by.
    usr: str | None = None
    declarationRange: Location | None = None  # noqa: N815
    definitionRange: Location | None = None  # noqa: N815


SymbolDetailsResult = list[SymbolDetails] | None


class HoverBody(Struct, frozen=True):
    contents: str | Marked | list[str | Marked]
    range: Range | None = None


HoverResult = HoverBody | None


class AnySymbol(Struct, frozen=True, gc=False):
    """A hierarchical ``DocumentSymbol`` or a flat ``SymbolInformation``."""

    name: str
    kind: int
    range: Range | None = None
    selectionRange: Range | None = None  # noqa: N815
    children: "list[AnySymbol] | None" = None
    location: Location | None = None
    containerName: str | None = None  # noqa: N815


DocumentSymbolResult = list[AnySymbol] | None


class SymbolLocation(Struct, frozen=True, gc=False):
    uri: str
    range: Range | None = None


class WorkspaceSymbolItem(Struct, frozen=True, gc=False):
    name: str
    kind: int
    location: SymbolLocation
    containerName: str | None = None  # noqa: N815


SymbolResult = list[WorkspaceSymbolItem] | None


class MarkupMessage(Struct, frozen=True):
    value: str


class LspDiagnostic(Struct, frozen=True, gc=False):
    range: Range
    message: str | MarkupMessage
    severity: int | None = None
    code: int | float | str | dict[str, Any] | None = None
    source: str | None = None


class DiagnosticReport(Struct, frozen=True):
    kind: str = "full"
    items: list[LspDiagnostic] = []


class FileReport(Struct, frozen=True):
    uri: str
    kind: str = "full"
    items: list[LspDiagnostic] = []


class WorkspaceReport(Struct, frozen=True):
    items: list[FileReport]


class PublishDiagnostics(Struct, frozen=True):
    uri: str
    diagnostics: list[LspDiagnostic]
    version: int | None = None
