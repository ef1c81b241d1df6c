"""The page of the command line: every command with its own help."""

import os

from sightline.cli.exits import Exit
from sightline.cli.main import help_text
from sightline.cli.shape import shapes

__all__ = ["EXITS", "commands_page"]

#: What each way to end means.
EXITS = {
    Exit.OK: "done",
    Exit.ERRORS: "check lists errors in the code",
    Exit.USAGE: "the command line is wrong; its usage is printed",
    Exit.REFUSED: "refused or invalid: outside the roots, a bad setting, a file that is not changed",
    Exit.NOT_FOUND: "not found: no such file or position, no index, nothing is running",
    Exit.NOT_READY: "not ready or timed out; the same command can succeed later",
    Exit.MISSING: "something is not installed; the message names it",
    Exit.INTERNAL: "a bug in Sightline",
    Exit.INTERRUPTED: "interrupted, by Ctrl-C for example; a server that runs is stopped by it, which is 0",
}


def commands_page() -> str:
    """Help is wrapped for eighty columns whatever the terminal."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "80"
    try:
        return _page()
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before


def _page() -> str:
    parts = ["# Commands", f"```text\n{help_text()}\n```"]
    for shape in shapes():
        parts += [f"{'#' * (len(shape.path) + 1)} sightline {' '.join(shape.path)}"]
        parts += [f"```text\n{shape.parser.format_help().rstrip()}\n```"]
    rows = [f"| {int(code)} | {meaning} |" for code, meaning in EXITS.items()]
    parts += [
        "## Exit codes",
        "\n".join(["| code | meaning |", "|---|---|", *rows]),
        (
            "Errors go to standard error: one sentence that names the next step, or, for `call`, one "
            "line of JSON with the error as a client would get it."
        ),
    ]
    return "\n\n".join(parts)
