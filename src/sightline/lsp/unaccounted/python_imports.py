"""The import statements of a Python source, and chains of names."""

import re
from collections.abc import Iterator
from functools import lru_cache

from sightline.contract.possessive import possessive

__all__ = ["chain_before", "import_at", "imported", "imports", "is_module", "name_from"]

#: What names are made of, and what stands between words of a statement.
_PART, _BLANK = rb"[\w\x80-\xff]", rb"(?:[ \t]|\\\n)"
#: Imports: over several lines in parentheses, or behind a backslash; also behind other statements.
_IMPORT = re.compile(
    possessive(
        rb"(?:^|[;:])[ \t]*+"
        rb"(?:from\b%b*+(?P<module>\.++(?:(?!import\b)%b[.\w\x80-\xff]*+)?+|%b[.\w\x80-\xff]*+)"
        rb"%b*+)?+import\b%b*+"
        rb"(?P<names>\((?:[^()#]++|#[^\n]*+)*+\)?|(?:[\w\x80-\xff.,* \t]++|\\\n)*+)"
        % (_BLANK, _PART, _PART, _BLANK, _BLANK)
    ),
    re.MULTILINE,
)
_IMPORTED = re.compile(
    possessive(
        rb"#[^\n]*+|(?P<name>[.\w\x80-\xff]++)(?:%b++as%b++(?P<alias>%b++))?+"
        % (_BLANK, _BLANK, _PART)
    )
)
#: A chain of names up to and with the last one.
_CHAIN = re.compile(
    rb"(?<![\w\x80-\xff.)\]}\"'])(?:(?!\d)%b+[ \t]*\.[ \t]*)*(?!\d)%b+\Z" % (_PART, _PART)
)
_NAME = re.compile(_PART + rb"*")
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


def imported(statement: re.Match[bytes]) -> Iterator[re.Match[bytes]]:
    """What a statement imports, each as a ``name`` and perhaps an ``alias``; no comments.

    >>> [statement] = imports(b"from a import (b as c,  # d\\n e)")
    >>> [(each["name"], each["alias"]) for each in imported(statement)]
    [(b'b', b'c'), (b'e', None)]
    """
    names = statement.span("names")
    return (each for each in _IMPORTED.finditer(statement.string, *names) if each["name"])


def is_module(text: bytes, offset: int) -> bool:
    """Whether an offset is in the module that names are imported from."""
    stated = import_at(text, offset)
    return stated is not None and offset < stated.start("names")


def name_from(text: bytes, offset: int) -> bytes:
    """The name that begins at an offset."""
    found = _NAME.match(text, offset)
    return found[0] if found is not None else b""


def chain_before(text: bytes, end: int) -> bytes | None:
    found = _CHAIN.search(text, max(0, end - _MOST_CHAIN), end)
    return re.sub(rb"[ \t]", b"", found[0]) if found is not None else None
