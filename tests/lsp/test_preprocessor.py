"""What is read of C and C++ to know which code a compiler may leave out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.contract.values import Position
from sightline.lsp.c.preprocessor import block_around, code_of, stretches
from sightline.text.names import name_at

GUARDED = "#ifndef A_H\n#define A_H\nint a;\n#endif\n"


def lines_of(text: str) -> set[int]:
    """The lines that may be left out."""
    return {
        first + number
        for first, part in stretches(code_of(text))
        for number in range(part.count("\n") + 1)
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int a;\n", set[int]()),
        ("#if A\nint a;\n#else\nint b;\n#endif\nint c;\n", {0, 1, 2, 3, 4}),
        ("int a;\n# ifdef A\nint b;\n  #  endif\n", {1, 2, 3}),
        ("#if A\n#if B\n#endif\nint a;\n#endif\nint b;\n", {0, 1, 2, 3, 4}),
        (GUARDED, {1}),
        (GUARDED.replace("#ifndef A_H", "#if !defined(A_H)"), {1}),
        (GUARDED.replace("#ifndef A_H", "#if ! defined A_H"), {1}),
        # Not a guard: it does not hold by itself, or more stands outside.
        (GUARDED.replace("#ifndef", "#ifdef"), {0, 1, 2, 3}),
        (GUARDED + "#if B\n#endif\n", {0, 1, 2, 3, 4, 5}),
        (GUARDED.replace("define A_H", "define B_H"), {0, 1, 2, 3}),
        ("#define A(x) \\\n  f(x); \\\n  g(x)\nint a;\n", {0, 1, 2}),
        ("#define A \\\n#define B \\\n#if 0\nint a;\n", {0, 1, 2}),
        ("int a;\n#if A\nint b;\n", {1, 2, 3}),
        ("// #if A\nint b;\n/*\n#if A\n*/\nint c;\n", set()),
        ('const char *a = "\\\n#if A\\\n";\nint b;\n', set()),
        ("int a; #if A\nint b;\n", set()),
        ("#if A\r\nint a;\r\n#endif\r\nint b;\r\n", {0, 1, 2}),
    ],
)
def test_what_may_be_left_out(text: str, expected: set[int]) -> None:
    assert lines_of(text) == expected


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a; // b", "a;     "),
        ("a /* b\nc */ d", "a     \n     d"),
        ('f("a\\"b", c)', "f(      , c)"),
        ("f('\"', c)", "f(   , c)"),
        ("n = 1'000'000; c = 'x'; d", "n = 1'000'000; c =    ; d"),
        ("/* never\nends", "        \n    "),
        ("#error don't\nint a;", "#error don  \nint a;"),
        ('a = "never ends\nint b;', "a =            \nint b;"),
    ],
)
def test_what_is_no_code_is_blank(text: str, code: str) -> None:
    assert code_of(text) == code


PIECES = st.lists(
    st.sampled_from(
        "#if A|#ifndef B|#else|#endif|#define C|#define D \\|int e;|/*|*/|// f|\"|'|\\|}|{|| "
        "|\t#endif|#|1'0".split("|")
    )
    | st.text(max_size=6)
)


@given(PIECES)
def test_places_stay_where_they_are(pieces: list[str]) -> None:
    text = "\n".join(pieces)
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    code = code_of(text)
    assert [len(line) for line in code.split("\n")] == [len(line) for line in plain.split("\n")]
    lines, last = code.split("\n"), 0
    for first, part in stretches(code):
        assert first >= last
        last = first + part.count("\n") + 1
        assert "\n".join(lines[first:last]) == part


@given(PIECES, st.integers(0, 60))
def test_a_block_holds_its_line(pieces: list[str], line: int) -> None:
    code = code_of("\n".join(pieces))
    count = code.count("\n") + 1
    block = block_around(code, min(line, count - 1))
    assert min(line, count - 1) in block and block.stop <= count


@given(st.text(max_size=30), st.integers(0, 40))
def test_a_name_is_read_at_any_position(text: str, column: int) -> None:
    name = name_at(text, Position(0, column))
    assert not name or (name in text and not name[0].isdecimal())


HUGE = 1 << 20


@pytest.mark.parametrize(
    "text",
    [
        "\\'" * HUGE,
        '\\"' * HUGE,
        "'" + "\\'" * HUGE,
        "/* " * HUGE,
        "#if" + " " * HUGE + "\n",
        "#if " * HUGE,
        "#if!" + "defined(" * HUGE,
        "#define a \\\n" * (HUGE >> 2),
        "#if A\n" * (HUGE >> 2),
        "1'" * HUGE,
    ],
    ids=range(10),
)
def test_a_hostile_text_takes_no_longer_than_another(text: str) -> None:
    """Each would take hours if a look at one place could go over the rest of the text."""
    assert len(code_of(text)) == len(text)
    stretches(code_of(text))
    block_around(text, 0)
