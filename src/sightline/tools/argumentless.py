"""What the tools that take no arguments have in common."""

from msgspec import Struct

from sightline.tools.tool import Question
from sightline.workspace.view import View

__all__ = ["Argumentless", "NoArguments"]


class NoArguments(Struct, frozen=True):
    pass


class Argumentless:
    """A tool of which there is only one question."""

    arguments = NoArguments

    def ask(self, view: View, arguments: NoArguments) -> Question[NoArguments]:
        return Question(arguments, ())
