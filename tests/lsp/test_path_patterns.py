"""The patterns of TypeScript's configurations, against what each part of one says by itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.lsp.typescript.path_patterns import PACKAGES, expression_of, fills

NAMES = ["a", "ab", ".a", "b", "src", "a.ts", ".ts", "x.d.ts", "é", "node_modules", "node_module"]
NAMES += ["node_modulesx", "n", "jspm_packages", "bower"]
PARTS = ["**", "*", "?", "*.ts", "a*", "*a", "*?", "?*", "**.ts", "a", "?.ts", "*.*", "n*", "**a"]
PARTS += ["node_modules", "?a*", "*é"]


def stands_for(pattern: str, name: str) -> bool:
    """Whether a pattern of one name, with stars and question marks, stands for it."""
    if not pattern:
        return not name
    if pattern[0] == "*":
        return any(stands_for(pattern[1:], name[cut:]) for cut in range(len(name) + 1))
    return bool(name) and pattern[0] in ("?", name[0]) and stands_for(pattern[1:], name[1:])


def belongs(parts: list[str], names: list[str], *, files: bool) -> bool:
    """Whether the parts of a pattern stand for the names of a path."""
    if not parts:
        return not names or not files
    if parts[0] == "**":
        if len(parts) == 1:
            return True
        for taken in range(len(names) + 1):
            gap = names[:taken]
            plain = all(not n.startswith(".") and n not in PACKAGES for n in gap)
            if (plain or not files) and belongs(parts[1:], names[taken:], files=files):
                return True
        return False
    if not names or (files and parts[0][0] in "*?" and names[0].startswith(".")):
        return False
    return stands_for(parts[0], names[0]) and belongs(parts[1:], names[1:], files=files)


@given(
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=4),
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=4),
    st.booleans(),
)
def test_a_pattern_stands_for_what_its_parts_do(
    parts: list[str], names: list[str], files: bool
) -> None:
    expression = expression_of("/".join(parts), "/ws", files=files)
    last = parts[-1]
    if files and last == "**":  # TypeScript refuses it
        assert expression is None
        return
    assert expression is not None
    if files and not set(last) & {"*", "?", "."}:
        parts = [*parts, "**", "*"]
    assert fills(expression, "/ws/" + "/".join(names)) == belongs(parts, names, files=files)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("src", "/ws/src/deep/a.ts", True),
        ("./src/*", "/ws/src/a.ts", True),
        ("../other/**/*", "/other/a.ts", True),
        ("src/**/*", "/ws/src/.hidden/a.ts", False),
        ("src/**/*", "/ws/src/node_modules/a/a.ts", False),
        ("node_modules/**/*", "/ws/node_modules/a.ts", True),
        ("**/*", "/ws/\udcff.ts", True),
    ],
)
def test_what_includes(pattern: str, path: str, expected: bool) -> None:
    expression = expression_of(pattern, "/ws", files=True)
    assert expression is not None and fills(expression, path) == expected
