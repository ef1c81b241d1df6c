"""A string in quotes inside an error message, with everything that does not show spelled out.

>>> quoted('a"b\\n\\u200b')
'"a\\\\"b\\\\n\\\\u{200b}"'
"""

import unicodedata

__all__ = ["quoted"]

_NAMED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}
#: Marks that join the character before them although they are not of a combining category.
_JOINING = frozenset(
    "\u09be\u09d7\u0b3e\u0b57\u0bbe\u0bd7\u0cc0\u0cc2\u0cc7\u0cc8\u0cca\u0ccb\u0cd5\u0cd6\u0d3e"
    "\u0d57\u0dcf\u0ddf\u1715\u1734\u1b35\u1b3b\u1b3d\u1b43\u1b44\u1baa\u1bf2\u1bf3\u200c\u302e"
    "\u302f\ua953\ua9c0\uff9e\uff9f"
)


def quoted(text: str) -> str:
    """The text between double quotes."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(map(_shown, text)) + '"'


def _shown(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    combines = unicodedata.category(character) in ("Mn", "Me") or character in _JOINING
    if combines or not character.isprintable():
        return f"\\u{{{ord(character):x}}}"
    return character
