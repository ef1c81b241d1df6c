"""Arguments against the schemas: what is refused, and in which words."""

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.calls.validate import Validator, load_schema
from sightline.contract.failures import InvalidArguments
from sightline.tools.catalogue import CATALOGUE

VALIDATORS = {tool.info.name: Validator(tool.info.name, tool.arguments) for tool in CATALOGUE}
PLACE = {"uri": "file:///a", "position": {"line": 0, "character": 0}}
REFERENCES = "vscode.lsp.references"
SYMBOLS = "vscode.lsp.workspaceSymbols"


def issues(tool: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    with pytest.raises(InvalidArguments) as refused:
        VALIDATORS[tool].check(arguments)
    found = refused.value.details["issues"]
    assert isinstance(found, list) and found
    return found


@pytest.mark.requirement("GW-9-fail-closed", "GW-6.3-INVALID_PARAMS", "GS-8-invalid-inputs")
@pytest.mark.requirement("GW-8-unknown-fields")
@pytest.mark.parametrize(
    ("tool", "arguments", "path", "keyword"),
    [
        ("vscode.lsp.hover", {}, "", "required"),
        ("vscode.lsp.hover", {"uri": "file:///a"}, "", "required"),
        ("vscode.lsp.hover", PLACE | {"extra": 1}, "", "additionalProperties"),
        ("vscode.lsp.hover", PLACE | {"uri": 5}, "/uri", "type"),
        ("vscode.lsp.hover", PLACE | {"uri": ""}, "/uri", "minLength"),
        ("vscode.lsp.hover", PLACE | {"uri": "file:" + "x" * 20_000}, "/uri", "maxLength"),
        ("vscode.lsp.hover", PLACE | {"position": None}, "/position", "type"),
        ("vscode.lsp.definition", PLACE | {"position": {"line": 0}}, "/position", "required"),
        (
            "vscode.lsp.definition",
            PLACE | {"position": {"line": 0, "character": 0, "x": 0}},
            "/position",
            "additionalProperties",
        ),
        (
            "vscode.lsp.definition",
            PLACE | {"position": {"line": 1.5, "character": 0}},
            "/position/line",
            "type",
        ),
        (
            "vscode.lsp.definition",
            PLACE | {"position": {"line": "0", "character": 0}},
            "/position/line",
            "type",
        ),
        (
            "vscode.lsp.definition",
            PLACE | {"position": {"line": True, "character": 0}},
            "/position/line",
            "type",
        ),
        (
            "vscode.lsp.definition",
            PLACE | {"position": {"line": 2**31, "character": 0}},
            "/position/line",
            "maximum",
        ),
        (REFERENCES, PLACE | {"includeDeclaration": "true"}, "/includeDeclaration", "type"),
        (REFERENCES, PLACE | {"pageSize": 0}, "/pageSize", "minimum"),
        (REFERENCES, PLACE | {"pageSize": None}, "/pageSize", "type"),
        (REFERENCES, PLACE | {"cursor": 5}, "/cursor", "type"),
        (REFERENCES, PLACE | {"cursor": "x" * 1_025}, "/cursor", "maxLength"),
        (SYMBOLS, {"query": ""}, "/query", "minLength"),
        (SYMBOLS, {"query": " \t"}, "/query", "pattern"),
        (SYMBOLS, {"query": "\U0001f600" * 513}, "/query", "maxLength"),
        ("vscode.lsp.documentSymbols", PLACE, "", "additionalProperties"),
        ("vscode.lsp.diagnostics.document", {}, "", "required"),
        ("vscode.lsp.diagnostics.workspace", {"uri": "file:///a"}, "", "additionalProperties"),
    ],
)
def test_what_is_refused(tool: str, arguments: dict[str, Any], path: str, keyword: str) -> None:
    found = issues(tool, arguments)
    assert (path, keyword) in {(issue["path"], issue["keyword"]) for issue in found}
    assert all(issue.keys() == {"path", "keyword", "message", "schemaPath"} for issue in found)


@pytest.mark.requirement("GW-4.1-numbers")
@pytest.mark.parametrize("member", ["line", "character"])
@pytest.mark.parametrize("value", [-1, -(10**30), 0.5, 1e300])
def test_positions_are_whole_numbers_from_zero(member: str, value: float) -> None:
    issues(REFERENCES, PLACE | {"position": {"line": 0, "character": 0} | {member: value}})


@pytest.mark.requirement("GS-5.2-invalid-params")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (REFERENCES, PLACE | {"cursor": None, "pageSize": 10**30}),
        (REFERENCES, PLACE | {"pageSize": 1.0}),
        (SYMBOLS, {"query": "\U0001f600" * 512}),
        ("vscode.lsp.diagnostics.workspace", {}),
    ],
)
def test_what_is_taken(tool: str, arguments: dict[str, Any]) -> None:
    assert VALIDATORS[tool].check(arguments) is not None


