"""What is taken away from the places of a symbol where a caller wants its uses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.contract.declarations import without_declarations
from sightline.contract.values import Location, Position, Range

PLACES = st.builds(
    lambda uri, line, column: Location(
        uri, Range(Position(line, column), Position(line, column + 1))
    ),
    st.sampled_from(["file:///a.py", "file:///b.py", "untitled:c"]),
    st.integers(0, 4),
    st.integers(0, 8),
)
LANGUAGES = st.sampled_from(["python", "shellscript", "typescript", "c"])


def at(line: int, column: int, uri: str = "file:///a.py") -> Location:
    return Location(uri, Range(Position(line, column), Position(line, column + 1)))


@given(st.lists(PLACES), st.lists(PLACES), LANGUAGES, st.text("ab =:().def\n"))
def test_nothing_is_added_and_only_what_is_there_goes(
    found: list[Location], named: list[Location], language: str, text: str
) -> None:
    used = without_declarations(found, named, language, lambda uri: text)
    assert [place for place in found if place in used] == used
    if not {place.range.start for place in named} & {place.range.start for place in found}:
        assert used == found


@given(st.lists(PLACES), st.lists(PLACES))
def test_where_assignments_declare_nothing_all_that_is_named_goes(
    found: list[Location], named: list[Location]
) -> None:
    used = without_declarations(found, named, "typescript", lambda uri: None)
    assert used == [place for place in found if place not in named]


@pytest.mark.parametrize(
    ("text", "named", "found", "used"),
    [
        ("x = 1\nx = 2\nx\n", [at(1, 0)], [at(0, 0), at(1, 0), at(2, 0)], [at(1, 0), at(2, 0)]),
        ("x == 1\nx = 2\n", [at(1, 0)], [at(0, 0), at(1, 0)], [at(0, 0)]),
        ("def f(x):\n    x = 1\n", [at(0, 6), at(1, 4)], [at(0, 6), at(1, 4)], [at(1, 4)]),
        ("def f(): ...\nf = None\n", [at(0, 4), at(1, 0)], [at(0, 4), at(1, 0)], [at(1, 0)]),
        ("é = 1; 😀.x = 2\n", [at(0, 10)], [at(0, 10)], []),
        ("x\n", [at(0, 0, "file:///b.py")], [at(0, 0)], [at(0, 0)]),
    ],
)
def test_python(text: str, named: list[Location], found: list[Location], used: object) -> None:
    assert without_declarations(found, named, "python", lambda uri: text) == used


def test_a_place_is_the_same_however_its_file_is_spelled() -> None:
    found, named = at(0, 0, "file:///a%20b.ts"), at(0, 0, "file:///a b.ts")
    assert without_declarations([found], [named], "typescript", lambda uri: "") == []
