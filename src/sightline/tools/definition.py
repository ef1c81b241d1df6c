"""``vscode.lsp.definition``: where the symbol at a position is defined."""

from msgspec import Struct

from sightline.contract.limits import MAX_ITEMS_NONPAGED
from sightline.contract.values import Location
from sightline.tools.positions import (
    PositionArguments,
    ask_position,
    canonical_locations,
    not_found,
)
from sightline.tools.tool import Desk, Question, ToolInfo, Whole, plural, within
from sightline.workspace.view import SOURCE_EPOCHS

INFO = ToolInfo(
    name="vscode.lsp.definition",
    family="lsp",
    title="Go to definition",
    description="Where the symbol at a position is defined. Positions are 0-based.",
    schema_version=1,
    epochs=SOURCE_EPOCHS,
    too_large="the definitions are larger than max_response_bytes; set answer_bytes to have the "
    "list cut",
)


class Definitions(Struct, frozen=True):
    locations: list[Location]
    summary: str


class Definition:
    info = INFO
    arguments = PositionArguments
    ask = staticmethod(ask_position)

    async def answer(self, desk: Desk, question: Question[PositionArguments]) -> Whole:
        file, position = question.notes, question.arguments.position
        found = await desk.source.definition(file, position)
        locations, hidden = canonical_locations(desk.view, found.items)
        first, rest = locations[:MAX_ITEMS_NONPAGED], not_found(file, position, found, hidden)

        def definitions(count: int) -> Definitions:
            return Definitions(first[:count], _summary(count, len(locations)) + rest)

        return Whole(definitions(len(first)), lambda size: definitions(within(first, size)))


def _summary(count: int, total: int) -> str:
    if count < total:
        return f"Found {count} of {total} definitions (capped)."
    return f"Found {plural(total, 'definition')}."
