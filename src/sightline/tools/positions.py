"""What the tools that take a document and a position have in common."""

from msgspec import Struct

from sightline.contract.failures import NotFound
from sightline.contract.source import SourceFile
from sightline.contract.texts import line_length_utf16, line_text
from sightline.contract.values import Location, Position
from sightline.tools.tool import Question
from sightline.workspace.view import View

__all__ = ["DocumentArguments", "PositionArguments", "ask_document", "ask_position", "inside"]


class DocumentArguments(Struct, frozen=True):
    uri: str


class PositionArguments(Struct, frozen=True):
    uri: str
    position: Position


def ask_document(view: View, arguments: DocumentArguments) -> Question[DocumentArguments]:
    """A question about one document."""
    file = view.document(arguments.uri)
    return Question(arguments, (file.uri,), uri=file.uri, notes=file)


def ask_position(view: View, arguments: PositionArguments) -> Question[PositionArguments]:
    """A question about one place, which must lie inside the document."""
    file = view.document(arguments.uri)
    check_position(file, arguments.position)
    line, character = arguments.position.line, arguments.position.character
    return Question(arguments, (file.uri, line, character), uri=file.uri, notes=file)


def check_position(file: SourceFile, position: Position) -> None:
    line = line_text(file.text, position.line)
    if line is None:
        raise NotFound("the document has fewer lines; lines count from 0")
    if position.character > line_length_utf16(line):
        raise NotFound("the line is shorter; columns count UTF-16 units from 0")


def inside(view: View, locations: list[Location]) -> tuple[list[Location], int]:
    """The locations inside the roots, under their canonical URIs, and how many are not."""
    kept: list[Location] = []
    outside = 0
    known: dict[str, str | None] = {}
    for location in locations:
        raw = location.uri
        if raw in known:
            uri = known[raw]
        else:
            uri = known[raw] = view.gate.shown_uri(raw)
        if uri is None:
            outside += 1
        else:
            kept.append(location if uri == raw else Location(uri, location.range))
    return kept, outside
