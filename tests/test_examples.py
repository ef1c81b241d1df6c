"""The examples in docstrings say what the code does."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import sightline

SOURCES = Path(sightline.__file__).parent
MODULES = sorted(
    ".".join(("sightline", *path.relative_to(SOURCES).with_suffix("").parts))
    for path in SOURCES.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


def test_there_are_examples() -> None:
    assert len(MODULES) > 50


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module(name: str) -> None:
    told = doctest.testmod(import_module(name))
    assert told.attempted
    assert not told.failed
