"""``context.inspect_cache``: what a cache says of itself, and whether it is true."""

from msgspec import Struct

from sightline.tools.tool import Desk, Question, ToolInfo, Whole
from sightline.workspace.view import View

INFO = ToolInfo(
    name="context.inspect_cache",
    family="context",
    title="Inspect a context cache",
    description=(
        "Tells a context cache's version, document count and size, and whether every document is "
        "what its manifest says."
    ),
    schema_version=1,
    epochs=(),
    repeatable=False,
)


class InspectArguments(Struct, frozen=True):
    cache: str


class ContextInspectCache:
    info = INFO
    arguments = InspectArguments

    def ask(self, view: View, arguments: InspectArguments) -> Question[InspectArguments]:
        return Question(arguments, (arguments.cache,))

    async def answer(self, desk: Desk, question: Question[InspectArguments]) -> Whole:
        return Whole(await desk.caches.inspect(question.arguments.cache))
