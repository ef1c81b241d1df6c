"""The JSON of a command line: a tool's arguments, or where they stop being JSON.

It is as strict as the protocol is: nothing that two readers could understand in two ways.
"""

import json
from typing import Any

from sightline.cli.exits import CommandError, Exit
from sightline.protocol import jsonrpc
from sightline.protocol.jsonrpc import Malformed

__all__ = ["json_object"]

_EXAMPLE = """write them like '{"query": "Parser"}'"""
_SHOWN = 12


def json_object(text: str) -> dict[str, Any]:
    try:
        value = jsonrpc.parse(text.encode("utf-8", "surrogateescape"))
    except Malformed:
        why = f"the arguments are not strict JSON: {_fault(text)}; {_EXAMPLE}"
        raise CommandError(why, Exit.USAGE) from None
    if not isinstance(value, dict):
        raise CommandError(f"the arguments must be a JSON object; {_EXAMPLE}", Exit.USAGE)
    return value


def _fault(text: str) -> str:
    """What is wrong, and where. Python's reader knows that, and takes more than is strict.

    >>> _fault('{"a":}')
    "expecting value at line 1, column 6, before '}'"
    >>> _fault('{"a":1, "a":1}')
    'a name stands twice, a number has no value, a character is half a pair, or it is too deep'
    """
    if any("\udc80" <= each <= "\udcff" for each in text):  # how Python spells other bytes
        return "it is not UTF-8"
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        rest = text[error.pos : error.pos + _SHOWN].split("\n", maxsplit=1)[0]
        before = f"before {rest!r}" if rest else "at the end"
        # Some of what it says is made to stand before a place.
        said = error.msg[:1].lower() + error.msg[1:].removesuffix(" at").rstrip(": ")
        return f"{said} at line {error.lineno}, column {error.colno}, {before}"
    except (ValueError, RecursionError):
        return "it is too deep, or a number is too long"
    return (
        "a name stands twice, a number has no value, a character is half a pair, or it is too deep"
    )
