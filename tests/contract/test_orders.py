"""Every order is total, and duplicates go wherever they stand."""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from sightline.contract import ids, orders
from sightline.contract.canonical import canonical_json
from sightline.contract.values import (
    Diagnostic,
    DocumentSymbol,
    HoverContent,
    Location,
    Position,
    Range,
    WorkspaceSymbol,
)
from tests.vectors import load

VECTORS = load("gateway")
T = TypeVar("T", bound=msgspec.Struct)

small = st.integers(0, 2)
positions = st.builds(Position, small, small)
ranges = st.builds(Range, positions, positions)
uris = st.sampled_from(["file:///B", "file:///a", "file:///a/b", "file:///a%20b"])
names = st.sampled_from(["a", "b", "A", "\uff5e", "\U0001f600", "é"])
maybe = st.just(UNSET) | names
locations = st.builds(Location, uris, ranges)


@st.composite
def workspace_symbols(draw: st.DrawFn) -> WorkspaceSymbol:
    name, kind, place, container = draw(names), draw(small), draw(locations), draw(maybe)
    id_ = ids.workspace_symbol_id(place.uri, name, kind, place.range, container)
    return WorkspaceSymbol(id_, name, kind, place, container)


@st.composite
def document_symbols(draw: st.DrawFn) -> DocumentSymbol:
    name, kind, container = draw(names), draw(small), draw(maybe)
    span, own = draw(ranges), draw(ranges)
    id_ = ids.document_symbol_id("file:///a", name, kind, span, own, container)
    return DocumentSymbol(id_, name, kind, span, own, container)


@st.composite
def diagnostics(draw: st.DrawFn) -> Diagnostic:
    span, message = draw(ranges), draw(names)
    severity, code, source = draw(st.just(UNSET) | small), draw(maybe), draw(maybe)
    id_ = ids.diagnostic_id("file:///a", span, severity, code, source, message)
    return Diagnostic(id_, span, severity, code, source, message)


hovers = st.builds(HoverContent, st.sampled_from(["markdown", "plaintext"]), names)

KINDS = [
    pytest.param(locations, orders.location_key, id="locations"),
    pytest.param(workspace_symbols(), orders.workspace_symbol_key, id="workspace symbols"),
    pytest.param(document_symbols(), orders.document_symbol_key, id="document symbols"),
    pytest.param(diagnostics(), orders.diagnostic_key, id="diagnostics"),
    pytest.param(hovers, orders.hover_key, id="hover"),
]


@pytest.mark.requirement("GW-1.3-sorted-once")
@pytest.mark.parametrize(("items", "key"), KINDS)
def test_the_order_is_total(items: st.SearchStrategy[T], key: Callable[[T], Any]) -> None:
    @given(items, items)
    def check(one: T, other: T) -> None:
        assert (key(one) == key(other)) == (one == other)
        assert (key(one) < key(other)) + (key(other) < key(one)) == (one != other)

    check()


@pytest.mark.requirement("GW-4.3-duplicates")
@pytest.mark.parametrize(("items", "key"), KINDS)
def test_any_arrangement_gives_one_list(
    items: st.SearchStrategy[T], key: Callable[[T], Any]
) -> None:
    @given(st.lists(items, max_size=8), st.randoms())
    def check(found: list[T], random: Any) -> None:
        shuffled = found * 2
        random.shuffle(shuffled)
        once = orders.canonical(found, key)
        assert orders.canonical(shuffled, key) == once
        spelled = [canonical_json(msgspec.to_builtins(item)) for item in once]
        assert len(set(spelled)) == len(spelled)
        assert set(spelled) == {canonical_json(msgspec.to_builtins(item)) for item in found}

    check()


@pytest.mark.requirement("GW-4.2-locations")
def test_known_locations() -> None:
    rows = VECTORS["sort_locations"]
    found = orders.canonical([_location(row) for row in rows["input"]], orders.location_key)
    assert found == [_location(row) for row in rows["deduped"]]


@pytest.mark.requirement("GW-4.2-workspace-symbols")
def test_known_workspace_symbols() -> None:
    rows = VECTORS["sort_workspace_symbols"]
    found = orders.canonical([_symbol(row) for row in rows["input"]], orders.workspace_symbol_key)
    assert found == [_symbol(row) for row in rows["deduped"]]


@pytest.mark.requirement("GW-4.2-document-symbols")
def test_document_symbols_in_the_contract_s_order() -> None:
    def symbol(
        line: int, name: str = "n", kind: int = 1, own: int = 0, container: str | None = None
    ) -> DocumentSymbol:
        span = Range(Position(line, 0), Position(9, 0))
        selection = Range(Position(own, 0), Position(own, 1))
        return DocumentSymbol("id", name, kind, span, selection, container or UNSET)

    expected = [
        symbol(0, "z"),
        symbol(1, "a"),
        symbol(1, "b", kind=1),
        symbol(1, "b", kind=2, container="c"),
        symbol(1, "b", kind=2, own=1),
        symbol(1, "b", kind=2, own=2),
    ]
    assert orders.canonical(expected[::-1], orders.document_symbol_key) == expected


@pytest.mark.requirement("GW-4.2-diagnostics")
def test_diagnostics_in_the_contract_s_order() -> None:
    def diagnostic(
        line: int,
        severity: int | None = None,
        code: str | None = None,
        source: str | None = None,
        message: str = "m",
        end: int = 5,
    ) -> Diagnostic:
        span = Range(Position(line, 0), Position(end, 0))
        own = UNSET if severity is None else severity
        return Diagnostic("id", span, own, code or UNSET, source or UNSET, message)

    expected = [
        diagnostic(0, end=9),
        diagnostic(1, 1, "10", message="z", end=9),
        diagnostic(1, 1, "9", end=9),
        diagnostic(1, 1, "9x", "a", end=9),
        diagnostic(1, 1, "9x", "b", "a", end=9),
        diagnostic(1, 1, "9x", "b", "b", end=2),
        diagnostic(1, 1, "9x", "b", "b", end=3),
        diagnostic(1, 1, "9x", end=1),
        diagnostic(1, 1, end=1),
        diagnostic(1, 2, end=1),
        diagnostic(1, end=1),
    ]
    assert orders.canonical(expected[::-1], orders.diagnostic_key) == expected


def _location(row: dict[str, Any]) -> Location:
    return msgspec.convert(row, Location)


def _symbol(row: dict[str, Any]) -> WorkspaceSymbol:
    return msgspec.convert({"id": "same", **row}, WorkspaceSymbol)
