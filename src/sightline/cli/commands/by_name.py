"""``sightline uses`` and ``sightline read``: the tools of the same names, for people."""

import argparse

from sightline.cli.code_calls import add_shared, call_tool
from sightline.cli.main import make_parser
from sightline.symbols.roles import ROLES

_USES = """Every use of a symbol in this project, complete or refused. NAME is Cart.add, \
shop.cart.Cart.add, PATH::Cart.add, PATH:LINE, PATH:LINE:NAME or PATH:LINE:COLUMN."""
_READ = """The source, the outline or the type of a symbol, by its name. NAME may also be a file \
or a folder."""
_ABOUT = {
    "uses": (_USES, "sightline uses Cart.add --tests without"),
    "read": (_READ, "sightline read Cart --show outline"),
}


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
    add_shared(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    return call_tool(arguments, arguments.tool, lambda roots: _given(arguments))


def _given(arguments: argparse.Namespace) -> dict[str, object]:
    if arguments.tool == "uses":
        asked = {"roles": arguments.role, "tests": arguments.tests, "in": arguments.globs}
    else:
        asked = {"show": arguments.show}
    return {"of": arguments.of, **asked}
