"""The catalogue and its schemas: sections 2 and 8 of the contract, and the schema rules."""

import ast
import json
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

import sightline
from sightline.calls.listing import Listing
from sightline.calls.validate import load_schema
from sightline.contract import limits
from sightline.contract.settings import Settings
from sightline.protocol.revisions import NEWEST
from sightline.server.compose import catalogue_for
from sightline.tools.catalogue import CATALOGUE

SEVEN = [
    "vscode.lsp.definition",
    "vscode.lsp.references",
    "vscode.lsp.hover",
    "vscode.lsp.documentSymbols",
    "vscode.lsp.workspaceSymbols",
    "vscode.lsp.diagnostics.document",
    "vscode.lsp.diagnostics.workspace",
]
#: What answers with a text has no schema of its answers.
WORDS = {tool.info.name for tool in CATALOGUE if tool.info.family == "code"}
FILES = sorted(
    entry.name for entry in files("sightline.schemas").joinpath("tools").iterdir()
    if entry.name.endswith(".json")
)  # fmt: skip
SCHEMAS = [pytest.param(name.removesuffix(".json"), id=name) for name in FILES]


def listing(**settings: Any) -> list[dict[str, Any]]:
    made, _ = Settings.parse(settings)
    result = Listing(catalogue_for(made), "0.0.0-masked").result(
        made.tool_names, made.content, NEWEST
    )
    tools: list[dict[str, Any]] = json.loads(bytes(result))["tools"]
    return tools


