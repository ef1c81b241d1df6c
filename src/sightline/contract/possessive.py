"""Groups that are repeated and give nothing back, for interpreters that get them wrong.

Python before 3.11.5 loses its way in ``(?:a|b)*+``, where what is repeated can be matched in more
than one way: it finds what is not there and overlooks what is. An atomic group around the same
repeat means the same and is right everywhere, but remembers every step while it lasts; so patterns
are only rewritten where that is needed.

>>> as_atomic(r"(?:[^()]|\\))*+x(a++)?+")
'(?>(?:[^()]|\\\\))*)x(?>(a++)?)'
"""

import re
import sys
from typing import AnyStr

__all__ = ["as_atomic", "possessive"]

_MENDED = (3, 11, 5)
#: What a pattern is made of, as far as groups are concerned.
_PARTS = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(|\)(?:([*+?]|\{\d*,?\d*\})(\+)?)?|.", re.DOTALL
)


def possessive(pattern: AnyStr) -> AnyStr:
    """The pattern, or one that means the same where this interpreter would get it wrong."""
    if sys.version_info >= _MENDED:
        return pattern
    if isinstance(pattern, bytes):
        return as_atomic(pattern.decode("latin-1")).encode("latin-1")
    return as_atomic(pattern)


def as_atomic(pattern: str) -> str:
    """The pattern with atomic groups around those that are repeated and give nothing back."""
    out: list[str] = []
    opened: list[int] = []
    for part in _PARTS.finditer(pattern):
        out.append(part[0])
        if part[0] == "(":
            opened.append(len(out) - 1)
        elif part[0].startswith(")"):
            start = opened.pop()
            if part[2]:
                group = "".join(out[start:]).removesuffix("+")
                out[start:] = [f"(?>{group})"]
    return "".join(out)
