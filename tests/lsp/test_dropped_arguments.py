"""Which arguments macros of C and C++ do not use, told from their texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.lsp.c.dropped_arguments import arguments, definitions, dropping
from sightline.lsp.c.preprocessor import code_of

DROP = "#define drop(c)\n"


def dropped(text: str) -> list[str]:
    """What of a text stands in arguments that are dropped, line by line."""
    code = code_of(text)
    found = arguments(code, dropping(definitions(code)))
    return [line for _, part in found for line in part.split("\n") if line.strip()]


@pytest.mark.parametrize(
    ("macro", "left"),
    [
        ("m(a, b) ((void)0)", "xy"),
        ("m(a, b)", "xy"),
        ("m(a, b) (a)", "y"),
        ("m(a, b) sizeof(b)", "x"),
        ("m(a, b) \\\n  do { a; } \\\n  while(b)", ""),
        ("m(a, b) (b, a(1))", ""),
        # A text of a name, or a part of another, is no use.
        ("m(a, b) f(#a, # b)", "xy"),
        ("m(a, b) a##_b(pre_ ## b)", "xy"),
        ("m(a, b) f(#a, a, b)", ""),
        ('m(a, b) "a b"', "xy"),
        # The rest.
        ("m(a, ...) f(a)", "y"),
        ("m(a, ...) f(__VA_ARGS__)", "x"),
        ("m(...) f(__VA_ARGS__)", ""),
        ("m(...) f()", "xy"),
        ("m(a, more...) f(a, ## more)", ""),
        ("m(a, ...) f(a, ##__VA_ARGS__)", ""),
        ("m(a, ...) f(#a, #__VA_ARGS__)", "xy"),
        # What it is handed to.
        ("m(a, b) drop(a && f(b))", "xy"),
        ("m(a, b) f(drop(a), b)", "x"),
        ("m(a, b) (drop(a), a, b)", ""),
        ("m(a, b) n(b, a)\n#define n(a, b) drop(b) a", "x"),
        ("m drop", "x"),
        # Nobody knows of what a function does not use; and what calls itself drops nothing by that.
        ("m(a, b) f(a, b)", ""),
        ("m(a, b) m(b, a)", ""),
        ("m(a, b) n(a, b)\n#define n(a, b) m(a, b)", ""),
        ("m(drop, b) drop(b)", ""),
        # One definition is enough, and a condition may choose none.
        ("m(a, b) f(a, b)\n#else\n#define m(a, b)", "xy"),
        ("n(a, b)", ""),
        ("m 1", ""),
        (" m (a, b)", ""),
    ],
)
def test_what_a_definition_drops(macro: str, left: str) -> None:
    assert "".join(dropped(f"{DROP}#define {macro}\nint i = m(x, y);\n")).replace(" ", "") == left


@pytest.mark.parametrize(
    ("call", "left"),
    [
        ("drop(x);", ["x"]),
        ("drop (x) + y", ["x"]),
        ("drop\n(\n x,\n y)", ["x"]),
        ("int a = drop(x && f(y, z)); b", ["x && f(y, z)"]),
        ("drop(x(')', \")\") /* ) */ , y)", ["x(   ,    )"]),
        # Braces and brackets hold no comma together; only the first argument is dropped.
        ("drop(a[x, y])", ["a[x"]),
        ("drop(\n x &&\n y)", ["x &&", " y"]),
        ("f(drop(x), y, drop(z))", ["x z"]),
        ("drop(drop(x) + y)", ["drop(x) + y"]),
        ("dropped(x); a.drop; drop = x; (x)", []),
        # Directives are no code, within a call or around it.
        ("#define n(a) drop(a\nint x;", []),
        ("drop(x\n#if A // (\n + y\n#endif\n)", ["x", "   ", " + y", "      "]),
        # One that a condition cuts in two ends with its block, or with the text.
        ("void f(void) {\n  drop(x\n}\nint y;", ["x"]),
        ("drop(x", ["x"]),
        ("drop(1); drop(2)", []),
        ("assert(x)", ["x"]),
    ],
)
def test_what_a_call_drops(call: str, left: list[str]) -> None:
    assert dropped(f"{DROP}{call}\n") == [line for line in left if line.strip()]


def test_each_stands_in_its_line() -> None:
    code = "\n\ndrop(a)\n\nf(\n  drop(\n\n b), 1); drop(c)\n"
    assert arguments(code, {"drop": 1}) == [(2, "a\n\n\n\n\nb c")]


def test_many_that_hand_on_to_one_another() -> None:
    chain = "".join(f"#define m{n}(a) m{n + 1}(a)\n" for n in range(5_000))
    assert dropping(definitions(f"{chain}#define m5000(a)\n"))["m0"] == 1
    assert dropping(definitions(chain)) == {"assert": 1}


PIECES = st.lists(
    st.sampled_from(
        "#define drop(a, b) drop(b, f(a))|#define f(a, ...)|#define g drop|drop(|f (|g(|assert(|"
        "#if A|#endif|,|)|(|}|x|\\|#a|##|'|\"|/*|*/|".split("|")
    )
    | st.text(max_size=4)
)


@given(PIECES, st.sampled_from(["\n", " "]))
def test_what_is_kept_stands_where_it_stood(pieces: list[str], between: str) -> None:
    code = code_of(between.join(pieces))
    lines = code.split("\n")
    for first, text in arguments(code, dropping(definitions(code)) | {"f": 2}):
        for number, line in enumerate(text.split("\n"), first):
            assert all(word in lines[number] for word in line.split())
