"""Patterns mean the same where they are rewritten for interpreters that get them wrong."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sightline
from sightline.context import scanner
from sightline.contract import first_line
from sightline.contract.possessive import as_atomic, possessive
from sightline.lsp.asking import unknown_names
from sightline.lsp.coverage import shell_quotes
from sightline.lsp.python import names
from sightline.lsp.unaccounted import class_hierarchy, python_imports, python_names, script
from sightline.text import code

#: A group that is repeated and gives nothing back, as it is spelled.
_GROUP = re.compile(r"\)(?:[*+?]|\{\d*,?\d*\})\+")
PATTERNS: dict[str, re.Pattern[Any]] = {
    "texts of Python": code.PYTHON,
    "texts of JavaScript": code.JAVASCRIPT,
    "imports before a name": unknown_names._OF_PYTHON,
    "heads of classes": class_hierarchy._HEAD,
    "imports": names._IMPORT,
    "import statements": python_imports._IMPORT,
    "import statements of scripts": script._IMPORT,
    "stars": python_names._STAR,
    "programs": first_line._NAMED,
    "strings": scanner._STRING,
    "texts of shells": shell_quotes._ESCAPED,
}
#: What these patterns make differences between, and words that they know.
_PARTS = [
    "'",
    '"',
    "\\",
    "\n",
    "#",
    "(",
    ")",
    "`",
    "/",
    "*",
    "a",
    "f",
    " ",
    ",",
    ".",
    "=",
    "!",
    "-",
]
_WORDS = ["import ", "from ", '"""', "'''", "/usr/bin/", "env ", "\\u00e9", "def ", "class "]
TEXTS = st.lists(st.sampled_from(_PARTS + _WORDS), max_size=40).map("".join)


@pytest.mark.parametrize("name", PATTERNS)
@given(text=TEXTS)
@example(text='f"""a "" b\\" {c}""" "d" # e\n' * 3)
def test_both_spellings_find_the_same(name: str, text: str) -> None:
    known = PATTERNS[name]
    is_text = isinstance(known.pattern, str)
    spelled = known.pattern if is_text else known.pattern.decode("latin-1")
    atomic = as_atomic(spelled)
    assert _GROUP.search(atomic) is None
    other = re.compile(atomic if is_text else atomic.encode("latin-1"), known.flags)
    given = text if is_text else text.encode()

    def found(pattern: re.Pattern[Any]) -> list[Any]:
        return [(each.span(), each.groups()) for each in pattern.finditer(given)]

    assert found(other) == found(known)


@pytest.mark.parametrize(
    ("pattern", "atomic"),
    [
        (r"(a|b)*+", "(?>(a|b)*)"),
        (r"(?:(?:a|b)?+c){1,3}+", "(?>(?:(?>(?:a|b)?)c){1,3})"),
        (r"\((?:a)*\)++", r"\((?:a)*\)++"),
        (r"[()*+]*+(?=x)+", r"[()*+]*+(?=x)+"),
        (r"[]()]++(?:[^])]|\[)*+", r"[]()]++(?>(?:[^])]|\[)*)"),
    ],
)
def test_only_groups_that_give_nothing_back_are_rewritten(pattern: str, atomic: str) -> None:
    assert as_atomic(pattern) == atomic
    assert possessive(pattern.encode()) in (pattern.encode(), atomic.encode())


def test_no_pattern_is_forgotten() -> None:
    """Whoever spells such a group does so for every interpreter."""
    sources = Path(sightline.__file__).parent
    spelled = {
        path.name
        for path in sources.rglob("*.py")
        if path.name != "possessive.py" and _GROUP.search(path.read_text(encoding="utf-8"))
    }
    heeded = {path.name for path in sources.rglob("*.py") if "possessive(" in path.read_text()}
    assert spelled and spelled <= heeded
