"""One member of a JSON file is put in or replaced; every other byte of its user's text stays."""

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sightline.cli.clients import jsonc

NEW = {"command": "sightline", "args": ["stdio"]}

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=8)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | NAMES
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=5)
TOSS: st.SearchStrategy[Any] = st.booleans()
GAPS: st.SearchStrategy[Any] = st.sampled_from(
    ["", "", " ", "\n", "\n  ", "\t", "\r\n", " /* a, b: {} */ ", ' // "c": [1],\n', "/**/"]
)


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """The value as a person may have written it: any white space, comments, trailing commas."""

    def gap() -> str:
        return str(draw(GAPS))

    def write(each: Any) -> str:
        if isinstance(each, dict):
            parts = [
                f"{gap()}{json.dumps(name)}{gap()}:{gap()}{write(inner)}{gap()}"
                for name, inner in each.items()
            ]
            return "{" + joined(parts) + "}"
        if isinstance(each, list):
            return "[" + joined([gap() + write(inner) + gap() for inner in each]) + "]"
        return json.dumps(each, ensure_ascii=bool(draw(TOSS)))

    def joined(parts: list[str]) -> str:
        trailing = "," + gap() if parts and draw(TOSS) else ""
        return ",".join(parts) + trailing if parts else gap()

    return gap() + write(value) + gap()


@given(OBJECTS.flatmap(lambda value: st.tuples(st.just(value), written(value))))
def test_reading_is_the_inverse_of_writing(pair: tuple[Any, str]) -> None:
    value, text = pair
    assert jsonc.value(text) == value


@given(
    OBJECTS.flatmap(lambda value: st.tuples(st.just(value), written(value))),
    st.lists(NAMES, min_size=1, max_size=3),
)
def test_a_new_member_leaves_every_byte_in_its_order(
    pair: tuple[dict[str, Any], str], path: list[str]
) -> None:
    value, text = pair
    assume(path[0] not in value)
    changed = jsonc.put(text, path, NEW)
    assert found(jsonc.value(changed), path) == NEW
    assert is_inside(text, changed)


@given(OBJECTS, st.data())
def test_a_replaced_member_leaves_what_is_around_it(
    value: dict[str, Any], data: st.DataObject
) -> None:
    old = "the old one"
    text = data.draw(written(value | {"servers": {"sightline": old}, "after": [1]}))
    changed = jsonc.put(text, ["servers", "sightline"], NEW)
    before, _, after = text.partition(json.dumps(old))
    assert changed.startswith(before)
    assert changed.endswith(after)
    assert jsonc.value(changed) == value | {"servers": {"sightline": NEW}, "after": [1]}


@given(OBJECTS, st.lists(VALUES, max_size=3), st.data())
def test_an_item_is_put_at_the_end_of_a_list(
    value: dict[str, Any], items: list[Any], data: st.DataObject
) -> None:
    text = data.draw(written(value | {"inputs": items}))
    changed = jsonc.append(text, "inputs", NEW)
    assert jsonc.value(changed) == value | {"inputs": [*items, NEW]}
    assert is_inside(text, changed)


def is_inside(text: str, changed: str) -> bool:
    """Whether every character of the text is still there, in its order."""
    rest = iter(changed)
    return all(character in rest for character in text)


def found(value: Any, path: list[str]) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


STYLES = {
    "an empty file": ("", '{\n  "servers": {\n    "s": 1\n  }\n}\n'),
    "one line": ('{"a": 1}', '{"a": 1, "servers": {"s": 1}}'),
    "a comment behind the last member stays with it": (
        '{\n  "a": 1 // mine\n}\n',
        '{\n  "a": 1, // mine\n  "servers": {\n    "s": 1\n  }\n}\n',
    ),
    "tabs and a trailing comma": (
        '{\n\t"servers": {\n\t\t"x": 2,\n\t},\n}\n',
        '{\n\t"servers": {\n\t\t"x": 2,\n\t\t"s": 1,\n\t},\n}\n',
    ),
    "line ends of Windows": (
        '{\r\n    "a": 1\r\n}\r\n',
        '{\r\n    "a": 1,\r\n    "servers": {\r\n        "s": 1\r\n    }\r\n}\r\n',
    ),
    "nothing but a comment": (
        "{\n  // all defaults\n}\n",
        '{\n  // all defaults\n  "servers": {\n    "s": 1\n  }\n}\n',
    ),
}


@pytest.mark.parametrize(("before", "after"), STYLES.values(), ids=STYLES)
def test_it_is_written_as_the_file_is(before: str, after: str) -> None:
    assert jsonc.put(before, ["servers", "s"], 1) == after


REFUSED = {
    "half an object": ('{"a": 1', "line 1"),
    "two values": ("{} {}", "something follows the end"),
    "a name twice": ('{"servers": {}, "servers": {}}', "servers is there twice"),
    "a list on the way": ('{"servers": []}', "servers is not an object"),
    "a list at the top": ("[]", "the file is not an object"),
    "single quotes": ("{'a': 1}", "a name is missing"),
    "an open comment": ('{"a": 1} /* never closed', "something follows the end"),
    "too deep": ('{"a":' + "[" * 100 + "]" * 100 + "}", "nested too deeply"),
}


@pytest.mark.parametrize(("text", "why"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_changed_safely_is_refused(text: str, why: str) -> None:
    with pytest.raises(jsonc.BadJson, match=why):
        jsonc.put(text, ["servers", "s"], NEW)


def test_comments_are_seen() -> None:
    assert jsonc.has_comments('{"a": 1} // mine')
    assert not jsonc.has_comments('{"url": "http://127.0.0.1/* no comment */"}')
    assert not jsonc.has_comments("")
