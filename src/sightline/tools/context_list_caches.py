"""``context.list_caches``: the caches that can be named."""

from sightline.tools.argumentless import Argumentless, NoArguments
from sightline.tools.tool import Desk, Question, ToolInfo, Whole

INFO = ToolInfo(
    name="context.list_caches",
    family="context",
    title="List context caches",
    description=(
        "Lists the context caches of this server and whether each has a manifest. workspace:NAME, "
        "which has none, is the code of a served folder, for context.resolve alone."
    ),
    schema_version=1,
    epochs=(),
    repeatable=False,
)


class ContextListCaches(Argumentless):
    info = INFO

    async def answer(self, desk: Desk, question: Question[NoArguments]) -> Whole:
        return Whole(await desk.caches.listing())
