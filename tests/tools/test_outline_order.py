"""An outline is in the contract's order, however a server tells it."""

from hypothesis import given
from hypothesis import strategies as st

from sightline.contract.orders import document_symbol_key
from sightline.contract.source import RawSymbol
from sightline.contract.values import Position, Range
from sightline.tools.document_symbols import _flatten

#: With names where some of the ranges are.
TEXT = "b a\n\uffee b\na\n\U0001f600 a"
positions = st.builds(Position, st.integers(0, 3), st.integers(0, 3))
ranges = st.builds(Range, positions, positions)
names = st.sampled_from(["a", "b", "\uffee", "\U0001f600"])
leaves = st.builds(RawSymbol, names, st.integers(1, 3), ranges, ranges)
nodes = st.recursive(
    leaves,
    lambda inner: st.builds(
        RawSymbol,
        names,
        st.integers(1, 3),
        ranges,
        ranges,
        children=st.lists(inner, max_size=3).map(tuple),
    ),
)


@given(st.lists(nodes, max_size=6))
def test_every_outline_is_in_order(roots: list[RawSymbol]) -> None:
    found = [symbol for symbol, _ in _flatten("file:///a", roots, TEXT)]
    assert found == sorted(found, key=document_symbol_key)
    assert len({(symbol.name, symbol.id) for symbol in found}) == len(found)


def test_one_that_is_in_order_already() -> None:
    lines = [Range(Position(line, 0), Position(line, 9)) for line in range(5)]
    roots = [RawSymbol(f"s{9 - line}", 12, lines[line], lines[line]) for line in range(5)]
    names = [symbol.name for symbol, _ in _flatten("file:///a", roots, TEXT)]
    assert names == [root.name for root in roots]
