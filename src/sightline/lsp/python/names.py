"""Where a Python file gives a symbol another name, and where it names it in ``__all__``.

    from shop.cart import Cart as Basket, total
    __all__ = ["Basket", "total"]

To the servers ``Basket`` is another symbol than ``Cart``, and to some of them the texts in
``__all__`` are no symbols at all. Both are found here, by the text alone.
"""

import re
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate

from sightline.contract.possessive import possessive
from sightline.contract.texts import column_of, line_length_utf16
from sightline.contract.values import Position, Range

__all__ = ["PythonText"]

_LINE_END = re.compile(r"\r\n|\n|\r")
#: An import, over several lines if it is in parentheses or goes on behind a backslash.
_IMPORT = re.compile(
    possessive(
        r"^[ \t]*(?:from[ \t]+[.\w]+[ \t]+)?import\b[ \t]*"
        r"(?:\((?:[^()#]++|#[^\r\n]*+)*+\)?|(?:[^\\#;\r\n(]++|\\\r?\n)*+)"
    ),
    re.MULTILINE,
)
_ALIAS = re.compile(r"[ \t]+as[ \t]+([^\W\d]\w*)")
#: What ``__all__`` is made of, up to the bracket or quote that its texts begin with.
_ALL = re.compile(
    r"^[ \t]*__all__\b[ \t]*(?::[^=\r\n]*)?(?:\+?=|\.(?:extend[ \t]*\(|append\b|insert\b))",
    re.MULTILINE,
)
_IN_BRACKETS = re.compile(
    r"""[^\[(\r\n'"]*[\[(](?:[^\[\]()#'"]|#[^\r\n]*|"[^"\r\n]*"|'[^'\r\n]*')*"""
)
#: Nothing but texts in brackets, to the end of what is assigned or called.
_ONLY_TEXTS = re.compile(
    r"""[ \t]*[\[(](?:[\s,]|#[^\r\n]*|"[^"\r\n]*"|'[^'\r\n]*')*[\])]"""
    r"[ \t]*\)?[ \t]*(?:[#;\r\n]|\Z)"
)
_HEADER = re.compile(r"(?:if|elif|else|try|except|finally|with|for|while)\b")


class PythonText:
    """The text of a file with what is found in it."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def has_exports(self) -> bool:
        return "__all__" in self.text and _ALL.search(self.text) is not None

    @cached_property
    def exports_only_texts(self) -> bool:
        """Whether all that ``__all__`` is made of stands in it as texts."""
        made = list(_ALL.finditer(self.text))
        named = len(re.findall(r"\b__all__\b", self.text))
        return len(made) == named and all(_ONLY_TEXTS.match(self.text, each.end()) for each in made)

    def at(self, place: Range) -> str:
        """What stands at a place."""
        return self.text[self._offset(place.start) : self._offset(place.end)]

    def alias_after(self, place: Range) -> Range | None:
        """The other name that an import gives to what stands at a place."""
        if place.end.line >= len(self._lines):
            return None
        line = self._lines[place.end.line]
        if _ALIAS.match(line, column_of(line, place.end.character)) is None:
            return None  # as mostly, and nothing else had to be found out
        end = self._offset(place.end)
        alias = _ALIAS.match(self.text, end)
        if alias is None or self._import_around(end) is None:
            return None
        return self._range(alias.start(1), alias.end(1))

    def binds_in_module(self, place: Range) -> bool:
        """Whether the name at a place is one of the module, not of a class or function in it."""
        line = place.start.line
        if line >= len(self._starts) or self.alias_after(place) is not None:
            return False
        start, end = self._starts[line], self._offset(place.start)
        imported = self._import_around(end)
        if imported is not None:
            return self._is_top_level(bisect_right(self._starts, imported) - 1)
        before = self.text[start:end]
        after = self.text[self._offset(place.end) :].lstrip(" \t")[:2]
        declares = re.fullmatch(r"\s*(?:(?:async\s+)?def|class)\s+", before) is not None
        assigns = not before.strip() and after[:1] in ("=", ":") and after != "=="
        return (declares or assigns) and self._is_top_level(line)

    def exports(self, name: str) -> list[Range]:
        """Where a name stands in ``__all__``, without its quotes."""
        found: list[Range] = []
        text = re.compile(rf"""(?P<quote>["']){re.escape(name)}(?P=quote)""")
        for assignment in _ALL.finditer(self.text):
            elements = _IN_BRACKETS.match(self.text, assignment.end())
            if elements is not None:
                span = text.finditer(self.text, elements.start(), elements.end())
                found += [self._range(each.start() + 1, each.end() - 1) for each in span]
        return found

    @cached_property
    def _lines(self) -> list[str]:
        """The lines without their ends."""
        return _LINE_END.split(self.text) if "\r" in self.text else self.text.split("\n")

    @cached_property
    def _starts(self) -> list[int]:
        if "\r" in self.text:
            return [0, *(end.end() for end in _LINE_END.finditer(self.text))]
        # The same, without a step of Python's for each of thousands of lines.
        return [0, *accumulate(map((1).__add__, map(len, self._lines[:-1])))]

    @cached_property
    def _imports(self) -> list[tuple[int, int]]:
        return [match.span() for match in _IMPORT.finditer(self.text)]

    def _import_around(self, offset: int) -> int | None:
        """Where the import begins that is around an offset."""
        number = bisect_right(self._imports, (offset, len(self.text))) - 1
        if number >= 0 and offset <= self._imports[number][1]:
            return self._imports[number][0]
        return None

    def _is_top_level(self, line: int) -> bool:
        """Whether only conditions, loops and the like stand around a line."""
        indent = self._indent(line)
        while indent and line > 0:
            line -= 1
            text = self._line(line).strip()
            if not text or text.startswith(("#", ")", "]", "}")) or self._indent(line) >= indent:
                continue
            if not _HEADER.match(text):
                return False
            indent = self._indent(line)
        return True

    def _indent(self, line: int) -> int:
        text = self._line(line)
        return len(text) - len(text.lstrip())

    def _line(self, line: int) -> str:
        end = self._starts[line + 1] if line + 1 < len(self._starts) else len(self.text)
        return self.text[self._starts[line] : end]

    def _offset(self, position: Position) -> int:
        if position.line >= len(self._starts):
            return len(self.text)
        start = self._starts[position.line]
        return start + column_of(self._line(position.line), position.character)

    def _range(self, start: int, end: int) -> Range:
        return Range(self._position(start), self._position(end))

    def _position(self, offset: int) -> Position:
        line = bisect_right(self._starts, offset) - 1
        return Position(line, line_length_utf16(self.text[self._starts[line] : offset]))
