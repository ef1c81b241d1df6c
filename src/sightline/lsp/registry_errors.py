"""What is wrong with an entry of the registry, in the words of whoever wrote it.

The library that reads entries says what it expected in its own terms; here that becomes the key as
it stands in the file, what it takes, and for a key that there is not, the one that was meant.
"""

import re
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin, get_type_hints

from msgspec import Struct

from sightline.contract.texts import did_you_mean

__all__ = ["in_plain_words"]

_PLACE = re.compile(r" - at (?P<key>`key` in )?`\$(?P<path>[^`]*)`$")
_UNKNOWN = re.compile(r"unknown field `(.*)`")
_MISSING = re.compile(r"missing required field `(.*)`")
_CHOICE = re.compile(r"Invalid enum value (.*)", re.DOTALL)
_KIND = re.compile(r"Expected `([^`]*)`(?:, got `([^`]*)`)?(.*)")
_KINDS = {
    "array": "a list",
    "object": "a table",
    "str": "a text in quotes",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
}


def in_plain_words(where: str, said: str, kind: type[Any]) -> str:
    """What the library said about the entry at ``where``, which is to be a ``kind``."""
    place = _PLACE.search(said)
    path = place["path"] if place else ""
    said = said[: place.start()] if place else said
    key, wanted = where + path.replace("[...]", ".*"), _kind_at(kind, path)
    if unknown := _UNKNOWN.search(said):
        hint = did_you_mean(unknown[1], _fields(wanted))
        return f"{key}: there is no key {unknown[1]!r}" + (f"; {hint}" if hint else "")
    if missing := _MISSING.search(said):
        return f"{key}: {missing[1]} is missing"
    if choice := _CHOICE.search(said):
        taken = f"takes {', '.join(_choices(wanted, keys=bool(place and place['key'])))}"
        return f"{key} {taken}; not {choice[1]}"
    if expected := _KIND.search(said):
        need, got, bounds = expected.groups()
        wrong = f", not {_words(got)}" if got else ""
        return f"{key} must be {_words(need)}{bounds}{wrong}"
    return f"{key}: {said}"


def _words(kinds: str) -> str:
    parts = [part for part in kinds.split(" | ") if part != "null"]
    return " or ".join(_KINDS.get(part, part) for part in parts)


def _kind_at(kind: Any, path: str) -> Any:  # noqa: ANN401 - annotations are any object
    """The annotation of what stands at a path such as ``.troubles[0].says``."""
    for name in re.findall(r"\.(\w+)|\[[^\]]*\]", path):
        if not name:
            kind = get_args(kind)[-1 if get_origin(kind) is dict else 0]
        else:
            kind = get_type_hints(kind)[name]
    return kind


def _fields(kind: Any) -> tuple[str, ...]:  # noqa: ANN401
    known = isinstance(kind, type) and issubclass(kind, Struct)
    return kind.__struct_fields__ if known else ()


def _choices(kind: Any, *, keys: bool) -> Iterator[str]:  # noqa: ANN401
    if keys:
        kind = get_args(kind)[0]
    parts = get_args(kind)
    if get_origin(kind) is Literal:
        yield from (repr(part) for part in parts)
    else:
        for part in parts:
            yield from _choices(part, keys=False)
