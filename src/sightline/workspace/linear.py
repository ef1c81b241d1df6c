"""Regular expressions that take time linear in the text, whatever the pattern is: RE2, with types.

Patterns of users and of files that anybody may have written run here and nowhere else. Texts are
bytes, so that offsets are bytes too.
"""

from collections.abc import Callable, Iterator
from typing import Any

import re2  # type: ignore[import-untyped]

__all__ = ["BadPattern", "Expression", "compile_expression"]


#: Has every place that a pattern can ask for without taking a character.
_PROBE = b"\n\na a\n"


class BadPattern(ValueError):
    """The pattern cannot be compiled. The text is the engine's reason."""


class Expression:
    def __init__(self, compiled: Any) -> None:  # noqa: ANN401 - the package has no types
        self._compiled = compiled

    @property
    def steps(self) -> int:
        """How many steps a character of a text may take at worst."""
        return int(self._compiled.programsize)

    def fills(self, text: bytes) -> bool:
        """Whether the whole text matches."""
        return self._compiled.fullmatch(text) is not None

    def can_be_empty(self) -> bool:
        """Whether it matches empty text somewhere: in an empty line, around a word, in a blank."""
        return any(match.end() == match.start() for match in self._compiled.finditer(_PROBE))

    def spans(
        self, text: bytes, check: Callable[[], None] = lambda: None
    ) -> Iterator[tuple[int, int]]:
        """Where something matches, leaving out matches of nothing. ``check`` may end it: each match
        takes time linear in the text, and there may be as many as there are characters.
        """
        for match in self._compiled.finditer(text):
            check()
            start, end = match.span()
            if end > start:
                yield start, end


def compile_expression(pattern: str, *, utf8: bool = True) -> Expression:
    """Compiles a pattern. Without ``utf8`` every byte of pattern and text is a character."""
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    if not utf8:
        options.dot_nl = True
        options.encoding = re2.Options.Encoding.LATIN1
    try:
        return Expression(re2.compile(pattern.encode("utf-8" if utf8 else "latin-1"), options))
    except UnicodeError:
        raise BadPattern("it holds characters that no text has") from None
    except re2.error as error:
        reason = error.args[0] if error.args else b""
        raise BadPattern(
            reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        ) from None
