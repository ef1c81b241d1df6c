"""What a C or C++ source says outside its function bodies, in short.

A compiler's server goes on naming what its index once had of a source: a definition that was taken
out, or the comment above one. Nothing inside a function body is in its index but uses, and those it
takes from the new text. So an edit between the braces of a function can be taken in, and any other
makes the server start over.

This is read without a compiler. Where the text does not show plainly what is a body (braces that
macros hide, branches that open different ones), nothing is said, and every edit counts. Refused,
too, is to guess: what may declare something is not a body.

>>> one = outside_bodies("int f(int a) {\\n  return a;\\n}\\n")
>>> one == outside_bodies("int f(int a) {\\n  // why\\n  return a + 1;\\n}\\n")
True
>>> one == outside_bodies("int g(int a) {\\n  return a;\\n}\\n")
False
>>> outside_bodies("FUNCTION(f) return a; }")
''
"""

import re

from sightline.contract.canonical import sha256_hex
from sightline.lsp.c.preprocessor import code_of

__all__ = ["outside_bodies"]

# Expressions are compiled when they are first needed, which most programs never do.
#: Braces, and what a directive begins with, up to its end; it may go on in the next lines.
_MARK = r"[{}]|#[ \t]*(?P<word>\w*)(?:[^\n]*\\\n)*[^\n]*"
#: What stands before the brace of a function body. Other words may follow the parameters.
_PARAMETERS = r"\)\s*(?:(?:const|noexcept|override|final)\s*)*\Z"
_NO_FUNCTION = r"=|\b(?:struct|union|enum|class|namespace|extern|typedef|using|concept|requires)\b"
#: What a function may return, and no type is declared by.
_POINTER_TO = r"\b(?:struct|union|enum)\s+\w+\s*\*"
#: Two words before parentheses are the head of a function, unless they begin a statement.
_TWO_WORDS = (
    r"(?:^|[^\w.>])(?!else\b|return\b|do\b|case\b)\w+[\s*&]+(?!if\b|for\b|while\b|switch\b)\w+\s*\Z"
)
#: What looks like a function that is declared in a body, and so exists beyond it.
_DECLARES = (
    r"\n[ \t]*(?!return\b|else\b|case\b|goto\b|throw\b|delete\b)"
    r"[A-Za-z_]\w*(?:[ \t]+[A-Za-z_]\w*)*[ \t*&]+[A-Za-z_]\w*\([^;{}()]*\)[ \t]*;"
)
#: Texts over several lines, other spellings of braces, comments that go on in the next line.
_ODD = r'R"|<%|%>|\?\?[<>]|//[^\n]*\\\n'
#: So far back a head is looked at.
_LONGEST_HEAD = 2_000
_LONGEST_NAMES = 80


def outside_bodies(text: str) -> str:
    """Differs when what stands outside function bodies does; empty if that cannot be told."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if re.search(_ODD, text):
        return ""
    try:
        pieces = _Reading(text).pieces()
    except _Unclear:
        return ""
    return sha256_hex(_spaced_alike("".join(pieces)))[:16]


class _Unclear(Exception):
    """Nobody can tell what is a body."""


class _Reading:
    """One pass over a text."""

    def __init__(self, text: str) -> None:
        self._text, self._code = text, code_of(text)
        self._pieces: list[str] = []
        #: Braces that are open outside bodies, and inside the one that is being read.
        self._outer = self._inner = 0
        #: Where what is kept began, or the body.
        self._since = 0
        #: Where the last head may have begun.
        self._head = 0
        #: For each open condition: the braces before it, and those at the end of its first branch.
        self._conditions: list[tuple[tuple[int, int], tuple[int, int] | None]] = []

    def pieces(self) -> list[str]:
        for mark in re.finditer(_MARK, self._code):
            found = mark[0]
            if found == "{":
                self._open(mark.start())
            elif found == "}":
                self._close(mark.start())
            elif self._is_first_in_line(mark.start()):
                self._directive(mark)
            elif "{" in found or "}" in found:
                raise _Unclear
            self._head = mark.end()
        if self._outer or self._inner or self._conditions:
            raise _Unclear
        self._pieces.append(self._text[self._since :])
        return self._pieces

    def _open(self, place: int) -> None:
        begin = max(self._head, place - _LONGEST_HEAD)
        head = self._code[self._code.rfind(";", begin, place) + 1 or begin : place]
        if self._inner:
            if self._begins_line(place) or _looks_like_function(head):
                raise _Unclear  # a body that ended behind a macro
            self._inner += 1
        elif _is_function(head):
            self._enter(place + 1)
        else:
            self._outer += 1

    def _close(self, place: int) -> None:
        if not self._inner:
            self._outer -= 1
            if self._outer < 0:
                raise _Unclear
            return
        self._inner -= 1
        if not self._inner:
            self._leave(place)
        elif self._begins_line(place):
            raise _Unclear

    def _directive(self, mark: "re.Match[str]") -> None:
        word, now = mark["word"].strip(), (self._outer, self._inner)
        if self._inner:
            self._pieces.append(self._text[mark.start() : mark.end()])
        if word in ("if", "ifdef", "ifndef"):
            self._conditions.append((now, None))
        elif word in ("else", "elif", "elifdef", "elifndef", "endif"):
            if not self._conditions:
                raise _Unclear
            before, first = self._conditions.pop()
            ends = word == "endif"
            if now != (first or (before if ends else now)):
                raise _Unclear
            if not ends:
                self._conditions.append((before, first or now))
                self._go_back(before, mark.start())

    def _go_back(self, before: tuple[int, int], place: int) -> None:
        """Another branch begins with the braces that were open before the first."""
        if self._inner and not before[1]:
            self._leave(place)
        elif before[1] and not self._inner:
            self._enter(place)
        self._outer, self._inner = before

    def _enter(self, place: int) -> None:
        self._pieces.append(self._text[self._since : place])
        self._since, self._inner = place, 1

    def _leave(self, place: int) -> None:
        body = self._code[self._since : place]
        followed = re.match(r"\}\s*;", self._code[place : place + 200])
        if followed or "extern" in body or re.search(_DECLARES, body):
            self._pieces.append(self._text[self._since : place])
        self._since = place

    def _is_first_in_line(self, place: int) -> bool:
        return not self._code[self._code.rfind("\n", 0, place) + 1 : place].strip()

    def _begins_line(self, place: int) -> bool:
        return place == 0 or self._code[place - 1] == "\n"


def _is_function(head: str) -> bool:
    """Whether a brace after this surely begins a function body."""
    before = re.sub(_POINTER_TO, "", _before_parameters(head))
    return bool(before) and not re.search(_NO_FUNCTION, before)


def _looks_like_function(head: str) -> bool:
    """Whether what stands before a brace inside a body would begin a function outside of one."""
    return bool(re.search(_TWO_WORDS, _before_parameters(head)[-_LONGEST_NAMES:]))


def _before_parameters(head: str) -> str:
    """What stands before the parentheses that a head ends with; empty if it does not."""
    end = re.search(_PARAMETERS, head)
    place, depth = (end.start(), 1) if end is not None else (-1, 0)
    while depth:
        place = max(head.rfind("(", 0, place), head.rfind(")", 0, place))
        if place < 0:
            return ""
        depth += 1 if head[place] == ")" else -1
    return head[: max(place, 0)]


def _spaced_alike(text: str) -> str:
    """The text without blank lines and indentation. The end of a line can end a comment."""
    kept: list[str] = []
    for line in map(str.strip, text.split("\n")):
        if line or (kept and kept[-1].endswith("\\")):
            kept.append(line)
    return "\n".join(kept)
