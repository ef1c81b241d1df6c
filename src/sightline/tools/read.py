"""``read``: the source, the outline or the type of what is named."""

import asyncio
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from sightline.contract.failures import InvalidArguments, NotFound
from sightline.tools.by_name import BUDGET, TOKEN_BYTES, Part, each_of, others
from sightline.tools.tool import Block, Desk, Question, Said, Section, ToolInfo
from sightline.workspace.view import SOURCE_EPOCHS, View

if TYPE_CHECKING:
    from sightline.symbols.addressing import Named, Resolver
    from sightline.symbols.symbol import Symbol

INFO = ToolInfo(
    name="read",
    family="code",
    title="Read a symbol",
    description="A symbol by name: its source with line numbers, the outline of a file, class or "
    "folder with signatures (show: outline), or its type by the language server (show: type). "
    "of: Cart.add, shop/cart.py::Cart.add, shop/cart.py, path:line, path:line:name. Ends in "
    "more: page=... when cut.",
    schema_version=1,
    epochs=SOURCE_EPOCHS,
)

Show = Literal["source", "outline", "type"]


class ReadArguments(Struct, frozen=True):
    of: list[str]
    show: Show | None = None
    budget: int = BUDGET
    page: str | None = None


class Read:
    info = INFO
    arguments = ReadArguments

    def ask(self, view: View, arguments: ReadArguments) -> Question[ReadArguments]:
        fields = (*arguments.of, "show", arguments.show or "")
        return Question(arguments, fields, budget=arguments.budget * TOKEN_BYTES)

    async def answer(self, desk: Desk, question: Question[ReadArguments]) -> Said:
        show = question.arguments.show

        async def say(resolver: "Resolver", text: str, named: "Named") -> Part:
            if named.path:
                return await _of_path(resolver, named.path, show or "outline")
            sections: list[Section] = []
            data: list[Any] = []
            for symbol in named.symbols:
                lines = await _of_symbol(resolver, symbol, show or "source")
                blocks = [Block("", lines)]
                if show in (None, "source"):  # overloads and prototypes have a text of their own
                    blocks += [
                        Block(each.place, await _of_symbol(resolver, each, "source"))
                        for each in symbol.also
                    ]
                sections.append(Section([symbol.echo], blocks))
                lines = [line for block in blocks for line in block.lines]
                data.append({"symbol": symbol.echo, "lines": lines})
            return Part([*sections, *others(text, named)], data)

        return await each_of(desk, question.arguments.of, say)


async def _of_symbol(resolver: "Resolver", symbol: "Symbol", show: Show) -> list[str]:
    from sightline.symbols import reading

    files = resolver.files
    if show == "type":
        return await reading.type_of(resolver.source, files, symbol)
    if show == "outline":
        lines = reading.outline_of_symbol(files, symbol)
        if lines:
            return lines
        raise NotFound(f"{symbol.qualified} declares nothing inside; ask for show: source")
    return reading.source_lines(files, symbol.path, symbol.first, symbol.last)


async def _of_path(resolver: "Resolver", path: str, show: Show) -> Part:
    from sightline.symbols import reading

    files = resolver.files
    shown = files.shown(path) or "."
    if show == "type":
        raise InvalidArguments(f"{shown} has no type; pass one of its symbols, as {shown}::name")
    if reading.is_folder(path):
        if show == "source":
            raise InvalidArguments(f"{shown} is a folder; ask for show: outline")
        known = await asyncio.to_thread(resolver.sources.paths)
        found = reading.outline_of_folder(files, path, known)
        head = f"folder {shown}  {len(found):,} source {'file' if len(found) == 1 else 'files'}"
        blocks = [Block(*each) for each in found]
        data = [{"path": name, "lines": lines} for name, lines in found]
        return Part([Section([head], blocks)], data)
    count = len(files.lines(path)) - (not files.lines(path)[-1])
    head = f"file {shown}  {count:,} {'line' if count == 1 else 'lines'}"
    if show == "source":
        lines = reading.source_lines(files, path, 0, count - 1)
    else:
        lines = reading.outline_of_file(files, path)
        if not lines:
            raise NotFound(f"{shown} has no declarations that can be listed; ask for show: source")
    return Part([Section([head], [Block("", lines)])], [{"symbol": head, "lines": lines}])
