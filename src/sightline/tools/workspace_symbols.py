"""``vscode.lsp.workspaceSymbols``: symbols of the whole workspace by part of their name."""

from collections.abc import Sequence

from msgspec import Struct

from sightline.contract.failures import InvalidArguments, TooMany
from sightline.contract.ids import workspace_symbol_id
from sightline.contract.limits import MAX_WORKSPACE_SYMBOLS_ITEMS_TOTAL
from sightline.contract.orders import canonical, workspace_symbol_key
from sightline.contract.values import Location, WorkspaceSymbol
from sightline.tools.tool import Desk, Paged, Question, ToolInfo, left_out, plural
from sightline.workspace.view import SOURCE_EPOCHS, View

INFO = ToolInfo(
    name="vscode.lsp.workspaceSymbols",
    family="lsp",
    title="Workspace symbols",
    description="Symbols of the whole workspace whose name matches the query. Paged.",
    schema_version=1,
    epochs=SOURCE_EPOCHS,
    paged=True,
)


class WorkspaceSymbolsArguments(Struct, frozen=True):
    query: str
    pageSize: int | None = None  # noqa: N815
    cursor: str | None = None


class WorkspaceSymbols:
    info = INFO
    arguments = WorkspaceSymbolsArguments

    def ask(
        self, view: View, arguments: WorkspaceSymbolsArguments
    ) -> Question[WorkspaceSymbolsArguments]:
        query = arguments.query.strip()
        if not query:
            raise InvalidArguments("query must not be blank")
        return Question(arguments, (query,), notes=query)

    async def answer(self, desk: Desk, question: Question[WorkspaceSymbolsArguments]) -> Paged:
        found = await desk.source.workspace_symbols(question.notes)
        symbols: list[WorkspaceSymbol] = []
        outside = 0
        for raw in found.items:
            uri = desk.view.gate.shown_uri(raw.location.uri)
            if uri is None:
                outside += 1
            elif raw.name.strip():
                id_ = workspace_symbol_id(
                    uri, raw.name, raw.kind, raw.location.range, raw.container
                )
                location = Location(uri, raw.location.range)
                symbols.append(WorkspaceSymbol(id_, raw.name, raw.kind, location, raw.container))
        ordered = canonical(symbols, workspace_symbol_key)
        if len(ordered) > MAX_WORKSPACE_SYMBOLS_ITEMS_TOTAL:
            raise TooMany("more than 20,000 symbols match; use a longer query")

        rest = left_out(outside, found)

        def summary(returned: int, more: bool, flags: Sequence[bool]) -> str:
            next_page = " (next page available)" if more and returned != 1 else ""
            return f"Returned {plural(returned, 'workspace symbol')}{next_page}.{rest}"

        return Paged(ordered, summary)
