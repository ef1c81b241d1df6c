"""What a compiler says of a header that it reads by itself, and what that means.

An error shows that the header needs what stands before its include. So does one warning: a type
that a parameter names and nothing declared before is, in C, a new one of that function's own, so
that the use of the real one is lost without an error.
"""

from collections.abc import Iterable
from typing import Any, Protocol

__all__ = ["does_not_compile", "has_errors", "loses_types"]

_ERROR = 1
_OWN_TYPE = "-Wvisibility"
_WARNING = "-W"


class _Said(Protocol):
    @property
    def severity(self) -> Any: ...  # noqa: ANN401 - a number, or whatever stands for none
    @property
    def code(self) -> Any: ...  # noqa: ANN401 - whatever a server likes


def has_errors(said: Iterable[_Said]) -> bool:
    return any(each.severity == _ERROR for each in said)


def does_not_compile(said: Iterable[_Said]) -> bool:
    """Whether something made no sense. A warning that counts as an error made sense."""
    return any(e.severity == _ERROR and not str(e.code).startswith(_WARNING) for e in said)


def loses_types(said: Iterable[_Said]) -> bool:
    return any(each.code == _OWN_TYPE for each in said)
