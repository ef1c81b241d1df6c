"""``find``: declarations by name, lines by text or pattern, places by meaning; best first."""

from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field

from sightline.contract.failures import InvalidArguments, NoIndex, NotReady
from sightline.tools.by_name import BUDGET, TOKEN_BYTES
from sightline.tools.tool import Desk, Question, Said, ToolInfo
from sightline.workspace.path_globs import PathGlobs
from sightline.workspace.view import SOURCE_EPOCHS, View

if TYPE_CHECKING:
    from sightline.index.index import Index

INFO = ToolInfo(
    name="find",
    family="code",
    title="Find code",
    description="Declarations by name, every line with a text or a pattern (RE2), or the places "
    "that a question in plain words is about; best first, tests last. kind says which; without it "
    "a name is looked up as a name and a sentence as a question.",
    schema_version=1,
    epochs=SOURCE_EPOCHS,
)

Kind = Literal["auto", "name", "text", "pattern", "meaning"]


class FindArguments(Struct, frozen=True):
    query: str
    kind: Kind = "auto"
    in_: list[str] = field(name="in", default=[])
    ranking: Literal["words", "full", "auto"] | None = None
    budget: int = BUDGET
    page: str | None = None


class Find:
    info = INFO
    arguments = FindArguments

    def ask(self, view: View, arguments: FindArguments) -> Question[FindArguments]:
        # In a text or a pattern a blank is a character like any other.
        exactly = arguments.kind in ("text", "pattern")
        query = arguments.query if exactly else arguments.query.strip()
        if not query.strip():
            raise InvalidArguments("query must not be blank")
        if arguments.ranking is not None and arguments.kind not in ("auto", "meaning"):
            raise InvalidArguments("ranking is for kind meaning; other kinds do not rank")
        if arguments.kind == "pattern":
            from sightline.index.searching.scanning import compile_pattern

            compile_pattern(query)
        PathGlobs(arguments.in_, "in")
        fields = (
            query,
            arguments.kind,
            *(f"in:{glob}" for glob in arguments.in_),
            f"ranking:{arguments.ranking or 'auto'}",
        )
        return Question(arguments, fields, notes=query, budget=arguments.budget * TOKEN_BYTES)

    async def answer(self, desk: Desk, question: Question[FindArguments]) -> Said:
        from sightline.tools import found

        index, symbols = await _built(desk), await desk.symbols()
        asked = question.arguments
        ranking = asked.ranking or "auto"
        search = found.Asked(desk, index, symbols, question.notes, asked.in_, ranking)
        match asked.kind:
            case "name":
                return await search.names()
            case "text":
                return await search.lines("literal")
            case "pattern":
                return await search.lines("regex")
            case "meaning":
                return await search.places()
            case "auto":
                return await search.anything()


async def _built(desk: Desk) -> "Index":
    """The index. Where there is none it is built, and this call is tried again until it is."""
    index = await desk.index()
    try:
        await index.ready(desk.progress)
    except NoIndex as missing:
        index.build_ahead()
        done, total = (missing.details[key] for key in ("filesIndexed", "filesTotal"))
        assert isinstance(done, int)
        assert isinstance(total, int)
        desk.progress("indexing", phase="index", done=done, total=total)
        raise NotReady(_building(done, total), waiting_for="the index") from None
    return index


def _building(done: int, total: int) -> str:
    """What to do while the first index of a workspace is built."""
    far = f"{done:,} of {total:,} files are in it" if total else "it has just begun"
    return (
        f"the first index of this workspace is being built ({far}); ask again in a moment, it "
        "goes on meanwhile and keeps what is done"
    )
