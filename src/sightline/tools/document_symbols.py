"""``vscode.lsp.documentSymbols``: the outline of one document, as a flat list."""

from collections.abc import Iterable, Sequence
from functools import cache

from msgspec import UNSET, Struct, UnsetType

from sightline.contract.failures import TooMany
from sightline.contract.ids import document_symbol_id
from sightline.contract.limits import MAX_DOCUMENT_SYMBOL_NODES, MAX_ITEMS_NONPAGED
from sightline.contract.name_ranges import NameRanges, is_as_long
from sightline.contract.orders import document_symbol_key
from sightline.contract.source import RawSymbol
from sightline.contract.values import DocumentSymbol, Range
from sightline.tools.positions import DocumentArguments, ask_document
from sightline.tools.tool import Desk, Question, ToolInfo, Whole, no_index, plural, within
from sightline.workspace.view import SOURCE_EPOCHS

INFO = ToolInfo(
    name="vscode.lsp.documentSymbols",
    family="lsp",
    title="Document symbols",
    description="The classes, functions and variables of one document, as a flat list.",
    schema_version=1,
    epochs=SOURCE_EPOCHS,
    too_large="the outline is larger than max_response_bytes; read the file, ask for workspace "
    "symbols by name, or set answer_bytes to have the outline cut",
)


class Outline(Struct, frozen=True):
    symbols: list[DocumentSymbol]
    summary: str


class DocumentSymbols:
    info = INFO
    arguments = DocumentArguments
    ask = staticmethod(ask_document)

    async def answer(self, desk: Desk, question: Question[DocumentArguments]) -> Whole:
        assert question.uri is not None
        raw = await desk.source.document_symbols(question.notes)
        own = [
            node
            for node in raw
            if node.uri is UNSET or desk.view.gate.shown_uri(node.uri) == question.uri
        ]
        ordered = _flatten(question.uri, own, question.notes.text)
        symbols = [symbol for symbol, _ in ordered]

        @cache
        def upper() -> list[int]:
            """The places of those that may be shown, the deepest last."""
            by_depth = sorted(range(len(ordered)), key=lambda place: ordered[place][1])
            return by_depth[:MAX_ITEMS_NONPAGED]

        def outline(count: int) -> Outline:
            """So many of them; the deepest are left out first."""
            if count >= len(symbols):
                return Outline(symbols, f"Returned {plural(len(symbols), 'document symbol')}.")
            kept = sorted(upper()[:count])
            first = next((place for place, each in enumerate(kept) if each != place), count)
            summary = f"Returned {count} of {len(symbols)} document symbols (capped)."
            line = symbols[first].selectionRange.start.line
            rest = _left_out(len(symbols) - count, line, with_index=desk.index is not no_index)
            return Outline([symbols[place] for place in kept], f"{summary} {rest}")

        def shorten(size: int) -> Outline:
            return outline(within([symbols[place] for place in upper()], size))

        return Whole(outline(min(len(symbols), MAX_ITEMS_NONPAGED)), shorten)


def _left_out(count: int, line: int, *, with_index: bool) -> str:
    how = f"call show_file with startLine {line + 1}" if with_index else "read the file from there"
    return (
        f"Left out: {count}, the deepest first, of equal depth the last. The first of them is at "
        f"line {line} (from 0): {how}, or ask for workspace symbols by name."
    )


def _flatten(uri: str, roots: Sequence[RawSymbol], text: str) -> list[tuple[DocumentSymbol, int]]:
    """Every named symbol once, in order, and how deep it lies from the root down."""
    named: list[tuple[RawSymbol, str | UnsetType, int]] = []
    stack = [(node, node.container, 0) for node in reversed(roots)]
    visited = 0
    while stack:
        node, container, depth = stack.pop()
        visited += 1
        if visited > MAX_DOCUMENT_SYMBOL_NODES:
            raise TooMany("the document has more than 20,000 symbols")
        nameless = not node.name.strip()
        if node.children:  # a nameless node gives them no container
            around: str | UnsetType = UNSET if nameless else node.name
            stack += [(child, around, depth + 1) for child in reversed(node.children)]
        if not nameless:
            named.append((node, container, depth))
    selections = _selections([node for node, _, _ in named], text)
    #: By name and id, which hold all that a symbol is.
    found: dict[tuple[str, str], tuple[DocumentSymbol, int]] = {}
    for (node, container, depth), selection in zip(named, selections, strict=True):
        name, kind, span = node.name, node.kind, node.range
        id_ = document_symbol_id(uri, name, kind, span, selection, container)
        known = found.get((name, id_))
        if known is None or depth < known[1]:
            symbol = DocumentSymbol(id_, name, kind, span, selection, container)
            found[name, id_] = (symbol, depth)
    entries = list(found.values())
    if not _is_ordered(symbol for symbol, _ in entries):
        entries.sort(key=lambda entry: document_symbol_key(entry[0]))
    return entries


def _selections(nodes: Sequence[RawSymbol], text: str) -> list[Range]:
    """Where the names stand; some sources tell no more than what is around them."""
    wanted = [
        (node.range, node.name)
        for node in nodes
        if node.selection == node.range and not is_as_long(node.range, node.name)
    ]
    if not wanted:
        return [node.selection for node in nodes]
    names = NameRanges(text).all_narrowed(wanted)
    return [
        names.get((node.range, node.name), node.selection)
        if node.selection == node.range
        else node.selection
        for node in nodes
    ]


def _is_ordered(symbols: Iterable[DocumentSymbol]) -> bool:
    """Whether each begins after the one before, as most servers tell them: that decides it."""
    line = character = -1
    for symbol in symbols:
        start = symbol.range.start
        if start.line < line or (start.line == line and start.character <= character):
            return False
        line, character = start.line, start.character
    return True
