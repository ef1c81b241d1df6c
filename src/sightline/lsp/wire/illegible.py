"""What can be told of a message that is no JSON, or nests deeper than anybody reads.

Names and texts of a project end up in what its servers say. Some spell half of a character that
takes two UTF-16 units, or nest as deeply as the code does; what is wrong in one message says
nothing of the next one. So halves are replaced, and of what still cannot be read it is found out
whom it is for. Nothing in it is believed, and nothing is guessed: where its parts cannot be told
apart, it is for nobody.
"""

import re
from typing import Any

import msgspec

from sightline.lsp.wire.messages import Envelope

__all__ = ["UNREADABLE", "addressed", "members", "paired", "read"]

#: What reading somebody's JSON ends in: too many brackets inside each other are refused, too.
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

#: No value at all, which nobody can read.
_NOTHING = msgspec.Raw(b"")

_HIGH, _LOW = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_UNPAIRED = re.compile(rb"%b(?!%b)|(?<!%b)%b" % (_HIGH, _LOW, _HIGH, _LOW))

_KEY = re.compile(rb'\s*"([^"\\]{1,40})"\s*:\s*')
_SCALAR = re.compile(rb"[^\s\"\\\[\]{},:]+")
_MARK = re.compile(rb'\\.|["\[\]{}]', re.DOTALL)
_CLOSING = {b"[": b"]", b"{": b"}"}
_NEXT = re.compile(rb"\s*,")
#: So many marks are passed over in one value, which takes part of a second.
_MOST = 1_000_000


def paired(body: bytes | bytearray) -> bytes:
    """The message with every half of a character replaced.

    >>> print(paired(rb'["\\ud83d\\ude00", "\\ud83d\\ud83d\\ude00\\ude00", "\\\\ud83d"]').decode())
    ["\\ud83d\\ude00", "\\ufffd\\ud83d\\ude00\\ufffd", "\\u005cud83d"]
    """
    # Where none stands for itself, every backslash begins an escape.
    escapes = bytes(body).replace(rb"\\", rb"\u005c")
    return _UNPAIRED.sub(rb"\\ufffd", escapes)


def addressed(body: bytes) -> Envelope | None:
    """Whose answer it is, or what was asked or said. An answer comes without a result, and what is
    asked without anything; what was said comes with all there is, which may be unreadable.

    >>> addressed(b'{"id": 7, "result": [}').id
    7
    >>> addressed(b'[{"id": 7, "result": []}]')
    """
    found = members(body)
    number: int | str | None = read(found.get("id"), int | str)
    method: str | None = read(found.get("method"), str)
    if method is not None:
        said = _NOTHING if number is not None else msgspec.Raw(found.get("params", b""))
        return Envelope(number, method, said)
    answers = number is not None and not found.keys().isdisjoint(("result", "error"))
    return Envelope(number, result=_NOTHING) if answers else None


def members(value: bytes) -> dict[str, bytes]:
    """The members of an object, up to the first that has no end: that one is all the rest.

    >>> members(b'{"a": [1, {}], "b": "\\t", "c": 1] ')
    {'a': b'[1, {}]', 'b': b'"\\t"', 'c': b'1'}
    """
    found: dict[str, bytes] = {}
    opening = re.match(rb"\s*\{", value)
    at = opening.end() if opening is not None else len(value)
    while key := _KEY.match(value, at):
        end = _end(value, key.end())
        found[key[1].decode(errors="replace")] = value[key.end() : end]
        after = _NEXT.match(value, end) if end is not None else None
        if after is None:
            break
        at = after.end()
    return found


def read(value: bytes | None, type: Any) -> Any:  # noqa: ANN401 - any type
    """A value of this type, or ``None`` if it is none."""
    try:
        return None if value is None else msgspec.json.decode(value, type=type)
    except UNREADABLE:
        return None


def _end(value: bytes, begin: int) -> int | None:
    """Where the value ends that begins here, or ``None``."""
    scalar = _SCALAR.match(value, begin)
    if scalar is not None:
        return scalar.end()
    closing: list[bytes] = []
    is_text = False
    for number, mark in enumerate(_MARK.finditer(value, begin)):
        if number == _MOST:
            return None
        sign = mark[0]
        if sign == b'"':
            is_text = not is_text
        elif is_text or len(sign) > 1:
            continue
        elif sign in _CLOSING:
            closing.append(_CLOSING[sign])
        elif not closing or closing.pop() != sign:
            return None
        if not is_text and not closing:
            return mark.end()
    return None
