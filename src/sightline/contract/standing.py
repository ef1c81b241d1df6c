"""What stands at a place of a text, for whoever asked about a place where nothing was found.

Columns are easily miscounted, and then "0 references" reads like a symbol that nobody uses. What a
word is can be told without the language: letters, digits and ``_``, the first no digit. Whether it
is a keyword, or stands in a comment, is not known here.
"""

import re
from typing import NamedTuple

from sightline.contract.texts import column_of, line_length_utf16, line_text
from sightline.contract.values import Position

__all__ = ["no_name_at", "no_symbol_at"]

_WORD = re.compile(r"(?<!\w)[^\W\d]\w*")
#: So many other words of the line are named, the nearest; none that is longer or farther off.
_NAMED = 3
_LONGEST = 60
_FAR = 500


class _Words(NamedTuple):
    """The word at a place, or at whose end it is, and the nearest others of its line."""

    here: str
    others: str


def no_name_at(text: str, position: Position) -> str:
    """A sentence for a place that is in no word and at the end of none; nothing for any other.

    >>> no_name_at("  café = area(1)", Position(0, 8))
    'There is no name at this position; near it: `café` at character 2, `area` at character 9.'
    >>> no_name_at("}", Position(0, 0)), no_name_at("area", Position(0, 4))
    ('There is no name at this position, nor near it in its line.', '')
    """
    here, others = _words(text, position)
    if here:
        return ""
    near = f"; near it: {others}." if others else ", nor near it in its line."
    return f"There is no name at this position{near}"


def no_symbol_at(text: str, position: Position) -> str:
    """A sentence for a place where nobody knows of a symbol.

    >>> no_symbol_at("def area():", Position(0, 1))
    'The word at this position (`def`) is not known as a symbol, perhaps a keyword or in a \
comment or text; near it: `area` at character 4.'
    """
    here, others = _words(text, position)
    if not here:
        return no_name_at(text, position)
    word = f" (`{here}`)" if len(here) <= _LONGEST else ""
    near = f"; near it: {others}" if others else ""
    return (
        f"The word at this position{word} is not known as a symbol, perhaps a keyword or in a "
        f"comment or text{near}."
    )


def _words(text: str, position: Position) -> _Words:
    line = line_text(text, position.line) or ""
    column = column_of(line, position.character)
    here, others = "", list[tuple[int, int, str]]()
    for word in _WORD.finditer(line, max(0, column - _FAR), column + _FAR):
        start, end = word.span()
        if start <= column <= end:
            here = word[0]
        elif end - start <= _LONGEST and end < column + _FAR:
            others.append((max(start - column, column - end), start, word[0]))
    nearest = sorted((start, word) for _, start, word in sorted(others)[:_NAMED])
    said = [f"`{word}` at character {line_length_utf16(line[:at])}" for at, word in nearest]
    return _Words(here, ", ".join(said))
