"""The name in the text of a declaration, whatever stands before it."""

import re
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.contract.name_ranges import MAX_WORK, NameRanges, _tokens, is_as_long
from sightline.contract.values import Position, Range


def whole(text: str) -> Range:
    lines = text.split("\n")
    return Range(Position(0, 0), Position(len(lines) - 1, len(lines[-1])))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("def ⟨area⟩(area): ...", "area"),
        ("⟨area⟩: int = 3", "area"),
        ("# area\n#area\n@area.setter  # area\nasync def ⟨area⟩(self): ...", "area"),
        ("@app.route(\"/area)\", f(g(area(1))), '(')\ndef ⟨area⟩(): ...", "area"),
        ("@Area({template: `area (`})\n/* area */ // area\nexport class ⟨area⟩ {}", "area"),
        ("export function ⟨used⟩(x: number) {}", "used()"),
        ("int ⟨used⟩(int used);", "used(int)"),
        ("get ⟨get⟩() { return 1 }", "get"),
        ("static static ⟨get⟩ = 1", "get"),
        ("readonly ⟨#size⟩ = 1", "#size"),
        ("local -a ⟨a⟩=1", "a"),
        ("function  ⟨spaced-name⟩ () { spaced; }", "spaced-name"),
        ('"⟨quoted-name⟩": string', "quoted-name"),
        ("export const lager = 1, ⟨größe⟩ = 2", "größe"),
        ("area_1 = ⟨area⟩", "area"),
    ],
)
def test_it_is_found(text: str, name: str) -> None:
    before, rest = text.split("⟨")
    inside, after = rest.split("⟩")
    plain = before + inside + after
    line, start = before.count("\n"), len(before) - before.rfind("\n") - 1
    expected = Range(Position(line, start), Position(line, start + len(inside)))
    for end in ("\n", "\r\n", "\r"):
        found = NameRanges(plain.replace("\n", end)).narrowed(whole(plain), name)
        assert found == expected


_PIECES = (
    "def ",
    "async\t",
    "area",
    "area1",
    "größe",
    "\U0001f600",
    "#area",
    "@area(",
    ")",
    "-",
    "\n",
    " ",
    '"',
)
_PLACES = st.builds(Position, st.integers(0, 3), st.integers(0, 12))


@given(
    st.lists(st.sampled_from(_PIECES), max_size=9).map("".join),
    st.builds(Range, _PLACES, _PLACES),
    st.sampled_from(("area", "größe", "#area", "def", "-", "\U0001f600")),
)
def test_behind_words_alone_it_is_found_as_anywhere(text: str, span: Range, name: str) -> None:
    found = NameRanges(text).narrowed(span, name)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(NameRanges, "_after_words", lambda *_: None)
        assert NameRanges(text).narrowed(span, name) == found


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("func (c Cart) Total()", "Cart.Total"),
        ('{"a": 1}', "1"),
        ("areas = 1", "area"),
        ('@app.route("/area")\ndef other(): ...', "area"),
        ("", "area"),
    ],
)
def test_where_it_is_not_spelled_the_range_stays(text: str, name: str) -> None:
    span = whole(text)
    assert NameRanges(text).narrowed(span, name) == span


def test_nothing_is_looked_for_outside_of_the_range() -> None:
    text = "x = 1; area = 2\narea = 3"
    span = Range(Position(0, 0), Position(0, 5))
    assert NameRanges(text).narrowed(span, "area") == span
    beyond = Range(Position(7, 3), Position(9, 9))
    assert NameRanges(text).narrowed(beyond, "area") == beyond


def test_columns_are_utf_16() -> None:
    span = Range(Position(0, 10), Position(0, 20))
    found = NameRanges('s = "😀é"; behind = 2').narrowed(span, "behind")
    assert found == Range(Position(0, 11), Position(0, 17))
    assert is_as_long(found, "behind") and not is_as_long(span, "behind")
    assert is_as_long(Range(Position(0, 0), Position(0, 2)), "😀")


