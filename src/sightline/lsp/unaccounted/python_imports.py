"""The import statements of a Python source, and chains of names."""

import re
from functools import lru_cache

from sightline.contract.possessive import possessive

__all__ = ["IMPORTED", "chain_before", "import_at", "imports"]

#: Imports: over several lines in parentheses, or behind a backslash.
_IMPORT = re.compile(
    possessive(
        rb"^[ \t]*(?:from[ \t]+(?P<module>[.\w]+)[ \t]+)?import\b[ \t]*"
        rb"(?P<names>\((?:[^()#]++|#[^\n]*+)*+\)?|(?:[^\\#;\n(]++|\\\n)*+)"
    ),
    re.MULTILINE,
)
IMPORTED = re.compile(rb"(?P<name>[\w.]+)(?:[ \t]+as[ \t]+(?P<alias>\w+))?")
#: A chain of names up to and with the last one.
_CHAIN = re.compile(rb"(?<![\w.)\]}\"'])(?:[^\W\d]\w*[ \t]*\.[ \t]*)*[^\W\d]\w*\Z")
_MOST_CHAIN = 400


@lru_cache(maxsize=64)
def imports(text: bytes) -> tuple[re.Match[bytes], ...]:
    return tuple(_IMPORT.finditer(text)) if b"import" in text else ()


def import_at(text: bytes, offset: int) -> re.Match[bytes] | None:
    """The import statement that an offset is in."""
    stated = imports(text)
    low, high = 0, len(stated)
    while low < high:
        middle = (low + high) // 2
        if stated[middle].start() <= offset:
            low = middle + 1
        else:
            high = middle
    found = stated[low - 1] if low else None
    return found if found is not None and offset < found.end() else None


def chain_before(text: bytes, end: int) -> bytes | None:
    found = _CHAIN.search(text, max(0, end - _MOST_CHAIN), end)
    return re.sub(rb"[ \t]", b"", found[0]) if found is not None else None
