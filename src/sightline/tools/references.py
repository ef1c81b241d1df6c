"""``vscode.lsp.references``: every reference to the symbol at a position, page by page."""

from collections.abc import Sequence

from msgspec import Struct

from sightline.contract.failures import TooMany
from sightline.contract.limits import MAX_REFERENCES_ITEMS_TOTAL, MAX_REFERENCES_RAW
from sightline.contract.source import Expected
from sightline.contract.unaccounted import sentence
from sightline.contract.values import Position
from sightline.tools.positions import (
    PositionArguments,
    ask_position,
    canonical_locations,
    not_found,
)
from sightline.tools.tool import Desk, Paged, Question, ToolInfo, plural, without
from sightline.workspace.view import SOURCE_EPOCHS, View


def _expected(question: Question["ReferencesArguments"]) -> Expected | None:
    asked = question.arguments
    if asked.cursor is not None:
        return None  # a page of something that is known
    return Expected(question.notes, asked.position, asked.includeDeclaration)


INFO = ToolInfo(
    name="vscode.lsp.references",
    family="lsp",
    title="Find references",
    description="Every reference to the symbol at a position, complete or refused. Paged. "
    "Positions are 0-based. Code that the build leaves out (#if, build tags) is not read.",
    schema_version=1,
    epochs=SOURCE_EPOCHS,
    paged=True,
    expects=_expected,
)

#: What a location takes in JSON besides its URI, which has no character that must be escaped.
_RANGE_BYTES = 128


class ReferencesArguments(Struct, frozen=True):
    uri: str
    position: Position
    includeDeclaration: bool = False  # noqa: N815
    pageSize: int | None = None  # noqa: N815
    cursor: str | None = None


class References:
    info = INFO
    arguments = ReferencesArguments

    def ask(self, view: View, arguments: ReferencesArguments) -> Question[ReferencesArguments]:
        place = ask_position(view, PositionArguments(arguments.uri, arguments.position))
        fields = (*place.fields, arguments.includeDeclaration)
        return Question(arguments, fields, uri=place.uri, notes=place.notes)

    async def answer(self, desk: Desk, question: Question[ReferencesArguments]) -> Paged:
        asked = question.arguments
        found = await desk.source.references(
            question.notes, asked.position, include_declaration=asked.includeDeclaration
        )
        if len(found.items) > MAX_REFERENCES_RAW:
            raise TooMany("more than 20,000 references; ask about a narrower symbol")
        locations, hidden = canonical_locations(desk.view, found.items)
        if len(locations) > MAX_REFERENCES_ITEMS_TOTAL:
            raise TooMany("more than 20,000 references; ask about a narrower symbol")

        left = sentence(found.name, found.unaccounted, desk.view.relative)
        rest = not_found(question.notes, asked.position, found, hidden, left)
        rest += without(desk.view.gone)

        def summary(returned: int, more: bool, flags: Sequence[bool]) -> str:
            next_page = " (next page available)" if more and returned != 1 else ""
            return f"Returned {plural(returned, 'reference')}{next_page}.{rest}"

        longest = max(map(len, {place.uri for place in locations}), default=0)
        return Paged(locations, summary, item_bytes=longest + _RANGE_BYTES)
