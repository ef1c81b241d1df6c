"""What the engine has to know of a language: which occurrences can be uses of a symbol.

Everything here is decided from one text. A rule may let through what is no use, because each
occurrence is resolved by the server afterwards; it must not leave out what may be one.
"""

import re
from typing import Protocol

from sightline.contract.unaccounted import Reason
from sightline.lsp.unaccounted.symbols import Symbol
from sightline.text.sources import SourceTexts

__all__ = ["Rules", "is_after_dot", "is_before"]

_BLANKS = b" \t"
_NEWLINE_BLANKS = b" \t\n\\"


class Rules(Protocol):
    #: What is no code: comments and strings.
    no_code: re.Pattern[bytes]

    def may_use(self, symbol: Symbol, texts: SourceTexts, path: str, offset: int) -> bool:
        """Whether the name at an offset, which is code, can be a use of the symbol."""
        ...

    def may_use_string(self, symbol: Symbol, texts: SourceTexts, path: str, offset: int) -> bool:
        """The same where the name is in a string or a comment."""
        ...

    def meaning(self, text: bytes, name: str, offset: int) -> bytes | None:
        """What an import says that the name at an offset is, the same in every file."""
        ...

    def documents(self, symbol: Symbol, text: bytes, path: str, offset: int) -> bool:
        """Whether a comment surely names the symbol at an offset."""
        ...

    def stand_in(self, text: bytes, name: str, offset: int) -> int | None:
        """Another offset that means the same and that the server resolves, if there is one."""
        ...

    def is_misreported(self, text: bytes, name: str, offset: int) -> bool:
        """Whether servers take the name at an offset for another symbol than it is."""
        ...

    def passes_on(self, text: bytes, name: str, offset: int) -> int | None:
        """The offset of the symbol that a declaration of the same name hands on, if it does."""
        ...

    def origin(self, text: bytes, path: str, offset: int) -> bytes | None:
        """What an import names at an offset, spelled alike in every file; ``None`` elsewhere.

        Imports that lead nowhere are of the same symbol if they name the same thing.
        """
        ...

    def misled(self, symbol: Symbol, texts: SourceTexts, path: str) -> Reason | None:
        """Why what leads to a file may be a use, where that is another form of one that declares
        the symbol: its build, or an installed copy. ``None`` if it is none.
        """
        ...

    def unresolved(
        self, symbol: Symbol, texts: SourceTexts, path: str, offset: int, bound: int | None
    ) -> Reason | None:
        """Why an occurrence that led nowhere may be a use; ``None`` if it cannot be one.

        ``bound`` is the offset of an import in the same file that it led to, if it did.
        """
        ...


def is_after_dot(text: bytes, start: int) -> bool:
    """Whether the name at an offset is taken from a value: ``a.name``, ``a?.name``.

    >>> is_after_dot(b"a . name", 4), is_after_dot(b"a, name", 3), is_after_dot(b"...name", 3)
    (True, False, False)
    """
    place = start - 1
    while place >= 0 and text[place] in _NEWLINE_BLANKS:
        place -= 1
    return place >= 0 and text[place] == ord(".") and text[place - 1 : place] != b"."


def is_before(text: bytes, end: int, wanted: bytes) -> bool:
    """Whether some bytes follow a name, behind blanks.

    >>> is_before(b"f(a = 1)", 3, b"="), is_before(b"f(a == 1)", 3, b"=")
    (True, False)
    """
    while end < len(text) and text[end] in _BLANKS:
        end += 1
    if not text.startswith(wanted, end):
        return False
    return wanted != b"=" or text[end + 1 : end + 2] != b"="
