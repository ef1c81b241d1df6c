"""What stands in the way of complete answers, and the step that mends it.

A server that lacks something of a project answers from the rest. Such an answer is passed on with a
sentence that says so; nothing here decides what is lacking.
"""

from typing import NamedTuple

__all__ = ["Shortcoming"]


class Shortcoming(NamedTuple):
    #: For callers: constant for a state of the project, without words of the server.
    sentence: str
    #: For people, in ``sightline doctor``.
    fix: str = ""
    #: Whether references look for their name in what it concerns, and need not say it.
    by_name: bool = False