def test_at_most_ten_issues_in_one_order() -> None:
    wrong = {f"extra{number}": 1 for number in range(30)} | {"position": [], "pageSize": 0}
    found = issues(REFERENCES, wrong)
    assert len(found) <= 10
    assert found == sorted(found, key=lambda i: (i["path"], i["keyword"], i["schemaPath"]))
    assert issues(REFERENCES, dict(reversed(wrong.items()))) == found


@pytest.mark.parametrize("member", ["query", "path", "other\ud800"], ids=["text", "item", "name"])
def test_half_a_character_is_refused(member: str) -> None:
    wrong: dict[str, Any] = {"query": "x", member: ["a\ud800"] if member == "path" else "a\ud800"}
    with pytest.raises(InvalidArguments, match="whole characters"):
        VALIDATORS["search"].check(wrong)


def arrays(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts of a schema that allow an array."""
    kinds = schema.get("type", ())
    inner = [*schema.get("properties", {}).values(), schema.get("items", {})]
    own = [schema] if "array" in ([kinds] if isinstance(kinds, str) else kinds) else []
    return own + [part for each in inner if each for part in arrays(each)]


@pytest.mark.parametrize("tool", [tool.info.name for tool in CATALOGUE])
def test_every_array_is_bounded(tool: str) -> None:
    assert all("maxItems" in array for array in arrays(load_schema(tool)))


@pytest.mark.parametrize("item", [1, "", [], {"a": [[]]}, [""] * 3, ["a"] * 3])
def test_an_array_as_long_as_a_message_has_the_issues_of_one_a_little_too_long(item: Any) -> None:
    """Not one for each item: that took twelve seconds and 900 MB."""
    for names in (["path"], ["query", "other", "mode"]):
        short, long = (
            {"query": "x"} | {name: [item] * count for name in names} for count in (40, 500_000)
        )
        assert issues("search", long) == issues("search", short)


@pytest.mark.requirement("GW-6.3-nothing-leaks")
def test_a_value_is_never_repeated() -> None:
    secret = "PLANTED-7f3a"
    wrong: list[tuple[str, dict[str, Any]]] = [
        (SYMBOLS, {"query": 5, "cursor": secret * 200}),
        (REFERENCES, PLACE | {"uri": [secret], "pageSize": secret}),
        (REFERENCES, PLACE | {"position": {"line": secret, "character": {"a": secret}}}),
    ]
    for tool, arguments in wrong:
        assert secret not in str(issues(tool, arguments))


@pytest.mark.requirement("GW-6.3-nothing-leaks")
@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["extra"], "must not have extra"),
        (["b", "a"], "must not have a, b"),
        (["/etc/secret/file"], "must not have 1 other members"),
        (["a", "token-0123456789", "x" * 40], "must not have a, 2 other members"),
        (
            [f"n{n}" for n in range(9)],
            "must not have n0, n1, n2, n3, n4, n5, n6, n7, 1 other members",
        ),
    ],
)
def test_a_name_is_repeated_only_if_it_is_one(names: list[str], message: str) -> None:
    (issue,) = issues(SYMBOLS, {"query": "x"} | dict.fromkeys(names, 1))
    assert issue["message"] == message


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
members = st.sampled_from(["uri", "position", "pageSize", "cursor", "query", "includeDeclaration"])


@pytest.mark.requirement("GW-9-fail-closed")
@given(st.sampled_from(sorted(VALIDATORS)), st.dictionaries(members, anything, max_size=4))
def test_arguments_are_typed_or_refused(tool: str, arguments: dict[str, Any]) -> None:
    kind = next(t.arguments for t in CATALOGUE if t.info.name == tool)
    with contextlib.suppress(InvalidArguments):
        assert type(VALIDATORS[tool].check(arguments)) is kind
