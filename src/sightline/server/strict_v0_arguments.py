"""Typed arguments out of parsed JSON, refused in the words of the original context server.

>>> try:
...     arguments({"cache": "a", "budget": 1.5}, "ResolveContextParams", RESOLVE)
... except BadArguments as bad:
...     print(bad)
invalid type: floating point `1.5`, expected i64
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from sightline.context.numbers import unexpected_number
from sightline.context.quoting import quoted

__all__ = ["CALL", "INSPECT", "RESOLVE", "BadArguments", "arguments"]

_I64 = range(-(2**63), 2**63)


class BadArguments(Exception):
    """The arguments do not fit. The text says which and why."""


class Argument(NamedTuple):
    name: str
    read: Callable[[Any], Any]
    optional: bool = False


def arguments(value: object, name: str, expected: Sequence[Argument]) -> list[Any]:
    """The arguments in their order, from an object or from a list in that order."""
    if isinstance(value, list):
        return _from_list(value, name, expected)
    if isinstance(value, dict):
        return _from_object(value, expected)
    raise BadArguments(f"invalid type: {_unexpected(value)}, expected struct {name}")


def _from_list(items: list[Any], name: str, expected: Sequence[Argument]) -> list[Any]:
    found: list[Any] = []
    for argument in expected:
        if len(found) == len(items):
            many = "element" if len(expected) == 1 else "elements"
            raise BadArguments(
                f"invalid length {len(items)}, expected struct {name} with {len(expected)} {many}"
            )
        found.append(argument.read(items[len(found)]))
    if len(found) < len(items):
        raise BadArguments(f"invalid length {len(items)}, expected fewer elements in array")
    return found


def _from_object(members: Mapping[str, Any], expected: Sequence[Argument]) -> list[Any]:
    by_name = {argument.name: argument for argument in expected}
    # The members are looked at in the order of their names; that decides which error comes first.
    found = {name: by_name[name].read(members[name]) for name in sorted(members) if name in by_name}
    for argument in expected:
        if argument.name not in found and not argument.optional:
            raise BadArguments(f"missing field `{argument.name}`")
    return [found.get(argument.name) for argument in expected]


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise BadArguments(f"invalid type: {_unexpected(value)}, expected a string")
    return value


def _integer(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadArguments(f"invalid type: {_unexpected(value)}, expected i64")
    if value not in _I64:
        raise BadArguments(f"invalid value: {_unexpected(value)}, expected i64")
    return value


def _unexpected(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return f"boolean `{str(value).lower()}`"
        case int() | float():
            return unexpected_number(value)
        case str():
            return f"string {quoted(value)}"
        case list():
            return "sequence"
        case _:
            return "map"


CALL = (Argument("name", _text), Argument("arguments", lambda value: value, optional=True))
RESOLVE = (Argument("cache", _text), Argument("query", _text), Argument("budget", _integer))
INSPECT = (Argument("cache", _text),)
