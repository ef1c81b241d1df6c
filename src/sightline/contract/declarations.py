"""Which places of a symbol are its declaration, for callers who want its uses only.

The protocol leaves it to servers what ``includeDeclaration`` leaves out, and they disagree: ty
drops imports and some assignments, tsgo imports and members that implement others, pyright, vtsls
and bash the place that was asked about. Here it is one thing: the places that a definition request
names. Imports, exports and assignments are uses.

A definition request in Python names every assignment of a variable, of which the first in a file
declares it. A variable of a shell is declared nowhere.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from sightline.contract.orders import location_key
from sightline.contract.texts import column_of
from sightline.contract.uris import path_in
from sightline.contract.values import Location

__all__ = ["TextOf", "without_declarations"]

#: The text of a document by its URI; nothing if it cannot be read.
TextOf = Callable[[str], str | None]
#: Its lines, found once for all places in it.
_LinesOf = Callable[[str], Sequence[str]]

_STATED = re.compile(r"(?:^|\s)(?:def|class)\s+$")
_OWNER = re.compile(r"\s*(?:\w+\.)?")
_ASSIGNED = re.compile(r"\w+\s*(?::|=(?!=))")
_FUNCTION = re.compile(r"(?:^|\s)function\s+$")
_PARENTHESES = re.compile(r"[^\s(]+\s*\(\s*\)")


def without_declarations(
    found: Sequence[Location], definitions: Iterable[Location], language: str, text_of: TextOf
) -> list[Location]:
    """The places of a symbol that do not declare it.

    ``definitions`` is what the same server names for the same question, ``language`` the protocol's
    id of the language.
    """
    named = {_start(place) for place in definitions}
    lines_of = cache(lambda uri: _lines(text_of(uri) or ""))
    columns = {start[1:] for start in named}
    there = [place for place in found if _column(place) in columns]  # most are not
    declared = sorted((place for place in there if _start(place) in named), key=location_key)
    if language == "python":
        declared = _in_python(declared, found, lines_of)
    elif language == "shellscript":
        # A definition begins with the word `function`, where there is one.
        lines = {start[:2] for start in named}
        there = [place for place in found if _start(place)[:2] in lines]
        declared = [place for place in there if _is_function(place, lines_of)]
    left_out = set(declared)
    return [place for place in found if place not in left_out]


def _in_python(
    named: Sequence[Location], found: Sequence[Location], lines_of: _LinesOf
) -> list[Location]:
    """Every ``def`` and ``class`` there; where there is none, the first assignment of each file."""
    files = {place.uri for place in named}
    # Of overloads, and of assignments, a server may name one.
    there = {place: _around(place, lines_of) for place in found if place.uri in files}
    stated = [place for place, (before, _) in there.items() if _STATED.search(before)]
    if stated:
        return stated
    assigned = (
        place
        for place, (before, after) in there.items()
        if _OWNER.fullmatch(before) and _ASSIGNED.match(after)
    )
    first: dict[str, Location] = {}
    for place in sorted({*named, *assigned}, key=location_key):
        first.setdefault(place.uri, place)
    return list(first.values())


def _is_function(place: Location, lines_of: _LinesOf) -> bool:
    before, after = _around(place, lines_of)
    return bool(_FUNCTION.search(before) or _PARENTHESES.match(after))


def _around(place: Location, lines_of: _LinesOf) -> tuple[str, str]:
    """The line that a place starts in, before and after its start."""
    start = place.range.start
    lines = lines_of(place.uri)
    line = lines[start.line] if start.line < len(lines) else ""
    column = column_of(line, start.character)
    return line[:column], line[column:]


def _lines(text: str) -> Sequence[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _start(place: Location) -> tuple[str, int, int]:
    # Servers spell one file in several ways.
    return path_in(place.uri), *_column(place)


def _column(place: Location) -> tuple[int, int]:
    return place.range.start.line, place.range.start.character
