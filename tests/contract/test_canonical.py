"""Canonical JSON: one spelling per value, JavaScript's."""

import json
import math
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.contract.canonical import JsonValue, canonical_json, sha256_hex, utf16_key
from tests.vectors import load

VECTORS = load("gateway")

texts = st.text(st.characters(exclude_categories=["Cs"]))
numbers = st.one_of(
    st.integers(min_value=-(2**53) + 1, max_value=2**53 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)

#: Prints the canonical JSON of each line of its input, by JavaScript's own stringify and sort.
_JAVASCRIPT = """
const stable = (value) => {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return "[" + value.map(stable).join(",") + "]";
  const names = Object.keys(value).sort();
  return "{" + names.map((n) => JSON.stringify(n) + ":" + stable(value[n])).join(",") + "}";
};
const lines = require("fs").readFileSync(0, "utf8").split("\\n").filter((line) => line);
process.stdout.write(lines.map((line) => stable(JSON.parse(line))).join("\\n"));
"""


@pytest.mark.requirement("GW-4.3-canonical-json")
@pytest.mark.parametrize("row", VECTORS["stable_json"])
def test_known_values(row: dict[str, object]) -> None:
    value = row["input"]
    assert canonical_json(value) == row["out"]  # type: ignore[arg-type]


@given(values)
def test_it_reads_back_as_the_same_value(value: JsonValue) -> None:
    assert json.loads(canonical_json(value), parse_int=float) == value


@given(st.dictionaries(texts, numbers, max_size=6), st.randoms())
def test_member_order_does_not_matter(value: dict[str, float], random: object) -> None:
    shuffled = list(value.items())
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert canonical_json(dict(shuffled)) == canonical_json(value)


@given(values, values)
def test_equal_bytes_mean_equal_values(one: JsonValue, other: JsonValue) -> None:
    assert (canonical_json(one) == canonical_json(other)) == (
        json.loads(canonical_json(one)) == json.loads(canonical_json(other))
        and _same_types(one, other)
    )


def _same_types(one: object, other: object) -> bool:
    """Python calls ``True`` and ``1`` equal; JSON does not."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return all(map(_same_types, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return all(_same_types(one[key], other[key]) for key in one)
    return True


@pytest.mark.skipif(shutil.which("node") is None, reason="compares with JavaScript itself")
def test_javascript_spells_it_the_same() -> None:
    """Hundreds of generated values through one Node process."""
    collected: list[JsonValue] = [
        *(float(f"{digits}e{power}") for digits in (1, 1.5, 123456789) for power in _EXPONENTS),
        *(-(10**k) for k in range(30)),
        2**53, 2**64, 12345678901234567890, 5e-324, 1.7976931348623157e308, -0.0, 0.1 + 0.2,
    ]  # fmt: skip

    @settings(max_examples=400, database=None)
    @given(values)
    def collect(value: JsonValue) -> None:
        collected.append(value)

    collect()
    # Integral floats are written as JavaScript reads them; the test is about what it writes.
    lines = [json.dumps(value) for value in collected]
    done = subprocess.run(
        ["node", "-e", _JAVASCRIPT],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        timeout=60,
    )
    theirs = done.stdout.split("\n")
    assert [canonical_json(value) for value in collected] == theirs


_EXPONENTS = (-320, -308, -300, -30, -8, -7, -6, -5, -1, 0, 1, 5, 19, 20, 21, 22, 23, 100, 300)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 10**400, -(10**400)])
def test_numbers_that_are_not_finite_are_null(number: float) -> None:
    assert canonical_json([number]) == "[null]"


def test_half_a_surrogate_pair_is_escaped() -> None:
    """A folder whose name is not UTF-8 decodes to such characters."""
    assert canonical_json("a\udc80b") == '"a\\udc80b"'
    assert canonical_json({"\ud800": "\U0001f600"}) == '{"\\ud800":"\U0001f600"}'


@given(st.lists(texts, max_size=8))
def test_strings_sort_by_utf16_code_unit(items: list[str]) -> None:
    units = [_code_units(text) for text in sorted(items, key=utf16_key)]
    assert units == sorted(units)


def test_utf16_order_is_not_code_point_order() -> None:
    beyond, private = "\U0001f600", "\uff5e"
    assert beyond > private
    assert utf16_key(beyond) < utf16_key(private)


def _code_units(text: str) -> list[int]:
    raw = text.encode("utf-16-be")
    return [int.from_bytes(raw[i : i + 2], "big") for i in range(0, len(raw), 2)]


def test_sha256_is_of_utf8() -> None:
    assert sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert len(sha256_hex("\udc80")) == 64
