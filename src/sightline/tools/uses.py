"""``uses``: every use of a symbol that is named, as lines of source."""

from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from sightline.contract.failures import NotFound
from sightline.tools.by_name import BUDGET, TOKEN_BYTES, Part, each_of, others
from sightline.tools.tool import Block, Desk, Question, Said, Section, ToolInfo
from sightline.workspace.exclusions import covers
from sightline.workspace.view import SOURCE_EPOCHS, View

if TYPE_CHECKING:
    from sightline.symbols.addressing import Named, Resolver
    from sightline.symbols.uses import Use, Uses

INFO = ToolInfo(
    name="uses",
    family="code",
    title="Uses of a symbol",
    description="Every use of a symbol by name, complete or refused: `line enclosing role source` "
    "by file. of: Cart.add, shop.cart.Cart.add, path::Cart.add, path:line, path:line:name. Places "
    "that could not be resolved follow as unaccounted. Ends in more: page=... when cut.",
    schema_version=1,
    epochs=SOURCE_EPOCHS,
)


class UsesArguments(Struct, frozen=True, rename={"in_": "in"}):
    of: list[str]
    roles: list[str] = []
    tests: Literal["with", "only", "without"] = "with"
    in_: list[str] = []
    budget: int = BUDGET
    page: str | None = None


class UsesOfSymbols:
    info = INFO
    arguments = UsesArguments

    def ask(self, view: View, arguments: UsesArguments) -> Question[UsesArguments]:
        fields = (
            *arguments.of,
            "roles",
            *sorted(set(arguments.roles)),
            "in",
            *sorted(set(arguments.in_)),
            arguments.tests,
        )
        return Question(arguments, fields, budget=arguments.budget * TOKEN_BYTES)

    async def answer(self, desk: Desk, question: Question[UsesArguments]) -> Said:
        from sightline.symbols import lines
        from sightline.symbols.uses import uses_of

        asked = question.arguments

        async def say(resolver: "Resolver", text: str, named: "Named") -> Part:
            if named.path:
                raise NotFound(f"{text} is a file; pass one of its symbols, as {text}::name")
            files = resolver.files
            sections: list[Section] = []
            data: list[Any] = []
            for symbol in named.symbols:
                uses = await uses_of(
                    resolver.source,
                    files,
                    symbol,
                    with_declarations="declaration" in asked.roles,
                )
                shown = [each for each in uses.items if _is_wanted(asked, files.shown, each)]
                head = [symbol.echo, lines.header(shown, uses), *map(_note, uses.notes)]
                blocks = [Block(*each) for each in lines.by_file(files, shown)]
                blocks += [Block(*lines.unaccounted(files, each)) for each in uses.left]
                sections.append(Section(head, blocks))
                data.append(_data(symbol.echo, files.shown, shown, uses))
            return Part([*sections, *others(text, named)], data)

        return await each_of(desk, asked.of, say)


def _is_wanted(asked: UsesArguments, shown: Any, use: "Use") -> bool:  # noqa: ANN401
    if asked.roles and use.role not in asked.roles:
        return False
    if asked.tests != "with" and use.in_tests != (asked.tests == "only"):
        return False
    return not asked.in_ or covers(tuple(asked.in_), shown(use.path))


def _note(sentence: str) -> str:
    return f"note: {sentence}"


def _data(echo: str, shown: Any, uses: "list[Use]", found: "Uses") -> dict[str, Any]:  # noqa: ANN401
    def row(each: "Use") -> dict[str, Any]:
        place = {"path": shown(each.path), "line": each.line + 1, "in": each.around}
        return place | ({"role": each.role} if each.role else {}) | {"source": each.source}

    return {
        "symbol": echo,
        "total": len(found.items),
        "uses": [row(each) for each in uses],
        "unaccounted": [
            {
                "reason": each.unaccounted.reason.value,
                "count": each.unaccounted.count,
                "places": [row(place) for place in each.places],
            }
            for each in found.left
        ],
        "notes": list(found.notes),
    }
