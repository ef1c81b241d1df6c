"""What the tools that take a document and a position have in common."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from sightline.contract.failures import NotFound
from sightline.contract.source import Covered, SourceFile
from sightline.contract.standing import no_symbol_at
from sightline.contract.texts import line_length_utf16, line_text
from sightline.contract.values import Location, Position
from sightline.tools.paths import document
from sightline.tools.tool import Question, left_out
from sightline.workspace.gate import Hidden
from sightline.workspace.view import View

__all__ = [
    "DocumentArguments",
    "PositionArguments",
    "ask_document",
    "ask_position",
    "canonical_locations",
    "not_found",
]


class DocumentArguments(Struct, frozen=True):
    uri: str


class PositionArguments(Struct, frozen=True):
    uri: str
    position: Position


def ask_document(view: View, arguments: DocumentArguments) -> Question[DocumentArguments]:
    """A question about one document."""
    file = document(view, arguments.uri)
    return Question(arguments, (file.uri,), uri=file.uri, notes=file)


def ask_position(view: View, arguments: PositionArguments) -> Question[PositionArguments]:
    """A question about one place, which must lie inside the document."""
    file = document(view, arguments.uri)
    check_position(file, arguments.position)
    line, character = arguments.position.line, arguments.position.character
    return Question(arguments, (file.uri, line, character), uri=file.uri, notes=file)


def check_position(file: SourceFile, position: Position) -> None:
    line = line_text(file.text, position.line)
    if line is None:
        raise NotFound("the document has fewer lines; lines count from 0")
    if position.character > line_length_utf16(line):
        raise NotFound("the line is shorter; columns count UTF-16 units from 0")


def canonical_locations(
    view: View, found: Iterable[Location]
) -> tuple[list[Location], Counter[Hidden]]:
    """The locations inside the roots, in canonical order and each once, and how many are hidden.

    The same list as sorting by ``location_key`` gives, but grouped by file first: a file is gated
    once however many locations lie in it, and 20,000 locations take 10 ms instead of 45.
    """
    groups: defaultdict[str, list[Location]] = defaultdict(list)
    for location in found:
        groups[location.uri].append(location)
    hidden: Counter[Hidden] = Counter()
    shown: dict[str, list[Location]] = {}
    for raw, places in groups.items():
        uri = view.gate.look_at(raw)
        if isinstance(uri, Hidden):
            hidden[uri] += len(set(places))
        elif uri == raw:
            shown.setdefault(uri, []).extend(places)
        else:
            shown.setdefault(uri, []).extend(Location(uri, place.range) for place in places)
    locations: list[Location] = []
    for uri in sorted(shown):
        unique = {
            (start.line, start.character, end.line, end.character): place
            for place in shown[uri]
            for span in [place.range]
            for start, end in [(span.start, span.end)]
        }
        locations += [unique[key] for key in sorted(unique)]
    return locations, hidden


def not_found(
    file: SourceFile,
    position: Position,
    found: Covered[Sequence[Location]],
    hidden: Mapping[Hidden, int],
    unaccounted: str = "",
) -> str:
    """What a summary says at its end of places that are not in the answer, and why."""
    rest = (f" {unaccounted}" if unaccounted else "") + left_out(hidden, found)
    if found.nameless and not found.items:
        return f" {no_symbol_at(file.text, position)}{rest}"
    return rest
