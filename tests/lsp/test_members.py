"""Which declarations are of members, so that uses on values of unknown type are looked for."""

import pytest

from sightline.contract.values import Position
from sightline.lsp.asking.members import is_code, is_member

PYTHON = [
    ("class A:\n    def f(self):\n        self.first, self.label = 1, 2\n", True),
    ("class A:\n    def f(self):\n        self.label = self.b = 1\n", True),
    ("class A:\n    def f(self):\n        with x as self.label:\n            pass\n", True),
    ("class A:\n    x, label = 1, 2\n", True),
    ("class A:\n    label: int\n", True),
    ("class A:\n    def f(self, label): ...\n", False),
    ("def f(label): ...\n", False),
    ("x, label = 1, 2\n", False),
]
TYPESCRIPT = [
    ("class A {\n  @Input() label: string\n}", True),
    ("class A {\n  constructor(readonly id: number, public label: string) {}\n}", True),
    ("class A {\n  accessor label = 1\n}", True),
    ("class A {\n  label\n}", True),
    ('const a = {\n  "label": 1\n}', True),
    ("function f(a: number, label: string) {}", False),
    ("function f(label: string) {}", False),
    ("const a = { b: [1, 2], label: 1 }", True),
    ("function f({ a, b }, label: string) {}", False),
    ("const a = f({ b: 1 }, [c, label ? d : e])", False),
    ("enum E {\n  One,\n  label,\n  Two\n}", True),
    ("enum E {\n  One = '{', // of\n  /** {@link E} */ label\n}", True),
    ("export const enum E { One = 1, label = 'b', Two }", True),
    ("enum E { One }\nconst {\n  label,\n  two,\n} = f()", False),
    ("enum E { One }\nf(\n  label,\n  two)", False),
    ("enum E {\n  One = f({ a: 1,\n    b: [\n      label,\n    ]})\n}", False),
    ("class A {\n  @Column({ a: f(1) }) label: string\n}", True),
    ("class A {\n  @Column(f(1), g()) @Other() private label: string\n}", True),
    ("const label = 1", False),
    ("for (const label of all) {}", False),
]


def at_label(text: str) -> Position:
    before = text[: text.index("label")]
    return Position(before.count("\n"), len(before) - (before.rfind("\n") + 1))


@pytest.mark.parametrize(("text", "member"), PYTHON)
def test_in_python(text: str, member: bool) -> None:
    assert is_member("python", text, at_label(text)) == member


@pytest.mark.parametrize(("text", "member"), TYPESCRIPT)
def test_in_typescript(text: str, member: bool) -> None:
    assert is_member("typescript", text, at_label(text)) == member


#: What opens a text or comment for those who do not know regular expressions and markup.
LOOKALIKES = [
    r"s.replace(/\/*$/, '');",
    r"s.replace(/[/*]+/g, '');",
    r"s.split(/\//);",
    r"const a = /[\"'`]/g, b = !/`/.test(s);",
    r"all.map((s) => /'/.test(s));",
    r"f(\n  /\"[^/*]/,\n  s);",
    r"const f = () => { return /`/ };",
    r"f(/https?:\/\//, '');",
    "<p>Don't stop: 5' or 6\" {",
    "<p>see http://a.b {",
    "<a>/*.ts</a>; {",
    "<p>Path: /{a.b}/{",
    "<p>and (/</p>; {",
    "a! / b! / {",
]


@pytest.mark.parametrize("before", LOOKALIKES)
def test_what_opens_no_text(before: str) -> None:
    before = before.replace("\\n", "\n")
    for text in (f"{before} x.label", f"{before}\nx.label"):
        assert is_code("typescriptreact", text, at_label(text)), text


@pytest.mark.parametrize(
    "before",
    [
        "a = b / c; // ",
        "f(/'/); // ",
        "f(/'/, '",
        "case'a':return\"",
        "import a from'",
        "a = b ? /* ",
        "// it's\n/* \"\n",
        "a = b / c / '",
        "`${a}`; /// ",
    ],
)
def test_what_opens_a_text(before: str) -> None:
    text = f"{before}x.label */ '"
    assert not is_code("typescript", text, at_label(text))
