"""``vscode.lsp.workspaceSymbols``: symbols of the whole workspace by part of their name."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

from msgspec import Struct

from sightline.contract.failures import Failure, InvalidArguments, TooMany
from sightline.contract.ids import workspace_symbol_id
from sightline.contract.limits import MAX_WORKSPACE_SYMBOLS_ITEMS_TOTAL
from sightline.contract.name_ranges import MAX_WORK, NameRanges, is_as_long
from sightline.contract.orders import canonical, workspace_symbol_key
from sightline.contract.source import RawWorkspaceSymbol
from sightline.contract.values import Location, Range, WorkspaceSymbol
from sightline.tools.tool import Desk, Paged, Question, ToolInfo, left_out, plural
from sightline.workspace.gate import Hidden
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

#: So many files are looked into before others have a turn, or fewer where that is much work.
_AT_ONCE = 32


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
        shown: dict[str, list[RawWorkspaceSymbol]] = {}
        hidden: dict[RawWorkspaceSymbol, Hidden] = {}
        for raw in found.items:
            uri = desk.view.gate.look_at(raw.location.uri)
            if isinstance(uri, Hidden):
                hidden[raw] = uri
            elif raw.name.strip():
                shown.setdefault(uri, []).append(raw)
        symbols: list[WorkspaceSymbol] = []
        work = 0
        for uri, there in shown.items():
            spans, more = _name_ranges(desk.view, uri, there)
            for raw, span in zip(there, spans, strict=True):
                id_ = workspace_symbol_id(uri, raw.name, raw.kind, span, raw.container)
                location = Location(uri, span)
                symbols.append(WorkspaceSymbol(id_, raw.name, raw.kind, location, raw.container))
            work += more + MAX_WORK // _AT_ONCE
            if work >= MAX_WORK:
                work = 0
                await asyncio.sleep(0)
        ordered = canonical(symbols, workspace_symbol_key)
        if len(ordered) > MAX_WORKSPACE_SYMBOLS_ITEMS_TOTAL:
            raise TooMany("more than 20,000 symbols match; use a longer query")

        rest = left_out(Counter(hidden.values()), found, gone=desk.view.gone)

        def summary(returned: int, more: bool, flags: Sequence[bool]) -> str:
            next_page = " (next page available)" if more and returned != 1 else ""
            return f"Returned {plural(returned, 'workspace symbol')}{next_page}.{rest}"

        return Paged(ordered, summary)


def _name_ranges(
    view: View, uri: str, symbols: Sequence[RawWorkspaceSymbol]
) -> tuple[list[Range], int]:
    """The ranges of the names of symbols in one document, and how much work they were.

    Some sources tell what is around them.
    """
    told = [raw.location.range for raw in symbols]
    if all(is_as_long(raw.location.range, raw.name) for raw in symbols):
        return told, 0
    with suppress(Failure):  # of what cannot be read the source knows more
        names = NameRanges(view.document(uri).text)
        found = names.all_narrowed((raw.location.range, raw.name) for raw in symbols)
        return [found[raw.location.range, raw.name] for raw in symbols], names.work
    return told, 0
