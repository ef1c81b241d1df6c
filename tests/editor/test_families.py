"""Test families written for the headless source, run unchanged against the editor source.

The functions are the same objects; only the ``serve`` fixture of this folder is another one. A
window of real language servers answers, so the answers must be the same bytes.
"""

from collections.abc import Iterator
from importlib import import_module
from types import FunctionType

#: Modules whose tests speak to a server over HTTP and do not care who answers.
FAMILIES = ("tests.system.test_definition_everywhere",)
#: Tests that are about something the editor source does not have, and why.
NOT_HERE = {
    "test_over_stdio": "starts sightline stdio, which has no editor",
    "test_from_the_command_line": "starts sightline call, which has no editor",
}


def _tests() -> Iterator[tuple[str, FunctionType]]:
    for family in FAMILIES:
        for name, value in vars(import_module(family)).items():
            if name.startswith("test_") and name not in NOT_HERE:
                yield f"{name}__{family.rpartition('.')[2]}", value


globals().update(_tests())
