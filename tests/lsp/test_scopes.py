"""Where a declared name can be used, read from the syntax around it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.text.scopes import (
    Declared,
    Scope,
    grammar_of,
    is_prose,
    path_of,
    scope_at,
    tree_of,
)

LOCAL, PARAMETER, MEMBER, GLOBAL = Scope.LOCAL, Scope.PARAMETER, Scope.MEMBER, Scope.GLOBAL

#: Sources, where ``label`` is declared first, and what it is.
PYTHON = [
    ("class A:\n    def f(self):\n        self.first, self.label = 1, 2\n", MEMBER, "A"),
    ("class A:\n    def f(self):\n        self.label = self.b = 1\n", MEMBER, "A"),
    ("class A:\n    def f(self):\n        with x as self.label:\n            pass\n", MEMBER, "A"),
    ("class A:\n    x, label = 1, 2\n", MEMBER, "A"),
    ("class A:\n    label: int\n", MEMBER, "A"),
    ("class A:\n    def label(self): ...\n", MEMBER, "A"),
    ("class A:\n    class label: ...\n", MEMBER, "A"),
    ("class A:\n    def f(self, label): ...\n", PARAMETER, "f"),
    ("def f(*, label: int = 1): ...\n", PARAMETER, "f"),
    ("f = lambda label: 1\n", PARAMETER, ""),
    ("def f():\n    label = 1\n", LOCAL, ""),
    ("def f():\n    def label(): ...\n", LOCAL, ""),
    ("a = [label for label in b]\n", LOCAL, ""),
    ("x, label = 1, 2\n", GLOBAL, ""),
    ("if a:\n    label = 1\n", GLOBAL, ""),
    ("def label(): ...\n", GLOBAL, ""),
]
TYPESCRIPT = [
    ("class A {\n  @Input() label: string\n}", MEMBER, "A"),
    ("class A {\n  constructor(readonly id: number, public label: string) {}\n}", MEMBER, "A"),
    ("class A {\n  accessor label = 1\n}", MEMBER, "A"),
    ("class A {\n  label\n}", MEMBER, "A"),
    ("class A {\n  @Column({ a: f(1) }) label: string\n}", MEMBER, "A"),
    ("class A {\n  @Column(f(1), g()) @Other() private label: string\n}", MEMBER, "A"),
    ("interface A { label(): void }", MEMBER, "A"),
    ("const a = { b: [1, 2], label: 1 }", MEMBER, "a"),
    ("enum E {\n  One,\n  label,\n  Two\n}", MEMBER, "E"),
    ("enum E {\n  One = '{', // of\n  /** {@link E} */ label\n}", MEMBER, "E"),
    ("export const enum E { One = 1, label = 'b', Two }", MEMBER, "E"),
    ("function f(a: number, label: string) {}", PARAMETER, "f"),
    ("function f({ a, b }, label: string) {}", PARAMETER, "f"),
    ("const f = (label: string) => 1", PARAMETER, "f"),
    ("const f = label => 1", PARAMETER, "f"),
    ("for (const label of all) {}", LOCAL, ""),
    ("{ const label = 1 }", LOCAL, ""),
    ("const label = 1\nexport const a = 1", LOCAL, ""),
    ("const label = 1\nexport { label }", GLOBAL, ""),
    ("export const label = 1", GLOBAL, ""),
    ("const label = 1", GLOBAL, ""),
    ("export {}\ndeclare global { interface label {} }", GLOBAL, ""),
    ("export namespace A { export const label = 1 }", GLOBAL, ""),
    ("export namespace A { export function f() { const label = 1 } }", LOCAL, ""),
    ('declare module "a" { export function label(): void }', GLOBAL, ""),
]
JAVASCRIPT = [
    ("exports.label = () => {}", GLOBAL, ""),
    ("module.exports = { label }", GLOBAL, ""),
    ("module.exports = { label: 1 }", GLOBAL, ""),
    ("A.prototype.label = () => {}", MEMBER, ""),
]


@pytest.mark.parametrize(
    ("language", "text", "scope", "owner"),
    [
        (language, *each)
        for language, cases in (
            ("python", PYTHON),
            ("typescript", TYPESCRIPT),
            ("javascript", JAVASCRIPT),
        )
        for each in cases
    ],
)
def test_what_a_name_is(language: str, text: str, scope: Scope, owner: str) -> None:
    found = scope_at(grammar_of(language), text.encode(), text.index("label"))
    assert found == Declared(scope, owner)


def test_a_text_that_takes_a_grammar_minutes_is_not_read_to_its_end() -> None:
    """Nothing is known of it then, which excludes nothing; the next text is read as ever."""
    quotes = b"'" * (256 << 10)
    assert tree_of("typescript", quotes) is None
    assert scope_at("typescript", quotes, 3) == Declared(GLOBAL)
    assert path_of("typescript", quotes, 3) == ()
    assert not is_prose("typescript", quotes, 3)
    assert scope_at("typescript", b"class A { label = 1 }", 10) == Declared(MEMBER, "A")


GRAMMARS = st.sampled_from(["", "python", "javascript", "typescript", "tsx"])
WORDS = ["class ", "def ", "f(", ")", "{", "}", ":", "\n", "    ", "label", ".", "=", "export "]
WORDS += ["import ", "lambda ", "[", "]", "for ", " in ", "=>", "'", '"', "`", "${", "é", "😀", "<"]
SOURCES = st.binary(max_size=60) | st.lists(st.sampled_from(WORDS), max_size=30).map(
    lambda parts: "".join(parts).encode()
)


@given(grammar=GRAMMARS, text=SOURCES, offset=st.integers(0, 80))
def test_any_text_can_be_read(grammar: str, text: bytes, offset: int) -> None:
    declared = scope_at(grammar, text, offset)
    assert declared.scope in Scope
    assert all(isinstance(name, str) for name in path_of(grammar, text, offset))
    assert is_prose(grammar, text, offset) in (True, False)
