"""One call of a ``code`` tool for a person: in the project of the current folder, in words."""

import argparse
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from sightline.calls.calls import Caller
from sightline.cli.commands.call import run_call, text_of
from sightline.cli.exits import CommandError, Exit, exit_for, fail
from sightline.cli.folders import Folders
from sightline.cli.loops import plain_runner
from sightline.cli.main import add_common
from sightline.cli.plain import plain_source, write_json
from sightline.cli.start import build_program, configuration_from, roots_from
from sightline.protocol.jsonrpc import Error
from sightline.protocol.revisions import NEWEST
from sightline.protocol.surface import ClientOptions
from sightline.server.logs import Log

if TYPE_CHECKING:
    from sightline.workspace.roots import Root

__all__ = ["add_shared", "call_tool"]

#: People scroll; what an agent pays for by the token costs them nothing.
_BUDGET = 60_000


def add_shared(parser: argparse.ArgumentParser) -> None:
    """The options of every command that asks a ``code`` tool."""
    parser.add_argument("--page", metavar="PAGE", help="what stands behind more: page=")
    parser.add_argument("--json", action="store_true", help="as one line of JSON")
    parser.add_argument(
        "--root", action="append", default=[], metavar="DIR", help="folder to answer about"
    )
    add_common(parser)


def call_tool(
    arguments: argparse.Namespace,
    tool: str,
    given: "Callable[[list[Root]], dict[str, object]]",
    code: Callable[[str], Exit] = lambda text: Exit.OK,
) -> int:
    """Prints the answer and gives the exit code, which ``code`` tells by what was answered.

    ``given`` makes the tool's arguments of the roots; those that are ``None`` are left out.
    """
    folders = Folders(os.environ)
    configuration = configuration_from(arguments, folders)
    if "code" not in configuration.settings.families:
        raise CommandError("the code family is switched off; see sightline settings")
    roots = roots_from(arguments.root, configuration, folders)
    asked = {key: value for key, value in given(roots).items() if value is not None}
    paged = {"budget": _BUDGET} | ({"page": arguments.page} if arguments.page else {})
    program = build_program(configuration, roots, folders, Log())
    options = ClientOptions(tool_names=configuration.settings.tool_names)
    caller = Caller(options, NEWEST, data=arguments.json)
    with plain_runner() as runner:
        call = run_call(program, tool, {**asked, **paged}, caller, wait=0.0)
        finished = runner.run(call)
    if finished.failure is not None:
        first, *rest = finished.failure.advice.split("\n")
        exit_code = fail(first, exit_for(finished.failure))
        print("".join(f"{plain_source(line)}\n" for line in rest), end="", file=sys.stderr)
        return exit_code
    assert not isinstance(finished.outcome, Error)
    text = text_of(finished.outcome)
    if arguments.json:
        write_json(text.encode())
    else:
        print("\n".join(map(plain_source, text.split("\n"))))
    return int(code(text))
