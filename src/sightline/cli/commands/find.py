"""``sightline find``: declarations, lines or places, as the tool of the same name."""

import argparse

import msgspec

from sightline.cli.code_calls import add_shared, call_tool
from sightline.cli.exits import Exit
from sightline.cli.main import make_parser

_KINDS = ("auto", "name", "text", "pattern", "meaning")
_RANKINGS = ("words", "full", "auto")


def parser(name: str) -> argparse.ArgumentParser:
    made = make_parser(
        name,
        "Finds declarations by name, every line with a text or a pattern, or the places that a "
        "question in plain words is about. Builds the index where there is none.",
        "sightline find Cart.add",
    )
    made.add_argument("query", metavar="QUERY", help="a name, a text, a pattern or a question")
    made.add_argument("--kind", choices=_KINDS, help="what QUERY is (default: auto)")
    made.add_argument("--in", action="append", dest="globs", metavar="GLOB", help="only there")
    made.add_argument("--ranking", choices=_RANKINGS, help="for questions: how places are ranked")
    add_shared(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    given = {
        "query": arguments.query,
        "kind": arguments.kind,
        "in": arguments.globs,
        "ranking": arguments.ranking,
    }
    is_miss = _is_miss_as_data if arguments.json else _is_miss
    return call_tool(
        arguments,
        "find",
        lambda roots: given,
        lambda text: Exit.NOT_FOUND if is_miss(text) else Exit.OK,
    )


def _is_miss(text: str) -> bool:
    return text.startswith(("nothing is ", "no line "))


def _is_miss_as_data(text: str) -> bool:
    data = msgspec.json.decode(text)
    return not any(data.get(each) for each in ("symbols", "files", "places"))
