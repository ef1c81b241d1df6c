"""Exit codes, and how an error reaches a person or a program. Codes are part of the contract."""

import json
import sys
from enum import IntEnum
from typing import Any

from sightline.cli.plain import plain, plain_json
from sightline.contract import failures as f
from sightline.contract.failures import Failure

__all__ = ["CommandError", "Exit", "exit_for", "fail"]


class Exit(IntEnum):
    OK = 0
    #: ``check`` found errors in the code.
    ERRORS = 1
    USAGE = 2
    REFUSED = 3
    NOT_FOUND = 4
    NOT_READY = 5
    MISSING = 6
    INTERNAL = 7
    INTERRUPTED = 130


class CommandError(Exception):
    """A command that cannot go on. The text names the cause and the next step."""

    def __init__(self, message: str, code: Exit = Exit.REFUSED) -> None:
        super().__init__(message)
        self.code = code


_CODES: dict[type[Failure], Exit] = {
    f.NotFound: Exit.NOT_FOUND,
    f.NoIndex: Exit.NOT_FOUND,
    f.UriInvalid: Exit.NOT_FOUND,
    f.CacheMissing: Exit.NOT_FOUND,
    f.NotReady: Exit.NOT_READY,
    f.TimedOut: Exit.NOT_READY,
    f.Overloaded: Exit.NOT_READY,
    f.Unavailable: Exit.MISSING,
    f.Bug: Exit.INTERNAL,
    f.Cancelled: Exit.INTERRUPTED,
}


def exit_for(failure: Failure) -> Exit:
    return _CODES.get(type(failure), Exit.REFUSED)


def fail(message: str, code: Exit, *, data: dict[str, Any] | None = None) -> int:
    """Tells the error on standard error: one JSON line with ``data``, else a sentence."""
    if data is None:
        print(f"sightline: {plain(message)}", file=sys.stderr)
    else:
        line = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        print(plain_json(line), file=sys.stderr)
    return int(code)
