"""The messages of the bridge, version 1. docs/bridge.md describes them for the other side.

One JSON object per line, its ``type`` first. Unknown members are ignored, unknown types are not:
whoever adds a type raises the version.
"""

from typing import Literal

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from sightline.contract.values import Hover, HoverContent, Location, Position, Range

__all__ = [
    "BRIDGE",
    "MAX_MESSAGE_BYTES",
    "Answer",
    "Ask",
    "Cancel",
    "DiagnosticsAnswer",
    "DiagnosticsChanged",
    "EditorDiagnostic",
    "EditorSymbol",
    "FailedAnswer",
    "FileChange",
    "FilesAnnounced",
    "Folders",
    "FromEditor",
    "Hello",
    "HoverAnswer",
    "LocationsAnswer",
    "OpenDocument",
    "PreparedAnswer",
    "Question",
    "Ready",
    "Refused",
    "Restarted",
    "SymbolsAnswer",
    "SyncAnswer",
    "TextChanged",
    "Tokens",
    "Trust",
    "UnwatchedAnswer",
    "Welcome",
    "WorkspaceDiagnosticsAnswer",
    "WorkspaceSymbolsAnswer",
    "decode",
    "ToEditor",
    "encode",
]

#: The version of the bridge. Both sides must speak the same.
BRIDGE = 1
MAX_MESSAGE_BYTES = 16 << 20

_MAX_REASON = 300


# From the editor


class Hello(Struct, frozen=True, tag="hello", tag_field="type"):
    """The first message. Nothing is served before it, and nothing if it is not as it should be."""

    bridge: int
    tokens: list[str]
    roots: list[str]
    trusted: bool
    #: Settings of docs/reference/settings.md, by their names there.
    settings: dict[str, msgspec.Raw] = {}
    #: What people are told, such as "Visual Studio Code 1.139.1".
    editor: str = ""
    #: What else than the workspace decides the answers: versions of the editor and its extensions.
    identity: str = ""
    #: Whether languages without a known sign of having loaded are answered for.
    acceptUnproven: bool = False  # noqa: N815 - the wire's spelling


class Answer(Struct, frozen=True, tag="answer", tag_field="type"):
    id: int
    #: Decoded by whoever asked.
    result: Raw


Kind = Literal["notReady", "unavailable", "notFound", "tooMany", "internal"]


class FailedAnswer(Struct, frozen=True, tag="failed", tag_field="type"):
    id: int
    kind: Kind
    reason: str = ""


class TextChanged(Struct, frozen=True, tag="text", tag_field="type"):
    """The text of a document is another one now. ``sync`` brings it."""

    uri: str


class FileChange(Struct, frozen=True, gc=False):
    uri: str
    #: 1 created, 2 changed, 3 deleted.
    kind: Literal[1, 2, 3]
    #: When the announcement came, in milliseconds of the machine's clock: whatever was written
    #: before that is what those who were told will read.
    at: int


class FilesAnnounced(Struct, frozen=True, tag="files", tag_field="type"):
    """The editor's extensions were told of these changes on disk."""

    changes: list[FileChange]


class DiagnosticsChanged(Struct, frozen=True, tag="diagnostics", tag_field="type"):
    uris: list[str]


class Folders(Struct, frozen=True, tag="folders", tag_field="type"):
    roots: list[str]


class Trust(Struct, frozen=True, tag="trust", tag_field="type"):
    trusted: bool


class Tokens(Struct, frozen=True, tag="tokens", tag_field="type"):
    tokens: list[str]


class Restarted(Struct, frozen=True, tag="restarted", tag_field="type"):
    """Settings or extensions changed: answers may differ from now on."""

    identity: str = ""


FromEditor = (
    Hello
    | Answer
    | FailedAnswer
    | TextChanged
    | FilesAnnounced
    | DiagnosticsChanged
    | Folders
    | Trust
    | Tokens
    | Restarted
)


# From the child


class Welcome(Struct, frozen=True, tag="welcome", tag_field="type"):
    bridge: int
    version: str


class Ready(Struct, frozen=True, tag="ready", tag_field="type"):
    port: int
    warnings: list[str] = []


