"""Other names that Python imports give, and names in ``__all__``, found in texts."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.contract.values import Position, Range
from sightline.lsp.python.names import PythonText

NAMES = st.sampled_from(["cart", "Basket", "ünder", "\U0001d4b3"])


def span(text: str, name: str, number: int = 0) -> Range:
    """The range of the n-th occurrence of a name."""
    offset = -1
    for _ in range(number + 1):
        offset = text.index(name, offset + 1)
    line = text.count("\n", 0, offset)
    before = text[text.rfind("\n", 0, offset) + 1 : offset]
    column = len(before.encode("utf-16-le")) // 2
    length = len(name.encode("utf-16-le")) // 2
    return Range(Position(line, column), Position(line, column + length))


@given(NAMES, NAMES, st.sampled_from(["from 📦 import {} as {}\n", "import {} as {}, x\n"]))
def test_an_alias_is_found_where_it_stands(name: str, alias: str, form: str) -> None:
    text = "# 😀\n" + form.replace("📦", "module").format(name, alias)
    found = PythonText(text).alias_after(span(text, name))
    assert found == span(text, alias, number=1 if alias == name else 0)


@pytest.mark.parametrize(
    ("text", "is_alias"),
    [
        ("from a import (\n    x,  # (so)\n    Cart as Basket,\n)\n", True),
        ("if a:\n    from b import c, \\\n        Cart as Basket\n", True),
        ("import shop.Cart as Basket\n", True),
        ("with Cart as Basket: ...\n", False),
        ("try: ...\nexcept Cart as Basket: ...\n", False),
        ("from a import Cart; x = Cart as Basket\n", False),
        ("# import Cart as Basket\n", False),
        ("important(Cart as Basket)\n", False),
    ],
)
def test_only_imports_give_names(text: str, is_alias: bool) -> None:
    number = text.count("Cart") - 1
    found = PythonText(text).alias_after(span(text, "Cart", number))
    assert (found is not None) == is_alias


@given(st.lists(NAMES, max_size=4), st.sampled_from(["=", "+=", ": list[str] ="]), st.booleans())
def test_exports_are_what_python_reads(names: list[str], sign: str, quoted: bool) -> None:
    quote = '"' if quoted else "'"
    text = f"__all__ {sign} [\n" + "".join(f"    {quote}{name}{quote},\n" for name in names) + "]\n"
    (statement,) = ast.parse(text).body
    assert isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign)
    assert statement.value is not None
    python = PythonText(text)
    for name in ("cart", "Basket", "ünder", "\U0001d4b3"):
        found = python.exports(name)
        assert len(found) == ast.literal_eval(statement.value).count(name)
        assert {python.at(place) for place in found} <= {name}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("__all__.extend(['Cart'])\n", 1),
        ("__all__.append('Cart')\n", 1),
        ("__all__ = ('Cart',)\n", 1),
        ("__all__ = [*other, 'Cart']  # 'Cart'\n", 1),
        ("__all__ = other.__all__\n['Cart']\n", 0),
        ("__all__ = ['Cart's]\n", 1),
        ("not__all__ = ['Cart']\n", 0),
        ("__all__ = ['Carts', 'a.Cart']\n", 0),
    ],
)
def test_forms_of_exports(text: str, count: int) -> None:
    assert len(PythonText(text).exports("Cart")) == count


@pytest.mark.parametrize(
    ("text", "binds"),
    [
        ("class Cart: ...\n", True),
        ("if a:\n    try:\n        Cart = 1\n    except E: ...\n", True),
        ("async def Cart(): ...\n", True),
        ("from a import (\n    b,\n    Cart,\n)\n", True),
        ("from a import Cart as Basket\n", False),
        ("def f():\n    Cart = 1\n", False),
        ("class A:\n\n    # said\n    Cart = 1\n", False),
        ("Cart == 1\n", False),
        ("print(Cart)\n", False),
    ],
)
def test_what_a_module_binds(text: str, binds: bool) -> None:
    assert PythonText(text).binds_in_module(span(text, "Cart")) == binds


@given(st.text("()[]'\"#\\\n \t,asimport fromx.__all__=+"), st.integers(0, 9), st.integers(0, 9))
def test_any_text_and_place(text: str, line: int, column: int) -> None:
    python = PythonText(text)
    place = Range(Position(line, column), Position(line, column + 1))
    python.alias_after(place)
    python.binds_in_module(place)
    for found in python.exports("x"):
        assert python.at(found) == "x"
