"""Test families written for the headless source, run unchanged against the editor source.

The functions are the same objects; only the fixtures that start a server are others, those of
this folder. A window of real language servers answers, so the answers must be the same bytes.
"""

from collections.abc import Collection
from importlib import import_module
from types import FunctionType
from typing import Any

__all__ = ["adopt"]

#: What starts a server, here and there.
_SERVERS = {"server", "serve"}


def adopt(family: str, *, not_here: Collection[str] = ()) -> dict[str, Any]:
    """The tests and fixtures of a module, without those that are about another source."""
    module = vars(import_module(family))
    unknown = set(not_here) - module.keys()
    assert not unknown, f"{family} has no {unknown}"
    return {
        name: value
        for name, value in module.items()
        if name not in not_here
        and name not in _SERVERS
        and (_is_test(name, value) or _is_fixture(value))
    }


def _is_test(name: str, value: object) -> bool:
    return name.startswith("test_") and isinstance(value, FunctionType)


def _is_fixture(value: object) -> bool:
    return type(value).__name__ == "FixtureFunctionDefinition"
