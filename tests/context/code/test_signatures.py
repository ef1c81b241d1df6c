"""Signatures: heads of declarations in several languages, and rules that hold for any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.context.code.signatures import signature
from tests.context.support import PATIENT

BODY = "\n".join(f"    step_{n}(value)" for n in range(12))


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("python", f"def f(a, b):\n{BODY}", "def f(a, b):\n    ..."),
        (
            "python",
            f'@cached(size=3)\nasync def f(\n    a: dict[str, int],\n) -> "x: y":\n{BODY}',
            '@cached(size=3)\nasync def f(\n    a: dict[str, int],\n) -> "x: y":\n    ...',
        ),
        (
            "python",
            f'    def f(self):\n        """Says.\n\n        More.\n        """\n{BODY}',
            '    def f(self):\n        """Says."""\n        ...',
        ),
        (
            "python",
            f'class A(B):\n    """One\n    two."""\n\n{BODY}',
            'class A(B):\n    """One\n    two."""\n    ...',
        ),
        (
            "typescript",
            f"// Adds.\nexport function add(a: {{x: number}}): number {{\n{BODY}\n}}",
            "// Adds.\nexport function add(a: {x: number}): number { ...",
        ),
        (
            "go",
            f"func (s *Shop) Add(\n\titem Item,\n) error {{\n{BODY}\n}}",
            "func (s *Shop) Add(\n\titem Item,\n) error { ...",
        ),
    ],
)
def test_heads(language: str, text: str, expected: str) -> None:
    assert signature(text, language) == expected


@pytest.mark.parametrize("text", ["", "x = 1", "def f(): pass", "def f(", "{" * 50, "# only\n" * 9])
def test_what_has_no_shorter_form(text: str) -> None:
    assert signature(text, "python") is None


@PATIENT
@given(st.text(alphabet="def (:)\"'#@{}\n\t xyzé", max_size=200), st.sampled_from(["python", "go"]))
def test_any_text(text: str, language: str) -> None:
    short = signature(text, language)
    assert short is None or 3 * len(short) <= 2 * len(text)
