"""The glob patterns servers register their interest with, as the protocol defines them.

``*`` and ``?`` stay inside one path segment, ``**`` spans segments, ``{a,b}`` is a choice and
``[a-z]`` a set. A pattern is matched against the path relative to its base. Projects write such
patterns too, so they run on the engine whose time no pattern can blow up.

>>> matcher("**/*.{py,pyi}")("pkg/a.py")
True
"""

import re
from collections.abc import Callable
from functools import lru_cache

from sightline.workspace.linear import BadPattern, Expression, compile_expression

__all__ = ["MAX_PATTERN", "fills", "matcher"]

MAX_PATTERN = 2_048


@lru_cache(maxsize=1_024)
def matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a relative path fits the pattern. A pattern that cannot be read fits everything."""
    try:
        if len(pattern) > MAX_PATTERN:
            raise ValueError
        expression = compile_expression(_translate(pattern))
    except (BadPattern, ValueError):
        return lambda path: True
    return lambda path: fills(expression, path)


def fills(expression: Expression, path: str) -> bool:
    """Whether a whole path matches. What no text can hold is like any other letter."""
    return expression.fills(path.encode("utf-8", "replace"))


def _translate(pattern: str) -> str:
    out: list[str] = []
    choices = 0
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if pattern.startswith("**/", position):
            out.append("(?s:.*/)?")
            position += 3
            continue
        if pattern.startswith("**", position):
            out.append("(?s:.*)")
            position += 2
            continue
        if character == "[":
            end = pattern.index("]", position + 1)
            body = pattern[position + 1 : end].replace("\\", "\\\\")
            out.append(f"[{'^' + body[1:] if body.startswith('!') else body}]")
            position = end + 1
            continue
        if character == "{":
            choices += 1
            out.append("(?:")
        elif character == "}" and choices:
            choices -= 1
            out.append(")")
        elif character == "," and choices:
            out.append("|")
        else:
            out.append({"*": "[^/]*", "?": "[^/]"}.get(character, re.escape(character)))
        position += 1
    return "".join(out)
