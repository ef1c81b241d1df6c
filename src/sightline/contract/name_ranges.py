"""Where in a declaration its name stands, for servers that tell the place of the whole alone.

Whoever asks on about a symbol asks at the beginning of its range, and in ``def area():`` that is a
keyword. Comments, decorators and other words before the name are passed over; a name that is not
found keeps the range it came with. No language is known here, so strings are not told from code.

Texts have symbols by the ten thousand, also all in one line, or each around the next. So what one
symbol takes does not depend on how long its line is, it is not looked for far away, and when much
of a text was gone through in vain, the ranges further down stay what they were.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable
from functools import cache

from sightline.contract.line_starts import LineStarts
from sightline.contract.possessive import possessive
from sightline.contract.texts import line_length_utf16
from sightline.contract.values import Position, Range

__all__ = ["MAX_WORK", "NameRanges", "is_as_long"]

_TEXT = r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|`(?:[^`\\]|\\.)*+`"
#: One that does not end, ends with what is looked through: nothing is looked through twice.
_COMMENT = r"//[^\n\r]*|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)"
#: So deep may brackets be in those of a decorator.
_DEPTH = 4
#: So many characters after the beginning of a declaration its name stands.
_FAR = 8_192
#: So many characters are gone through for all the names of one text: a fraction of a second. Names
#: stand near the beginning of their declarations, so no text that anybody writes comes near.
MAX_WORK = 2_000_000
#: A place where a name might stand costs about as much as so many characters.
_PLACE = 16
#: What takes two units of UTF-16.
_WIDE = re.compile("[\U00010000-\U0010ffff]")
_BLANKS = re.compile(r"\s+")
#: What most declarations begin with, and how much of it is looked at.
_NEAR = 64
_WORDS = re.compile(possessive(r"(?:[A-Za-z]++[ \t]++)++"))


def is_as_long(span: Range, name: str) -> bool:
    """Whether a range that has the name in it is no longer than the name."""
    start, end = span.start, span.end
    return start.line == end.line and end.character - start.character == line_length_utf16(name)


def _has_wide(text: str) -> bool:
    """Whether anything in a text takes two units of UTF-16, found out in less time than where."""
    return not text.isascii() and len(text.encode("utf-16-le", "surrogatepass")) > 2 * len(text)


class NameRanges:
    """The ranges of names in one text.

    >>> ranges = NameRanges("@area(1)\\nasync def area(): ...")
    >>> found = ranges.narrowed(Range(Position(0, 0), Position(1, 21)), "area")
    >>> found.start, found.end
    (Position(line=1, character=10), Position(line=1, character=14))
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = LineStarts(text)
        wide = _WIDE.finditer(text) if _has_wide(text) else ()
        self._wide = [found.start() for found in wide]
        #: The same places, counted in units of UTF-16.
        self._wide_units = [at + number for number, at in enumerate(self._wide)]
        #: How many characters were gone through, and what counts as such.
        self.work = 0

    def all_narrowed(self, wanted: Iterable[tuple[Range, str]]) -> dict[tuple[Range, str], Range]:
        """The ranges of many names, which do not depend on the order that they are asked in."""
        return {pair: self.narrowed(*pair) for pair in sorted(set(wanted), key=_from_above)}

    def narrowed(self, span: Range, name: str) -> Range:
        """The range of the name in that of its declaration, or that one."""
        name = name.partition("(")[0] or name  # some name what a function takes, too
        if name[:1].isdigit():  # the number of an item, which stands nowhere
            return span
        first = self._offset(span.start)
        plain = self._after_words(span, name, first)
        if plain is not None:
            return plain
        end = self._offset(span.end)
        at = self._find(name, first, min(end, first + _FAR))
        if at < 0:
            return span
        line = self._lines.line_at(at)
        start = self._units(at) - self._units(self._lines.of(line) or 0)
        return Range(Position(line, start), Position(line, start + line_length_utf16(name)))

    def _after_words(self, span: Range, name: str, first: int) -> Range | None:
        """The range of a name that stands behind nothing but words, as in ``async def area``; if it
        does, which is so of most.
        """
        before = _WORDS.match(self._text, first, first + _NEAR)
        if before is None or not (_is_letter(name[:1]) or name[:1] == "#"):
            return None
        at, far = before.end(), min(first + _FAR, len(self._text))
        if not self._stands(name, at, far) or name in before[0].split():
            return None
        if self._second(name, at, far) != at:
            return None
        if self._lines.of(span.start.line + 1) == first:
            return None  # its line is shorter than it says
        line, start = span.start.line, span.start.character + at - first
        end = start + line_length_utf16(name)
        if (span.end.line, span.end.character) < (line, end):
            return None
        return Range(Position(line, start), Position(line, end))

    def _find(self, name: str, first: int, end: int) -> int:
        if self._stands(name, first, end):
            return self._second(name, first, end)
        # Most names that are not spelled are not there at all, which is quickly seen.
        if self.work >= MAX_WORK or not self._may_stand(name, first, end):
            return -1
        gone_through = end
        for found in _tokens(name.startswith("#")).finditer(self._text, first, end):
            at = found.start("word")
            if at >= 0 and self._text[at - 1 : at] != "-" and self._stands(name, at, end):
                gone_through = at
                break
        self.work += gone_through - first
        return self._second(name, gone_through, end) if gone_through < end else -1

    def _may_stand(self, name: str, first: int, end: int) -> bool:
        """Whether a name stands behind its beginning as a word, be it in a comment."""
        is_private = name.startswith("#")
        if not is_private and not _is_letter(name[0]):
            return False
        at = self._text.find(name, first + 1, end)
        while at >= 0 and self.work < MAX_WORK:
            self.work += _PLACE
            before = self._text[at - 1]
            if (is_private or not _is_letter(before)) and self._stands(name, at, end):
                return True
            at = self._text.find(name, at + 1, end)
        return False

    def _second(self, name: str, at: int, end: int) -> int:
        """Of ``get get()`` the second."""
        blanks = _BLANKS.match(self._text, at + len(name), end)
        return blanks.end() if blanks and self._stands(name, blanks.end(), end) else at

    def _stands(self, name: str, at: int, end: int) -> bool:
        behind = at + len(name)
        if behind > end or not self._text.startswith(name, at):
            return False
        return not (_is_letter(name[-1:]) and _is_letter(self._text[behind : behind + 1]))

    def _offset(self, place: Position) -> int:
        start, end = self._lines.of(place.line), self._lines.of(place.line + 1)
        if start is None:
            return len(self._text)
        if end is None:
            end = len(self._text)
        units = self._units(start) + place.character
        return min(units - bisect_left(self._wide_units, units), end)

    def _units(self, at: int) -> int:
        """How many units of UTF-16 stand before a place of the text."""
        return at + bisect_left(self._wide, at)


def _from_above(pair: tuple[Range, str]) -> tuple[int, int, int, int, str]:
    (start, end), name = (pair[0].start, pair[0].end), pair[1]
    return start.line, start.character, end.line, end.character, name


def _is_letter(character: str) -> bool:
    return character.isalnum() or character in ("_", "$")


@cache
def _tokens(private: bool) -> re.Pattern[str]:
    """What is passed over, and words. ``private``: a hash begins a name, as in JavaScript."""
    brackets = r"\(\)"
    for _ in range(_DEPTH):
        brackets = rf"\((?:[^()\"'`]|{_TEXT}|{brackets})*+\)"
    word = r"(?P<word>#?[\w$]+)" if private else r"#[^\n\r]*|(?P<word>[\w$]+)"
    decorator = rf"@[\w$.]+(?:{brackets})?"
    return re.compile(possessive(rf"{_COMMENT}|{decorator}|{word}"), re.DOTALL)