class Refused(Struct, frozen=True, tag="refused", tag_field="type"):
    """Why nothing is served. The child ends after it."""

    code: Literal["bridge", "hello", "trust", "tokens", "settings", "roots", "port"]
    reason: str


Ask = Literal[
    "sync",
    "prepare",
    "unwatched",
    "definition",
    "references",
    "hover",
    "documentSymbols",
    "workspaceSymbols",
    "documentDiagnostics",
    "workspaceDiagnostics",
]


class Question(Struct, frozen=True, tag="question", tag_field="type", omit_defaults=True):
    id: int
    ask: Ask
    uri: str | None = None
    position: Position | None = None
    includeDeclaration: bool | None = None  # noqa: N815
    query: str | None = None
    uris: list[str] | None = None


class Cancel(Struct, frozen=True, tag="cancel", tag_field="type"):
    id: int


ToEditor = Welcome | Ready | Refused | Question | Cancel


# What questions are answered with


class OpenDocument(Struct, frozen=True):
    """A document that was opened, changed, saved or closed since the last ``sync``."""

    uri: str
    open: bool
    dirty: bool = False
    #: SHA-256 of the text with line ends as ``\\n`` and without a byte-order mark.
    digest: str = ""
    #: The text of a dirty document. ``None`` for one that is too large to send.
    text: str | None = None


class SyncAnswer(Struct, frozen=True):
    documents: list[OpenDocument] = []


class UnwatchedAnswer(Struct, frozen=True):
    """Those of the asked files that the editor was told not to watch."""

    uris: list[str]


class Told(Struct, frozen=True, kw_only=True):
    """What every answer about a document says of the one who gave it."""

    #: The editor's id of the document's language.
    language: str = ""
    #: Whether the extension that answers is known to have loaded what it answers about.
    loaded: bool = False


class PreparedAnswer(Told, frozen=True):
    """Documents are open. ``extension``: whether anybody there could answer for them."""

    extension: Literal["none", "inactive", "active"] = "active"


class LocationsAnswer(Told, frozen=True):
    locations: list[Location] = []


class HoverAnswer(Told, frozen=True):
    contents: list[HoverContent] = []
    range: Range | UnsetType = UNSET

    def hover(self) -> Hover | None:
        kept = tuple(content for content in self.contents if content.value)
        return Hover(kept, self.range) if kept else None


class EditorSymbol(Struct, frozen=True, gc=False):
    """A document symbol, or a symbol of the workspace when it has a ``uri``."""

    name: str
    kind: int
    range: Range
    selectionRange: Range | None = None  # noqa: N815
    containerName: str = ""  # noqa: N815
    children: "list[EditorSymbol]" = []
    uri: str = ""


class SymbolsAnswer(Told, frozen=True):
    symbols: list[EditorSymbol] = []


class WorkspaceSymbolsAnswer(Struct, frozen=True):
    symbols: list[EditorSymbol] = []


class EditorDiagnostic(Struct, frozen=True, gc=False):
    range: Range
    message: str
    severity: int | UnsetType = UNSET
    code: str | UnsetType = UNSET
    source: str | UnsetType = UNSET


class DiagnosticsAnswer(Told, frozen=True):
    diagnostics: list[EditorDiagnostic] = []


class DocumentDiagnostics(Struct, frozen=True):
    uri: str
    diagnostics: list[EditorDiagnostic]


class WorkspaceDiagnosticsAnswer(Struct, frozen=True):
    files: list[DocumentDiagnostics] = []
    #: How many documents the window shows in its tabs: those are reported on.
    shown: int = 0
    #: The languages of shown documents whose extension is not known to have loaded.
    unloaded: list[str] = []


_decoder = msgspec.json.Decoder(FromEditor)
_encoder = msgspec.json.Encoder()


def decode(line: bytes) -> FromEditor:
    """One message of the editor. Raises ``msgspec.DecodeError``."""
    message: FromEditor = _decoder.decode(line)
    return message


def encode(message: ToEditor) -> bytes:
    return _encoder.encode(message) + b"\n"


def reason(text: str) -> str:
    """A reason in one line of bounded length."""
    return " ".join(text.split())[:_MAX_REASON]