def test_what_is_far_away_is_not_looked_for() -> None:
    text = f"/* {'long ' * 1_000}*/ area"
    assert NameRanges(text).narrowed(whole(text), "area").start == Position(0, len(text) - 4)
    text = f"/* {'long ' * 2_000}*/ area"
    assert NameRanges(text).narrowed(whole(text), "area") == whole(text)


PIECES = ["@a(", "@a((", "/*", '@a("', "@a('\\", "(", "@a(()", "/* ", "/* *", "a /* *#", "/* ( "]


@pytest.mark.parametrize("piece", PIECES)
def test_odd_texts_take_no_time(piece: str) -> None:
    text = piece * 20_000 + "\ndef area"
    begun = time.process_time()
    NameRanges(text).narrowed(whole(text), "area")
    first = piece * 2_000 + "\ndef area"
    NameRanges(first).narrowed(whole(first), "area")
    assert time.process_time() - begun < 2


@pytest.mark.parametrize("letter", ["e", "é", "😀"])
def test_many_symbols_in_one_line_take_little_time(letter: str) -> None:
    keys = [f'"key{number:05}{letter}": 1' for number in range(5_000)]
    names, text, begun = NameRanges(", ".join(keys)), ", ".join(keys), time.process_time()
    units = len(keys[0].encode("utf-16-le")) // 2
    for number in range(5_000):
        start = number * (units + 2)
        span = Range(Position(0, start), Position(0, start + units))
        found = names.narrowed(span, f"key{number:05}{letter}")
        assert found == Range(Position(0, start + 1), Position(0, start + units - 4)), text[:99]
    assert time.process_time() - begun < 2


def test_symbols_around_each_other_take_little_time() -> None:
    """Such as the elements of a page, which are named after their classes."""
    text = "<a b=c>\n" * 5_000 + "</a>" * 5_000
    names, begun = NameRanges(text), time.process_time()
    for number in range(5_000):
        span = Range(Position(number, 0), Position(5_000, 20_000 - 4 * number))
        assert names.narrowed(span, "a.c") == span
    assert time.process_time() - begun < 2


#: A text whose names stand nowhere by themselves, the lines around each other and the name.
NOWHERE = {
    "in longer words": ("ab ba aab bab\n", "b"),
    "in comments": ("x y /* a */ z\n", "a"),
    "behind another sign": ("function x { +f; }\n", "+f"),
    "within a word": ("aaaaaaaaaaaaaaaa", "a"),
}


@pytest.mark.parametrize(("line", "name"), NOWHERE.values(), ids=NOWHERE)
def test_thousands_around_each_other_are_little_work(
    line: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = line * 5_000
    looked = _Counted()
    monkeypatch.setattr("sightline.contract.name_ranges._tokens", looked.tokens)
    names = NameRanges(text)
    for number in range(5_000):
        start = Position(number, 0) if "\n" in line else Position(0, number)
        span = Range(start, Position(5_000, 0))
        assert names.narrowed(span, name) == span
    assert looked.characters <= names.work <= MAX_WORK + 8_192


def test_much_work_ends_at_the_same_symbol_in_any_order() -> None:
    text = "x y /* a */ z\n" * 2_000 + "a a a"
    end = Position(2_000, 5)
    wanted = [(Range(Position(number, 0), end), "a") for number in range(2_000)]
    wanted += [(Range(Position(2_000, 0), end), "a"), (Range(Position(1_999, 4), end), "a")]
    found = NameRanges(text).all_narrowed(wanted)
    assert NameRanges(text).all_narrowed(reversed(wanted)) == found
    assert found[wanted[-2]] == Range(Position(2_000, 2), Position(2_000, 3)), "stands at once"
    assert found[wanted[-1]] == wanted[-1][0], "nothing is left for it"
    assert NameRanges(text).narrowed(*wanted[-1]).start == Position(2_000, 2)


class _Counted:
    """How many characters are taken apart."""

    def __init__(self) -> None:
        self.characters = 0

    def tokens(self, private: bool) -> "_Counted":
        return self

    def finditer(self, text: str, first: int, end: int) -> Iterator[re.Match[str]]:
        self.characters += end - first
        return _tokens(False).finditer(text, first, end)
