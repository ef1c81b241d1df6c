"""What a C or C++ source says outside its function bodies, in short.

A compiler's server goes on naming what its index once had of a source: a definition that was taken
out, or the comment above one. Nothing inside a function body is in its index but uses, and those it
takes from the new text. So an edit between the braces of a function can be taken in, and so can one
that only adds functions with new names. Any other makes the server start over.

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
from collections.abc import Collection
from typing import NamedTuple

from sightline.contract.canonical import sha256_hex
from sightline.lsp.c.preprocessor import KEYWORDS, code_of

__all__ = ["only_adds_functions", "outside_bodies"]

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
#: Texts over several lines, and other spellings of braces.
_ODD = r'R"|<%|%>|\?\?[<>]'
#: Where a declaration, a directive or a block ends, once bodies are left out.
_END = r"\{\s*\}|[{};]|(?m:^[ \t]*#(?:[^\n]*\\\n)*[^\n]*)"
#: What stands before a brace in which functions are nobody's members.
_OPEN_TO_ALL = r"\bnamespace\b[^;{}()=]*\Z|\bextern\s*\Z"
#: What stands before the parameters of a plain function: what it returns, then its name.
_NAMED = r"\A\s*[A-Za-z_][^{};#()]*[\s*&>](?:\w+\s*::\s*)*(?P<name>[A-Za-z_]\w*)\s*\Z"
_NOT_PLAIN = r"\b(?:operator|template)\b"
#: What is included behind a declaration may use it.
_INCLUDE = r"#[ \t]*(?:include|import|embed)"
#: Where the first declaration ends.
_DECLARED = r"[;{}]"
#: So far back a head is looked at.
_LONGEST_HEAD = 2_000
_LONGEST_NAMES = 80


def outside_bodies(text: str) -> str:
    """Differs when what stands outside function bodies does; empty if that cannot be told."""
    try:
        return sha256_hex(_spaced_alike(_outside(text)))[:16]
    except _Unclear:
        return ""


def only_adds_functions(before: str, after: str) -> bool:
    """Whether an edit adds functions, each with a name that stood nowhere, and does nothing else
    outside of bodies.

    >>> f, g = "int f(void) {}\\n", "/* New. */\\nint g(void) { return 1; }\\n"
    >>> only_adds_functions(f, g + f), only_adds_functions(f, f + f), only_adds_functions(g, f)
    (True, False, False)
    """
    try:
        old, new = _items(before), _items(after)
    except _Unclear:
        return False
    added: list[_Item] = []
    left = iter(old)
    following = next(left, None)
    for item in new:
        if item == following:
            following = next(left, None)
        else:
            added.append(item)
    words = set(re.findall(r"\w+", before))
    return following is None and all(item.is_new(words) for item in added)


def _outside(text: str) -> str:
    """What stands outside function bodies, with the braces around them."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if re.search(_ODD, text) or _has_long_comment(text):
        raise _Unclear
    return "".join(_Reading(text).pieces())


def _has_long_comment(text: str) -> bool:
    """Whether a comment to the end of a line may go on in the next."""
    end = text.find("\\\n")
    while end >= 0:
        if "//" in text[text.rfind("\n", 0, end) + 1 : end]:
            return True
        end = text.find("\\\n", end + 1)
    return False


class _Item(NamedTuple):
    """A declaration with the comments before it, a directive, or a brace that others stand in."""

    text: str
    #: The words that a function begins with, its name the last; none if it is not plain to see
    #: that it is the definition of one, and nobody's member.
    words: tuple[str, ...] = ()

    def is_new(self, known: Collection[str]) -> bool:
        """Whether it is a function whose name is not known, and all that stands before it is: a
        word that nobody knows, or one in capitals, may be a macro and hide a brace.
        """
        *before, name = self.words or ("",)
        plain = (
            word in KEYWORDS or (word in known and not (word.isupper() and word[1:]))
            for word in before
        )
        return bool(name) and name not in known and all(plain)


class _Around(NamedTuple):
    """A brace that is open."""

    #: Whether functions of their own may stand in it.
    to_all: bool
    #: Whether what follows its end belongs to it: the name of a type, say.
    goes_on: bool


def _items(text: str) -> list[_Item]:
    outside = _outside(text)
    code, items, since = code_of(outside), list[_Item](), 0
    declared = re.search(_DECLARED, code)
    if declared and re.compile(_INCLUDE).search(code, declared.start()):
        raise _Unclear
    around: list[_Around] = []
    goes_on = False
    for mark in re.finditer(_END, code):
        found, head = mark[0], code[since : mark.start()]
        if head.count("(") != head.count(")"):
            raise _Unclear
        if found[0] == "{":
            head = head.strip()  # of comments there are blanks
            if len(head) > _LONGEST_HEAD:
                raise _Unclear
        words: tuple[str, ...] = ()
        if found == "{":
            to_all = re.search(_OPEN_TO_ALL, head) is not None
            around.append(_Around(to_all, not to_all and not _is_function(head)))
        elif found == "}":
            goes_on = bool(around) and around.pop().goes_on
        elif found == ";":
            goes_on = False
        elif "#" in found and head.strip():
            raise _Unclear  # in the middle of a declaration
        elif found == "{}" and not goes_on and all(each.to_all for each in around):
            words = _function_words(head)
        items.append(_Item(_spaced_alike(outside[since : mark.end()]), words))
        since = mark.end()
    items.append(_Item(_spaced_alike(outside[since:])))
    return items


def _function_words(head: str) -> tuple[str, ...]:
    """The words that a function begins with, up to its name; none if that is not plain to see."""
    before = _before_parameters(head)
    found = re.search(_NAMED, before)
    if found is None or re.search(_NOT_PLAIN, before) or not _is_function(head):
        return ()
    return tuple(re.findall(r"\w+", re.sub(_POINTER_TO, "", before)))


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
