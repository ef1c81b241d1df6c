"""``sightline uses`` and ``sightline read``: the tools of the same names, for people."""

import argparse
import os
import sys

from sightline.calls.calls import Caller
from sightline.cli.commands.call import run_call, text_of
from sightline.cli.exits import CommandError, Exit, exit_for, fail
from sightline.cli.folders import Folders
from sightline.cli.loops import plain_runner
from sightline.cli.main import add_common, make_parser
from sightline.cli.plain import plain_source, write_json
from sightline.cli.start import build_program, configuration_from, roots_from
from sightline.protocol.jsonrpc import Error
from sightline.protocol.revisions import NEWEST
from sightline.protocol.surface import ClientOptions
from sightline.server.logs import Log
from sightline.symbols.roles import ROLES

_USES = """Every use of a symbol in this project, complete or refused. NAME is Cart.add, \
shop.cart.Cart.add, PATH::Cart.add, PATH:LINE, PATH:LINE:NAME or PATH:LINE:COLUMN."""
_READ = """The source, the outline or the type of a symbol, by its name. NAME may also be a file \
or a folder."""
_ABOUT = {
    "uses": (_USES, "sightline uses Cart.add --tests without"),
    "read": (_READ, "sightline read Cart --show outline"),
}
#: People scroll; what an agent pays for by the token costs them nothing.
_BUDGET = 60_000


def parser(name: str) -> argparse.ArgumentParser:
    made = make_parser(name, *_ABOUT[name])
    made.set_defaults(tool=name)
    made.add_argument("of", nargs="+", metavar="NAME", help="what to look at")
    if name == "uses":
        made.add_argument("--role", action="append", choices=ROLES, help="only uses that do this")
        made.add_argument(
            "--tests",
            choices=("with", "only", "without"),
            help="with tests (default), only, without",
        )
        made.add_argument("--in", action="append", dest="globs", metavar="GLOB", help="only there")
    else:
        made.add_argument("--show", choices=("source", "outline", "type"), help="what to print")
    made.add_argument("--json", action="store_true", help="as one line of JSON")
    made.add_argument(
        "--root", action="append", default=[], metavar="DIR", help="folder to answer about"
    )
    add_common(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    folders = Folders(os.environ)
    configuration = configuration_from(arguments, folders)
    if "code" not in configuration.settings.families:
        raise CommandError("the code family is switched off; see sightline settings")
    roots = roots_from(arguments.root, configuration, folders)
    program = build_program(configuration, roots, folders, Log())
    options = ClientOptions(tool_names=configuration.settings.tool_names)
    caller = Caller(options, NEWEST, data=arguments.json)
    with plain_runner() as runner:
        finished = runner.run(
            run_call(program, arguments.tool, _given(arguments), caller, wait=0.0)
        )
    if finished.failure is not None:
        first, *rest = finished.failure.advice.split("\n")
        code = fail(first, exit_for(finished.failure))
        print("".join(f"{plain_source(line)}\n" for line in rest), end="", file=sys.stderr)
        return code
    assert not isinstance(finished.outcome, Error)
    text = text_of(finished.outcome)
    if arguments.json:
        write_json(text.encode())
    else:
        print("\n".join(map(plain_source, text.split("\n"))))
    return int(Exit.OK)


def _given(arguments: argparse.Namespace) -> dict[str, object]:
    if arguments.tool == "uses":
        asked = {"roles": arguments.role, "tests": arguments.tests, "in": arguments.globs}
    else:
        asked = {"show": arguments.show}
    given = {key: value for key, value in asked.items() if value is not None}
    return {"of": arguments.of, "budget": _BUDGET, **given}