def read(name: str) -> dict[str, Any]:
    if name.endswith(".output"):
        return load_schema(name.removesuffix(".output"), output=True)
    return load_schema(name)


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema inside a schema."""
    if not isinstance(schema, dict):
        return
    yield schema
    for member in schema.get("properties", {}).values():
        yield from nodes(member)
    yield from nodes(schema.get("items"))
    for branch in ("anyOf", "oneOf", "allOf"):
        for inner in schema.get(branch, []):
            yield from nodes(inner)


@pytest.mark.requirement("GW-2.1-catalogue")
def test_the_family_lsp_is_exactly_the_seven_in_order() -> None:
    assert [tool["name"] for tool in listing(families=["lsp"])] == SEVEN


@pytest.mark.requirement("GW-2.2-metadata", "ST-2.1-definition")
@pytest.mark.parametrize("tool", listing(), ids=lambda tool: tool["name"])
def test_every_entry(tool: dict[str, Any]) -> None:
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,64}", tool["name"])
    assert 10 < len(tool["description"]) <= 300 and len(tool["title"]) <= 60
    assert tool["inputSchema"]["type"] == "object"
    assert tool["name"] in WORDS or tool["outputSchema"]["type"] == "object"
    versions = {"schemaVersion", "toolingVersion"}
    assert type(tool["schemaVersion"]) is int and tool["schemaVersion"] >= 1
    assert isinstance(tool["toolingVersion"], str)
    assert tool["_meta"] == {name: tool[name] for name in versions}


@pytest.mark.requirement("GW-2.2-read-only-hint")
def test_every_lsp_tool_is_read_only() -> None:
    for tool in listing(families=["lsp"]):
        assert tool["annotations"] == {"readOnlyHint": True}


@pytest.mark.requirement("GW-2.2-inlined", "GS-7-self-contained")
def test_the_listing_refers_to_nothing() -> None:
    text = json.dumps(listing())
    assert "$ref" not in text and "$defs" not in text and "$dynamicRef" not in text


@pytest.mark.requirement("GS-8-listed", "GW-8-files")
def test_the_listing_shows_the_files() -> None:
    for tool in listing():
        assert tool["inputSchema"] == load_schema(tool["name"])
        assert ("outputSchema" in tool) is (tool["name"] not in WORDS)
        if tool["name"] not in WORDS:
            assert tool["outputSchema"] == load_schema(tool["name"], output=True)
    names = {tool.info.name for tool in CATALOGUE}
    due = {f"{name}{end}" for name in names for end in (".json", ".output.json")}
    assert set(FILES) == due - {f"{name}.output.json" for name in WORDS}


@pytest.mark.requirement("GS-2-dialect")
@pytest.mark.parametrize("name", SCHEMAS)
def test_the_dialect_is_named_and_kept(name: str) -> None:
    schema = read(name)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert jsonschema_rs.meta.is_valid(schema)


@pytest.mark.requirement("GS-4-root-object", "GS-4-closed", "GS-4-required", "GW-8-required")
@pytest.mark.parametrize("name", SCHEMAS)
def test_objects_are_closed_and_say_what_they_need(name: str) -> None:
    schema = read(name)
    assert schema["type"] == "object"
    for node in nodes(schema):
        if node.get("type") == "object" or "properties" in node:
            assert node["additionalProperties"] is False
            required = node.get("required", [])
            assert set(required) <= set(node["properties"])
            assert required == [key for key in node["properties"] if key in required]


@pytest.mark.requirement("GS-4-no-defaults")
@pytest.mark.parametrize("name", SCHEMAS)
def test_nothing_has_a_default(name: str) -> None:
    assert not [node for node in nodes(read(name)) if "default" in node]


@pytest.mark.requirement("GS-4-descriptions")
@pytest.mark.parametrize("name", SCHEMAS)
def test_descriptions_are_short(name: str) -> None:
    for node in nodes(read(name)):
        assert len(node.get("description", "")) <= 200
        assert not re.search(r"/(home|Users|tmp|work)/", node.get("description", ""))


@pytest.mark.requirement("GS-5.2-caps")
@pytest.mark.parametrize("name", SCHEMAS)
def test_strings_and_arrays_are_bounded(name: str) -> None:
    # A frozen answer repeats the words of the query: as many as a message of 1 MiB can hold.
    most = 524_288 if name.startswith("context.") else 20_000
    for node in nodes(read(name)):
        kinds = node.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if "array" in kinds:
            assert node["maxItems"] <= most
        bounded = "enum" in node or "const" in node or "maxLength" in node or "pattern" in node
        assert "string" not in kinds or bounded, node


@pytest.mark.requirement("GW-3.1-summary")
@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".output.json")])
def test_a_summary_has_one_bound(name: str) -> None:
    summary = read(name.removesuffix(".json"))["properties"].get("summary")
    assert (summary is None) == name.startswith("context."), "context has frozen answers"
    assert summary is None or summary["maxLength"] == limits.MAX_SUMMARY_CODE_POINTS


def _tools_with(member: str) -> list[str]:
    return [name for name in SEVEN if member in load_schema(name)["properties"]]


@pytest.mark.requirement("GS-5.1-position")
def test_places() -> None:
    assert len(_tools_with("position")) == 3
    for name in _tools_with("position"):
        schema = load_schema(name)
        assert {"uri", "position"} <= set(schema["required"])
        position = schema["properties"]["position"]
        assert position["required"] == ["line", "character"]
        for number in position["properties"].values():
            assert (number["type"], number["minimum"]) == ("integer", 0)


@pytest.mark.requirement("GS-5.1-paging", "GW-8-required")
def test_paging_members() -> None:
    paged = [tool.info.name for tool in CATALOGUE if tool.info.paged and tool.info.family == "lsp"]
    assert _tools_with("cursor") == _tools_with("pageSize") == paged
    for name in paged:
        members = load_schema(name)["properties"]
        assert members["cursor"]["type"] == ["string", "null"]
        assert members["pageSize"]["type"] == "integer" and members["pageSize"]["minimum"] == 1
        assert "maximum" not in members["pageSize"], "more is clamped, not refused"
        assert not {"cursor", "pageSize"} & set(load_schema(name).get("required", []))


@pytest.mark.requirement("GW-8-choices", "GW-8-output")
def test_choices_of_the_contract() -> None:
    symbols = load_schema("vscode.lsp.documentSymbols", output=True)["properties"]["symbols"]
    assert "children" not in symbols["items"]["properties"]
    assert symbols["maxItems"] == 200
    report = load_schema("vscode.lsp.diagnostics.workspace", output=True)
    assert report["required"] == ["items", "nextCursor"]
    groups = report["properties"]["items"]
    assert set(groups["items"]["properties"]) == {"uri", "diagnostics"}
    assert groups["items"]["properties"]["diagnostics"]["maxItems"] == 200


@pytest.mark.requirement("GA-no-network")
def test_no_module_imports_a_network_client() -> None:
    """Sockets are for listening, and for one's own programs; nothing here calls out.

    One file connects: ``config --check`` speaks to the server a client was told of, and refuses
    every address that is not this machine (tests/clients/test_config_check.py).
    """
    package = Path(sightline.__file__).parent
    connects = package / "cli/clients/lines.py"
    assert "parts.hostname not in _LOOPBACK" in connects.read_text(encoding="utf-8")
    forbidden = {
        "http.client", "urllib.request", "ftplib", "smtplib", "imaplib", "poplib", "telnetlib",
        "xmlrpc", "requests", "httpx", "aiohttp", "websockets", "urllib3", "httpcore", "ssl",
        "webbrowser",
    }  # fmt: skip
    for file in package.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            assert not forbidden & set(names), file
        calls_out = "create_connection" in text or "open_connection" in text
        assert not calls_out or file == connects, file
