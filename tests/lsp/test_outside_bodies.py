"""Which edits of a C source lie inside a function body, told without a compiler."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.lsp.c.outside_bodies import only_adds_functions, outside_bodies

F = "int f(int a)\n{\n  if(a) {\n    return 1;\n  }\n  return a;\n}\n"
INSIDE = [
    (F, F.replace("return 1", "return 2")),
    (F, F.replace("  return a", "  while(a) { a--; }\n  return a")),
    (F, F.replace("  return a", "  // area {\n  return a")),
    (F, "\n\n" + F.replace("int f", "  int  f".replace("  int  ", "  int "))),
    ("struct s *f(struct t *b) { return 0; }", "struct s *f(struct t *b) { return 1; }"),
    ("void A::f() const { x(); }", "void A::f() const { y(); }"),
    ("#if A\nint f(int a) {\n#else\nint f(long a) {\n#endif\n  x();\n}\n",) * 2,
]
OUTSIDE = [
    (F, F.replace("f(", "g(")),
    (F, F + F.replace("f(", "g(")),
    (F, "/* why */\n" + F),
    (F, "static " + F),
    (F, F.replace("  return a", "#define b\n  return a")),
    (F, F.replace("  return a", "  extern int b;\n  return a")),
    (F, F.replace("  return a", "  int b(void);\n  return a")),
    (F, F.replace("  return a", "  struct s *b(int a);\n  return a")),
    (F + "// c\nint b;", F + "// c int b;"),
    (F + "#define A \\\n\nint b;", F + "#define A \\\nint b;"),
    ("struct s { int a; };", "struct s { int b; };"),
    ("struct s f = (struct s) { a, };", "struct s f = (struct s) { b, };"),
    ("enum e { A };", "enum e { B };"),
    ("ENUM(e) { A };", "ENUM(e) { B };"),
    ("struct ATTRIBUTE(1) { int a; } s;", "struct ATTRIBUTE(1) { int b; } s;"),
    ('extern "C" { int f(); }', 'extern "C" { int g(); }'),
    ("namespace n { int a; }", "namespace n { int b; }"),
    ("class c { int f() { return 1; } int a; };", "class c { int f() { return 1; } int b; };"),
    ("int f(a) int a; { return a; }", "int f(a) int a; { return b; }"),
]
UNCLEAR = [
    "BEGIN(f) a; }",
    "int f(int a) { a; END",
    "int f(int a) { END\nint g(void)\n{\n}\n}",
    "int f(int a) { END int g(void) { BEGIN } }",
    "int f(int a) {\n#if A\n  if(a) {\n#else\n  {{\n#endif\n  } }\n}",
    "int f(int a) {\n#if A\n  }\n#endif\n}",
    'int f(void) { puts(R"({)"); }',
    "int f(void) <% %>",
    "// goes on \\\n{\nint f(void) { }",
    "#endif\nint f(void) { }",
    "GROUP(g) {\n  void f() {\n  }\n  int a;\n}",
]


@pytest.mark.parametrize(("before", "after"), INSIDE)
def test_an_edit_inside_a_body_changes_nothing(before: str, after: str) -> None:
    assert outside_bodies(before) == outside_bodies(after) != ""


@pytest.mark.parametrize(("before", "after"), OUTSIDE)
def test_any_other_edit_is_seen(before: str, after: str) -> None:
    assert outside_bodies(before) != outside_bodies(after)


@pytest.mark.parametrize("text", UNCLEAR)
def test_where_nobody_can_tell_nothing_is_said(text: str) -> None:
    assert outside_bodies(text) == ""


NEW = "/** New. */\nstatic struct s *added(struct t *b)\n{\n  return f(1);\n}\n"
G = "/* Old. */\nint g(void) { return 1; }\n"
ADDED = [
    (F, F + NEW),
    (F, NEW + F),
    (F + G, F + NEW + G),
    (F + G, NEW + F + "\n\nint more(int a) { return a; }\n" + G),
    (F + G, F.replace("return 1", "return added(a)") + NEW + G),
    ("#include <a.h>\n" + F, "#include <a.h>\n" + NEW + F),
    ("namespace n {\n" + F + "}\n", "namespace n {\n" + F + NEW + "}\n"),
    ('extern "C" {\n' + F + "}\n", 'extern "C" {\n' + NEW + F + "}\n"),
    ("void A::f() { }\n", "void A::f() { }\nint A::added() const { return 1; }\n"),
    ("", NEW),
]
NOT_ONLY_ADDED = [
    (F, F.replace("f(", "g(")),  # another one is gone
    (F, F + F),  # it was there
    (F + G, NEW + F + G.replace("/* Old. */\n", "")),  # a comment is gone
    (F + G, F + "/* Old. */\n" + NEW + "int g(void) { return 1; }\n"),  # or is another one's
    (F, F + NEW + "/* At the end. */\n"),
    (F, F + "int added;\n"),
    (F, F + "int added(void);\n"),
    (F, "static int f(int a);\n" + F),  # another kind of function
    (F, "#define f added\n" + F),
    (F, "#define A(b) b\n" + NEW + F),
    (F, F + "struct added { int a; };\n"),
    (F, F + "ADDED(b) { }\n"),
    (F, F + "int operator==(s a, s b) { return 1; }\n"),
    (F, F + "template <class T> int added(T a) { return 1; }\n"),
    ("struct s { int a; };\n", "struct s { int a; int added() { return 1; } };\n"),
    (F.replace("f(", "added("), F.replace("f(", "added(") + NEW),
    (F + "// added\n", F + "// added\n" + NEW),  # the word may be a macro, or declared elsewhere
    (F, F + "#if A\n" + NEW + "#endif\n"),
    (F, F + "int added(a) int a; { return a; }\n"),
    (F + '#include "f.def"\n', NEW + F + '#include "f.def"\n'),  # which may name it
    ("void f() {\n#include <f.def>\n}\n", NEW + "void f() {\n#include <f.def>\n}\n"),
    ('extern "C"\n#ifdef A\nB\n#endif\n' + F, 'extern "C"\n#ifdef A\nB\n#endif\n' + NEW + F),
    ("struct { int a; } b;\n", "struct { int a; } int added(void) { return 1; } b;\n"),
    (F, "BEGIN\nint added(void) { return 1; }\n" + F),  # a macro may hide a brace
    ("BEGIN\n" + F, "BEGIN\n" + F + "BEGIN\nint added(void) { return 1; }\n"),
    (F, F + "unknown added(void) { return 1; }\n"),
    (F, "BEGIN(f) a; }"),
]


@pytest.mark.parametrize(("before", "after"), ADDED)
def test_functions_that_are_added(before: str, after: str) -> None:
    assert only_adds_functions(before, after)
    assert outside_bodies(before) != outside_bodies(after)
    assert not only_adds_functions(after, before)


@pytest.mark.parametrize(("before", "after"), NOT_ONLY_ADDED)
def test_whatever_else_is_done(before: str, after: str) -> None:
    assert not only_adds_functions(before, after)


STATEMENTS = st.sampled_from(
    [
        "a++;",
        "if (a) { b(a); }",
        "for (;;) {\n  c();\n  }",
        "// {",
        '"}";',
        "{ int d = 1; }",
        "/* } */",
    ]
)
DECLARATIONS = st.sampled_from(
    ["int a;", "struct s { int b; };", "#define C {", "int d[] = { 1 };", "/* e( */", "enum { F };"]
)


@given(
    st.lists(DECLARATIONS),
    st.lists(STATEMENTS),
    st.lists(STATEMENTS),
    st.lists(DECLARATIONS),
    DECLARATIONS,
)
def test_bodies_are_told_from_what_is_around_them(
    before: list[str], body: list[str], other: list[str], after: list[str], more: str
) -> None:
    def text(first: list[str], statements: list[str], last: list[str]) -> str:
        inner = "".join(f"  {each}\n" for each in statements)
        return "\n".join([*first, f"int f(void)\n{{\n{inner}}}", *last])

    said = outside_bodies(text(before, body, after))
    assert said
    assert said == outside_bodies(text(before, other, after))
    assert said != outside_bodies(text(before, body, [*after, more]))


@given(st.lists(DECLARATIONS), st.integers(0, 9), st.lists(STATEMENTS), DECLARATIONS)
def test_a_function_may_be_added_anywhere_between_declarations(
    declared: list[str], place: int, body: list[str], more: str
) -> None:
    inner = "".join(f"  {each}\n" for each in body)
    new = f"int added(void)\n{{\n{inner}}}"
    at = min(place, len(declared))
    # What stands behind a comment belongs to it.
    at = next((k for k in range(at, 0, -1) if not declared[k - 1].startswith("/*")), 0)
    before, after = "\n".join(declared), "\n".join([*declared[:at], new, *declared[at:]])
    assert only_adds_functions(before, after)
    assert not only_adds_functions(before, "\n".join([*declared[:at], new, more, *declared[at:]]))
