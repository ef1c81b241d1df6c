"""``context.resolve``: what fits a query and a token budget, from a cache or the live index."""

from msgspec import Struct

from sightline.context.engine import LIVE
from sightline.contract.failures import CacheMissing, InvalidBudget, Unavailable
from sightline.tools.tool import Desk, Question, ToolInfo, Whole
from sightline.workspace.view import SOURCE_EPOCHS, View

INFO = ToolInfo(
    name="context.resolve",
    family="context",
    title="Resolve context",
    description=(
        "Selects what to read for a query within a token budget, best first: documents of a "
        "context cache or, with cache workspace:NAME (a served folder's last component), code from "
        "its index: declarations in full or as signatures, with their classes and what they call."
    ),
    schema_version=1,
    epochs=SOURCE_EPOCHS,
    repeatable=False,
    elsewhere=lambda arguments: not arguments.cache.startswith(LIVE),
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
        if not asked.cache.startswith(LIVE):
            return Whole(await desk.caches.resolve(asked.cache, asked.query, asked.budget))
        try:
            index = await desk.index()
        except Unavailable:  # the family is not served
            raise CacheMissing from None
        return Whole(
            await desk.caches.resolve_live(
                index, asked.cache.removeprefix(LIVE), asked.query, asked.budget, desk.progress
            )
        )
