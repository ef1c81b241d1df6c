"""``context.list_caches``: the caches that can be named."""

from msgspec import Struct

from sightline.tools.tool import Desk, Question, ToolInfo, Whole
from sightline.workspace.view import View

INFO = ToolInfo(
    name="context.list_caches",
    family="context",
    title="List context caches",
    description="Lists the context caches of this server and whether each has a manifest.",
    schema_version=1,
    epochs=(),
    repeatable=False,
)


class ListArguments(Struct, frozen=True):
    pass


class ContextListCaches:
    info = INFO
    arguments = ListArguments

    def ask(self, view: View, arguments: ListArguments) -> Question[ListArguments]:
        return Question(arguments, ())

    async def answer(self, desk: Desk, question: Question[ListArguments]) -> Whole:
        return Whole(await desk.caches.listing())
