"""The identifier at a position."""

import re

from sightline.contract.texts import column_of, line_text
from sightline.contract.values import Position

__all__ = ["name_at"]

_WORD = re.compile(r"[^\W\d]\w*")
#: In JavaScript and TypeScript a dollar is a letter.
_SCRIPT_WORD = re.compile(r"(?:[^\W\d]|\$)[\w$]*")


def name_at(text: str, position: Position, language: str = "") -> str:
    """The name that a position is in, or at the end of; nothing if there is none.

    >>> name_at("a = café + b", Position(0, 8)), name_at("a = b", Position(0, 2))
    ('café', '')
    >>> name_at("$a.b", Position(0, 0), "javascript"), name_at("$a.b", Position(0, 1), "php")
    ('$a', 'a')
    """
    pattern = _SCRIPT_WORD if language.startswith(("javascript", "typescript")) else _WORD
    line = line_text(text, position.line) or ""
    column = column_of(line, position.character)
    for word in pattern.finditer(line):
        if word.end() >= column:
            return word[0] if word.start() <= column else ""
    return ""
