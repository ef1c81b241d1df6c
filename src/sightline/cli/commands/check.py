"""``sightline check``: errors and warnings of a project; exits 1 where there are errors."""

import argparse
import os
import re

import msgspec

from sightline.cli.code_calls import add_shared, call_tool
from sightline.cli.exits import CommandError, Exit
from sightline.cli.main import make_parser
from sightline.workspace.roots import Root

_SEVERITIES = ("error", "warning", "info", "hint")
_SPECIAL = re.compile(r"([*?\[\]!\\])")


def parser(name: str) -> argparse.ArgumentParser:
    made = make_parser(
        name,
        "Prints errors and warnings of this project, errors first, and a baseline. With --since "
        "only what is new or fixed since that baseline was printed. Exits 1 where an error is "
        "listed that is there now.",
        "sightline check src --since k7qf4c",
    )
    made.add_argument("paths", nargs="*", metavar="PATH", help="only these files and folders")
    made.add_argument("--since", metavar="BASELINE", help="only what is new or fixed since")
    made.add_argument("--severity", choices=_SEVERITIES, help="the least to list")
    add_shared(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    def given(roots: list[Root]) -> dict[str, object]:
        return {
            "in": [_glob(path, roots) for path in arguments.paths] or None,
            "severity": arguments.severity,
            "since": arguments.since,
        }

    has_errors = _has_errors_as_data if arguments.json else _has_errors
    return call_tool(
        arguments, "check", given, lambda text: Exit.ERRORS if has_errors(text) else Exit.OK
    )


def _glob(path: str, roots: list[Root]) -> str:
    """A path below the current folder as a glob from its root."""
    real = os.path.realpath(path)
    for root in roots:
        if real == root.real:
            return "."
        if real.startswith(root.real + "/"):
            if not os.path.lexists(real):
                raise CommandError(f"there is no {path} here; check the path", Exit.NOT_FOUND)
            return "/" + _SPECIAL.sub(r"\\\1", real[len(root.real) + 1 :])
    raise CommandError(f"{path} is outside the project; pass --root with its folder")


def _has_errors(text: str) -> bool:
    """Whether an error is listed with a line, as those that are fixed are not."""
    return re.search(r"^.+:\d+  error  ", text, re.MULTILINE) is not None


def _has_errors_as_data(text: str) -> bool:
    data = msgspec.json.decode(text)
    return any(each["severity"] == "error" for each in data["diagnostics"] or data["new"] or ())
