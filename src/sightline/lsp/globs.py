"""The glob patterns servers register their interest with, as the protocol defines them.

``*`` and ``?`` stay inside one path segment, ``**`` spans segments, ``{a,b}`` is a choice and
``[a-z]`` a set. A pattern is matched against the path relative to its base.

>>> matcher("**/*.{py,pyi}")("pkg/a.py")
True
"""

import re
from collections.abc import Callable
from functools import lru_cache

__all__ = ["matcher"]

_MAX_PATTERN = 2_048


@lru_cache(maxsize=1_024)
def matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a relative path fits the pattern. A pattern that cannot be read fits everything."""
    try:
        if len(pattern) > _MAX_PATTERN:
            raise ValueError
        fits = re.compile(_translate(pattern), re.DOTALL).fullmatch
    except (re.error, ValueError):
        return lambda path: True
    return lambda path: fits(path) is not None


def _translate(pattern: str) -> str:
    out: list[str] = []
    choices = 0
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if pattern.startswith("**/", position):
            out.append("(?:.*/)?")
            position += 3
            continue
        if pattern.startswith("**", position):
            out.append(".*")
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
