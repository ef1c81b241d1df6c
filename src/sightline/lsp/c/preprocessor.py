"""The code of C and C++ that a compiler may leave out: what is under ``#if``, and macros.

A server reads a file as one compilation does. What stands under a condition that does not hold is
nothing to it, and a name in the body of a macro is found where the macro is used, or not at all.

>>> stretches(code_of("int a;\\n#ifdef B\\nint b; // c\\n#endif\\n"))
[(1, '#ifdef B\\nint b;     \\n#endif')]
"""

import re
from collections.abc import Iterator

__all__ = ["HEADERS", "KEYWORDS", "blank", "block_around", "code_of", "stretches"]

HEADERS = (".h", ".hh", ".hpp", ".hxx", ".h++", ".ipp", ".inl", ".tcc")
#: Words that name nothing.
KEYWORDS = frozenset(
    "alignas alignof asm auto bool break case catch char class co_await co_return co_yield "
    "concept const const_cast consteval constexpr constinit continue decltype default define "
    "defined delete do double dynamic_cast elif else endif enum explicit export extern false "
    "float for friend goto if ifdef ifndef include inline int long mutable namespace new "
    "noexcept nullptr operator pragma private protected public register reinterpret_cast "
    "requires restrict return short signed sizeof static static_assert static_cast struct "
    "switch template this thread_local throw true try typedef typeid typename typeof undef "
    "union unsigned using virtual void volatile wchar_t while".split()
)

# Expressions are compiled when they are first needed, which most programs never do.
#: A quote after a digit parts digits; a text that does not end, ends with its line. Each begins
#: with a letter of its own, which makes the expression quick, and none can fail after that: a
#: hostile file costs no more than another.
_SILENT = (
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*"?|'(?<![0-9a-fA-F]')(?:[^'\\\n]|\\.)*'?"""
)
_DIRECTIVE = (
    r"#[ \t]*(?:(?P<begin>if(?:n?def)?)|(?P<end>endif)|(?P<define>define))\b"
    r"(?:[ \t]*(?:![ \t]*)?(?:defined[ \t(]*)?(?P<name>\w+))?"
)


def code_of(text: str) -> str:
    """A text with blanks for its comments and literal texts, and lines that end in one way."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return re.sub(_SILENT, blank, text, flags=re.DOTALL)


def stretches(code: str) -> list[tuple[int, str]]:
    """The first line of each stretch, from 0, and its lines."""
    if "#" not in code:
        return []
    lines = code.split("\n")
    found: list[tuple[int, str]] = []
    last = 0
    for first, end in sorted(_ranges(code, lines)):
        if end > last:
            begin = max(first, last)
            found.append((begin, "\n".join(lines[begin:end])))
            last = end
    return found


def block_around(code: str, line: int) -> range:
    """The lines that a local name in a line can stand in.

    Told by the braces that end a block and stand at the beginning of a line, as they do wherever
    code is laid out. Where they do not, it is more than that.

    >>> block_around("int a;\\nint f(int b)\\n{\\n  return b;\\n}\\nint c;", 3)
    range(0, 5)
    """
    lines = code.split("\n")
    ends = [number for number, each in enumerate(lines) if each.startswith("}")]
    begin = max((number + 1 for number in ends if number < line), default=0)
    return range(begin, next((number + 1 for number in ends if number >= line), len(lines)))


def blank(silent: "re.Match[str]") -> str:
    """As many blanks, in as many lines."""
    text = silent[0]
    if "\n" not in text:
        return " " * len(text)
    return "\n".join([" " * len(line) for line in text.split("\n")])


def _directives(code: str) -> "Iterator[re.Match[str]]":
    """Those that begin their line."""
    last = 0
    for found in re.finditer(_DIRECTIVE, code):
        line = code.rfind("\n", last, found.start()) + 1
        if (line or not last) and not code[line : found.start()].strip():
            yield found
        last = found.end()


def _ranges(code: str, lines: list[str]) -> Iterator[tuple[int, int]]:
    """The first line of each condition or macro, and the one after it. They may overlap."""
    directives = list(_directives(code))
    open_: list[tuple[int, int]] = []
    line = place = macro = 0
    for number, directive in enumerate(directives):
        line += code.count("\n", place, directive.start())
        place = directive.start()
        if line < macro:
            continue  # a part of the macro above
        if directive["begin"]:
            open_.append((number, line))
        elif directive["end"] and open_:
            begun, first = open_.pop()
            guards = begun == 0 and number == len(directives) - 1 and _is_guard(directives)
            if not guards:
                yield first, line + 1
        elif directive["define"]:
            macro = line + 1
            while macro < len(lines) and lines[macro - 1].rstrip().endswith("\\"):
                macro += 1
            yield line, macro
    if open_:  # cut off, or no directives at all
        yield open_[0][1], len(lines)


def _is_guard(directives: "list[re.Match[str]]") -> bool:
    """Whether a condition around a whole file only keeps it from being read twice."""
    first, second = directives[:2]
    return bool(
        second["define"]
        and first["name"] == second["name"]
        and (first["begin"] == "ifndef" or "!" in first[0])
    )
