"""``context.resolve``: the documents of a cache that fit a query and a token budget."""

from msgspec import Struct

from sightline.contract.failures import InvalidBudget
from sightline.tools.tool import Desk, Question, ToolInfo, Whole
from sightline.workspace.view import View

INFO = ToolInfo(
    name="context.resolve",
    family="context",
    title="Resolve context",
    description=(
        "Selects documents from a context cache for a query, best first, within a token budget. "
        "Same cache, query and budget: same bytes."
    ),
    schema_version=1,
    epochs=(),
    repeatable=False,
    refusals={("/budget", "minimum"): InvalidBudget},
)


class ResolveArguments(Struct, frozen=True):
    cache: str
    query: str
    budget: int


class ContextResolve:
    info = INFO
    arguments = ResolveArguments

    def ask(self, view: View, arguments: ResolveArguments) -> Question[ResolveArguments]:
        return Question(arguments, (arguments.cache, arguments.query, arguments.budget))

    async def answer(self, desk: Desk, question: Question[ResolveArguments]) -> Whole:
        asked = question.arguments
        return Whole(await desk.caches.resolve(asked.cache, asked.query, asked.budget))
