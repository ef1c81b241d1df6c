"""Keys and ids: the exact strings of the contract, against known hashes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from sightline.contract import ids, keys
from sightline.contract.canonical import sha256_hex
from sightline.contract.values import Position, Range
from tests.vectors import load

VECTORS = load("gateway")
URI = "file:///abs/path/to/file.ts"
SPAN = Range(Position(1, 2), Position(3, 4))
NAME = Range(Position(1, 6), Position(1, 9))


@pytest.mark.requirement("GW-7.2-key", "GW-7.5-key", "GW-7.7-key")
@pytest.mark.parametrize("row", VECTORS["request_keys"])
def test_request_keys(row: dict[str, str]) -> None:
    _, tool, *fields = row["preimage"].split("|")
    typed: list[str | int | bool] = [_typed(field) for field in fields]
    assert keys.request_key(tool, *typed) == row["k"] == sha256_hex(row["preimage"])


def _typed(field: str) -> str | int | bool:
    if field in ("true", "false"):
        return field == "true"
    return int(field) if field.isdigit() else field


@pytest.mark.requirement("GW-3.6.1-snapshot-key", "GW-3.6.1-epoch-string")
@pytest.mark.parametrize("row", VECTORS["epoch_strings"])
def test_snapshot_keys(row: dict[str, Any]) -> None:
    epochs = keys.epoch_string(row["rootsKey"], row["epochs"])
    assert epochs == row["out"]
    assert keys.snapshot_key("request-key", epochs) == row["s_for_k_request_key"]


@given(st.lists(st.text(max_size=5), max_size=4, unique=True), st.randoms())
def test_the_order_of_roots_does_not_matter(roots: list[str], random: Any) -> None:
    shuffled = list(roots)
    random.shuffle(shuffled)
    assert keys.roots_key(roots) == keys.roots_key(shuffled)


@pytest.mark.requirement("GW-3.6.1-roots-count")
@given(st.sets(st.text(max_size=5), max_size=4), st.sets(st.text(max_size=5), max_size=4))
def test_other_roots_are_another_key(one: set[str], other: set[str]) -> None:
    assert (keys.roots_key(list(one)) == keys.roots_key(list(other))) == (one == other)


@pytest.mark.requirement("GW-3.7-id-format")
@pytest.mark.parametrize("row", VECTORS["ids"])
def test_ids(row: dict[str, str]) -> None:
    assert ids.stable_id(row["canonical_string"]) == row["id"]


@pytest.mark.requirement("GW-7.5-id")
@pytest.mark.parametrize("row", VECTORS["workspace_symbol_ids"])
def test_workspace_symbol_ids(row: dict[str, Any]) -> None:
    span = _range(row["range"])
    container = row.get("containerName", UNSET)
    assert (
        ids.workspace_symbol_id(row["uri"], row["name"], row["kind"], span, container) == row["id"]
    )


@pytest.mark.requirement("GW-7.4-id")
def test_document_symbol_id() -> None:
    found = ids.document_symbol_id(URI, "name", 12, SPAN, NAME, "Holder")
    assert found == ids.stable_id(f"{URI}|name|12|1:2|3:4|1:6|1:9|Holder")
    alone = ids.document_symbol_id(URI, "name", 12, SPAN, NAME, UNSET)
    assert alone == ids.stable_id(f"{URI}|name|12|1:2|3:4|1:6|1:9|")


@pytest.mark.requirement("GW-7.6-id")
def test_diagnostic_id() -> None:
    full = ids.diagnostic_id(URI, SPAN, 1, "E1", "tool", "wrong")
    assert full == ids.stable_id(f"{URI}|1:2|3:4|1|E1|tool|wrong")
    bare = ids.diagnostic_id(URI, SPAN, UNSET, UNSET, UNSET, "wrong")
    assert bare == ids.stable_id(f"{URI}|1:2|3:4||||wrong")


def _range(row: dict[str, Any]) -> Range:
    return Range(Position(**row["start"]), Position(**row["end"]))
