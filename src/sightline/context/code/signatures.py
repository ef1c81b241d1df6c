"""The short form of a declaration: its head and what it says of itself, without its body.

Nothing is parsed here: a chunk already is one declaration, so its head ends at a colon or a brace
outside of brackets. What cannot be shortened by a third is not shortened.

>>> print(signature('def area(r):\\n    "Of a circle."\\n' + "    r = r * r\\n" * 9))
def area(r):
    "Of a circle."
    ...
"""

import re

__all__ = ["signature"]

_MAX_HEAD_LINES = 12
_MAX_DOC_LINES = 6
_OPENING, _CLOSING = "([{", ")]}"
_COMMENT = re.compile(r"\s*(?://|/\*|\*|#|--|///|;;)")
_DOCSTRING = re.compile(r"\s*[rRuUbB]{0,2}(\"\"\"|'''|\"|')")
#: What follows a backslash begins no text; else a line of such would be read once for each.
_STRING = re.compile(r"(?<!\\)(?:\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')")
_INDENTED = frozenset(("python", "starlark"))


def signature(text: str, language: str = "python") -> str | None:
    """The head and documentation of a declaration, or ``None`` where that is not much shorter."""
    lines = text.split("\n")
    short = _indented(lines) if language in _INDENTED else _braced(lines)
    if short is None or 3 * len(short) > 2 * len(text):
        return None
    return short


def _indented(lines: list[str]) -> str | None:
    """Python: decorators, the head up to its colon, the first paragraph of the docstring."""
    end = _head_end(lines, ":")
    if end is None:
        return None
    kept = lines[: end + 1]
    body = end + 1
    while body < len(lines) and not lines[body].strip():
        body += 1
    indent = "    "
    if body < len(lines):
        indent = lines[body][: len(lines[body]) - len(lines[body].lstrip())] or indent
        opening = _DOCSTRING.match(lines[body])
        if opening is not None:
            kept += _docstring(lines[body:], opening[1])
    return "\n".join([*kept, f"{indent}..."])


def _docstring(lines: list[str], quote: str) -> list[str]:
    """The first paragraph of a docstring, closed again."""
    first = lines[0]
    if first.count(quote) >= 2 or len(quote) == 1:
        return [first]
    kept = [first]
    for line in lines[1:_MAX_DOC_LINES]:
        if quote in line:
            return [*kept, line]
        if not line.strip() and any(char.isalnum() for char in "".join(kept)):
            break
        kept.append(line)
    return [*kept[:-1], kept[-1].rstrip() + quote]


def _braced(lines: list[str]) -> str | None:
    """Languages with braces: the comment above, the head up to its brace or semicolon."""
    first = 0
    while first < len(lines) and (not lines[first].strip() or _COMMENT.match(lines[first])):
        first += 1
    if first == len(lines):
        return None
    above = lines[:first]
    if len(above) > _MAX_DOC_LINES:
        above = [*above[:_MAX_DOC_LINES], "..."]
    end = _head_end(lines[first:], "{")
    if end is None:
        return None
    head = lines[first : first + end + 1]
    return "\n".join([*above, *head]).rstrip() + " ..."


def _head_end(lines: list[str], mark: str) -> int | None:
    """The line on which the head of a declaration ends: at ``mark`` outside of brackets."""
    depth = 0
    for number, line in enumerate(lines[:_MAX_HEAD_LINES]):
        bare = _STRING.sub("", line)
        if mark == ":" and ((bare.lstrip().startswith("@") and not depth) or not bare.strip()):
            depth += _depth(bare)
            continue
        bare = bare.partition("#")[0] if mark == ":" else bare.partition("//")[0]
        for char in bare:
            if char == mark and depth == 0:
                return number
            if char in _OPENING:
                depth += 1
            elif char in _CLOSING:
                depth -= 1
    return None


def _depth(line: str) -> int:
    return sum((char in _OPENING) - (char in _CLOSING) for char in line)
