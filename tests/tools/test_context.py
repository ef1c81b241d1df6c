"""The three context tools over both transports and from the command line."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from sightline.calls import families
from sightline.contract import failures
from tests.context.support import VECTORS, build, make_cache_root, recorded
from tests.support.http import HttpServer, free_port
from tests.support.program import command, environment, run
from tests.support.stdio import StdioServer

SCHEMAS = VECTORS / "stored" / "compat" / "schemas"
SAMPLE = recorded("mcp_exchanges_sample.json")
ASKED = {"cache": "docs", "query": "Beta alpha", "budget": 100}
REVISIONS = {"2024-11-05": False, "2025-03-26": False, "2025-06-18": True, "2025-11-25": True}


@pytest.fixture
def caches(home: Path) -> Path:
    """The user's own folder of caches, with one called docs."""
    folder = home / ".local/share/sightline/context"
    folder.mkdir(parents=True)
    build(folder, {"a.md": "alpha beta", "b.md": "beta\n", "c.md": "é \u2028 ΣΑΣ"}, "docs")
    return folder


def printed(home: Path, *arguments: str | Path) -> str:
    done = run(home, "context", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def resolved(home: Path, caches: Path, asked: dict[str, Any]) -> str:
    options = (f"--query={asked['query']}", f"--budget={asked['budget']}")
    return printed(home, "resolve", "--cache", caches / asked["cache"], *options)


def frozen(name: str) -> Any:
    return jsonschema_rs.validator_for(json.loads((SCHEMAS / f"{name}.schema.json").read_text()))


def error_code(answer: Any) -> str:
    """The code of a frozen error, after everything else about it was checked."""
    result = answer["result"]
    assert list(result) == ["isError", "content"]
    assert result["isError"] is True
    (content,) = result["content"]
    assert content["type"] == "text"
    text: str = content["text"]
    error = json.loads(text)
    frozen("mcp_error").validate(error)
    code: str = error["error"]["code"]
    message = families.CONTEXT_MESSAGES[code]
    assert text == f'{{"error":{{"code":"{code}","message":"{message}"}}}}\n'
    return code


@pytest.mark.requirement("CX-resolve-tool")
@pytest.mark.requirement("CX-text-equals-stdout")
@pytest.mark.requirement("CX-selection-schema")
def test_resolve_over_http(serve: Callable[..., HttpServer], home: Path, caches: Path) -> None:
    server = serve("--tools", "context")
    result = server.call("context.resolve", ASKED)["result"]
    text = resolved(home, caches, ASKED)
    assert result["content"] == [{"type": "text", "text": text}]
    assert result["structuredContent"] == json.loads(text)
    frozen("selection_result").validate(json.loads(text))
    assert result["isError"] is False


@pytest.mark.requirement("CX-errors")
@pytest.mark.requirement("CX-answer-limit")
def test_errors_and_large_answers_over_http(
    serve: Callable[..., HttpServer], home: Path, caches: Path
) -> None:
    build(caches, {f"{n}.md": f"{n} " + "word " * 20_000 for n in range(40)}, "large")
    server = serve("--tools", "context")
    for asked, code in (
        (ASKED | {"cache": "none"}, "cache_missing"),
        (ASKED | {"budget": -1}, "invalid_budget"),
        (ASKED | {"cache": "large", "budget": 10**7}, "invalid_budget"),
    ):
        assert error_code(server.call("context.resolve", asked)) == code
    asked = {"cache": "large", "query": "word", "budget": 400_000}
    result = server.call("context.resolve", asked)["result"]
    assert result["content"][0]["text"] == resolved(home, caches, asked)
    assert len(result["content"][0]["text"]) > 1_500_000
    for tool, arguments in (
        ("context.list_caches", {}),
        ("context.inspect_cache", {"cache": "docs"}),
    ):
        result = server.call(tool, arguments)["result"]
        assert result["structuredContent"] == json.loads(result["content"][0]["text"])


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.requirement("CX-text-equals-stdout")
@pytest.mark.requirement("CX-initialize")
def test_resolve_over_stdio(
    revision: str, stdio: Callable[..., StdioServer], home: Path, caches: Path
) -> None:
    server = stdio("--tools", "context")
    assert server.initialize(revision)["result"]["protocolVersion"] == revision
    result = server.call("context.resolve", ASKED)["result"]
    text = resolved(home, caches, ASKED)
    assert result["content"] == [{"type": "text", "text": text}]
    assert ("structuredContent" in result) is REVISIONS[revision]
    assert server.request("ping")["result"] == {}


@pytest.mark.requirement("CX-list")
@pytest.mark.requirement("CX-inspect-tool")
def test_listing_and_inspection(
    stdio: Callable[..., StdioServer], home: Path, caches: Path
) -> None:
    server = stdio("--tools", "context")
    server.initialize()
    listed = server.call("context.list_caches", {})["result"]
    assert listed["content"][0]["text"] + "\n" == printed(home, "list")
    assert listed["structuredContent"] == json.loads(listed["content"][0]["text"])
    frozen("list_caches").validate(listed["structuredContent"])
    report = server.call("context.inspect_cache", {"cache": "docs"})["result"]
    frozen("inspect_output").validate(report["structuredContent"])
    shown = json.loads(printed(home, "inspect", "--cache", caches / "docs"))
    own = json.loads(report["content"][0]["text"])
    # The command counts the documents, the tool the files beside them; so does the original.
    assert own | {"total_bytes": 0} == shown | {"total_bytes": 0}
    assert own["total_bytes"] == sum(
        (caches / "docs" / name).stat().st_size for name in ("manifest.json", "index.json")
    )


def test_from_the_command_line(home: Path, caches: Path) -> None:
    for tool, arguments in (
        ("context.resolve", ASKED),
        ("context.list_caches", {}),
        ("context.inspect_cache", {"cache": "docs"}),
    ):
        done = run(home, "call", tool, json.dumps(arguments), "--tools", "context")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.count("\n") == 1
        json.loads(done.stdout)
    done = run(home, "call", "context.resolve", json.dumps(ASKED), "--tools", "context")
    assert done.stdout == resolved(home, caches, ASKED)


def test_the_catalogue(home: Path) -> None:
    done = run(home, "tools", "--tools", "context")
    tools = {tool["name"]: tool for tool in json.loads(done.stdout)["tools"]}
    assert list(tools) == ["context.resolve", "context.list_caches", "context.inspect_cache"]
    for tool in tools.values():
        assert tool["annotations"] == {"readOnlyHint": True}
        assert tool["inputSchema"]["additionalProperties"] is False
        assert tool["outputSchema"]["additionalProperties"] is False
    schema = tools["context.resolve"]["inputSchema"]
    assert schema["required"] == ["cache", "query", "budget"]
    assert schema["properties"]["budget"]["minimum"] == 0
    assert schema["properties"]["budget"]["type"] == "integer"


@pytest.mark.parametrize("name", ["selection_result", "list_caches", "inspect_output"])
@pytest.mark.requirement("CX-selection-schema")
def test_output_schemas_are_the_frozen_ones(name: str, home: Path) -> None:
    """Ours have bounds, but for a score, which is above 1 when a term is given twice."""
    tool = {"selection_result": "resolve", "inspect_output": "inspect_cache"}.get(name, name)
    done = run(home, "tools", "--tools", "context")
    (ours,) = [
        listed["outputSchema"]
        for listed in json.loads(done.stdout)["tools"]
        if listed["name"] == f"context.{tool}"
    ]
    theirs = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    assert _bare(ours) == _bare(theirs)


def _bare(schema: Any) -> Any:
    """A schema without what is not a rule, and without bounds: the frozen ones hardly have any."""
    if isinstance(schema, list):
        return [_bare(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    left_out = {"$schema", "$id", "title", "maximum", "maxLength", "maxItems"}
    if isinstance(schema.get("description"), str):
        left_out.add("description")
    return {key: _bare(value) for key, value in schema.items() if key not in left_out}


@pytest.mark.requirement("CX-errors")
@pytest.mark.requirement("CX-error-schema")
@pytest.mark.requirement("CX-no-paths")
@pytest.mark.requirement("CX-damaged-document")
@pytest.mark.requirement("CX-inside-the-cache")
@pytest.mark.requirement("CX-invalid-budget")
def test_every_kind_of_cache(stdio: Callable[..., StdioServer], tmp_path: Path) -> None:
    """The original's own collection of odd caches, without its lenience."""
    root = make_cache_root(tmp_path / "root", SAMPLE["cache_root_tree"], tmp_path)
    good = ["ok_handmade", "m_array", "m_count_wrong", "m_created_offset", "m_created_space"]
    good += ["m_docs_dup", "m_extra", "m_order", "m_uppercase_id", "d_extra", "d_meta_ok"]
    good += ["minimal", "realistic", "tie_break", "future_version", "ln_in", "nested/inner/minimal"]
    missing = ["a..b", "afile", "ln_out", "..", "/usr", "none", "mini\0mal", "\\x"]
    invalid = ["d_meta_bool", "d_meta_float", "d_no_metadata", "m_abs", "m_bom", "m_corrupt"]
    invalid += ["m_count_float", "m_count_neg", "m_created_bad", "m_docversion_wrong", "m_dupkey"]
    invalid += ["m_emptyobj", "m_id_mismatch", "m_missing_docfile", "m_no_created", "m_tampered"]
    invalid += ["m_trailing", "m_traverse", "mdir", "mlink", "nested", "no_manifest", "", "."]
    listed = {name.partition("/")[0] for name in SAMPLE["cache_root_tree"]}
    assert listed - {"nested"} <= {*good, *missing, *invalid}
    (root / "unreadable").mkdir()
    (root / "unreadable" / "manifest.json").symlink_to("manifest.json")
    server = stdio("--tools", "context", CONTEXT_CACHE_ROOT=str(root))
    server.initialize()

    def resolve(cache: str, budget: int = 10) -> Any:
        asked = {"cache": cache, "query": "hi", "budget": budget}
        answer = server.call("context.resolve", asked)
        assert str(tmp_path) not in json.dumps(answer)
        return answer

    for name in good:
        assert resolve(name)["result"]["isError"] is False, name
    for names, code in ((missing, "cache_missing"), (invalid, "cache_invalid")):
        for name in names:
            assert error_code(resolve(name)) == code, name
    assert error_code(resolve("unreadable")) == "io_error"
    assert error_code(resolve("minimal", -1)) == "invalid_budget"
    assert error_code(resolve("..", -1)) == "invalid_budget"
    for name, valid in [*((n, None) for n in good), *((n, False) for n in invalid)]:
        report = server.call("context.inspect_cache", {"cache": name})["result"]
        if valid is not None:
            assert report["structuredContent"]["valid"] is valid, name
    for name in missing:
        answer = server.call("context.inspect_cache", {"cache": name})
        assert error_code(answer) == "cache_missing"
    truly = ["minimal", "realistic", "tie_break", "future_version", "ln_in"]
    for name in truly:
        report = server.call("context.inspect_cache", {"cache": name})["result"]
        assert report["structuredContent"]["valid"] is True, name
    assert error_code(server.call("context.inspect_cache", {"cache": "unreadable"})) == "io_error"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("context.resolve", {"cache": "docs", "query": "x"}),
        ("context.resolve", {"cache": "docs", "query": "x", "budget": "3"}),
        ("context.resolve", {"cache": "docs", "query": "x", "budget": 1.5}),
        ("context.resolve", {"cache": "docs", "query": None, "budget": 1}),
        ("context.resolve", {"cache": "docs", "query": "x", "budget": 2**63}),
        ("context.resolve", {"cache": "docs", "query": "x", "budget": -1, "more": 1}),
        ("context.inspect_cache", {}),
        ("context.list_caches", {"root": "/"}),
    ],
)
@pytest.mark.requirement("CX-bad-arguments")
def test_bad_arguments(
    tool: str, arguments: dict[str, Any], stdio: Callable[..., StdioServer], caches: Path
) -> None:
    server = stdio("--tools", "context")
    server.initialize()
    error = server.call(tool, arguments)["error"]
    assert error["code"] == -32602
    assert error["data"]["code"] == "MCP_LSP_GATEWAY/INVALID_PARAMS"


@pytest.mark.requirement("CX-gate")
def test_the_gate(stdio: Callable[..., StdioServer]) -> None:
    server = stdio("--tools", "context")
    refused = server.request("tools/call", {"name": "context.list_caches", "arguments": {}})
    assert refused["error"]["code"] == -32600
    server.initialize()
    assert server.call("context.list_caches", {})["result"]["isError"] is False


@pytest.mark.requirement("CX-answer-limit")
@pytest.mark.requirement("CX-off-the-loop")
def test_an_answer_larger_than_it_may_be(stdio: Callable[..., StdioServer], caches: Path) -> None:
    build(caches, {f"{n}.md": f"{n} " + "word " * 20_000 for n in range(60)}, "large")
    server = stdio("--tools", "context")
    server.initialize()
    asked = {"cache": "large", "query": "word", "budget": 10**7}
    assert error_code(server.call("context.resolve", asked)) == "invalid_budget"
    fits = server.call("context.resolve", asked | {"budget": 400_000})["result"]
    assert fits["structuredContent"]["selection"]["documents_selected"] > 10
    bomb = {"cache": "large", "query": "x " * 500_000, "budget": 10**7}
    assert error_code(server.call("context.resolve", bomb)) == "invalid_budget"


@pytest.mark.requirement("CX-timeout")
@pytest.mark.requirement("CX-timeout-setting")
def test_the_time_limit(stdio: Callable[..., StdioServer], caches: Path) -> None:
    server = stdio("--tools", "context", CONTEXT_TOOL_TIMEOUT_SECS="0")
    server.initialize()
    assert error_code(server.call("context.resolve", ASKED)) == "internal_error"
    assert server.request("ping")["result"] == {}


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        *[("CONTEXT_TOOL_TIMEOUT_SECS", value) for value in ("", "-1", "x", "1.5", "²")],
        *[("CONTEXT_CACHE_ROOT", value) for value in ("", "relative", "./x", "~/caches")],
    ],
)
@pytest.mark.requirement("CX-timeout-setting")
@pytest.mark.requirement("CX-root")
def test_malformed_settings_refuse_to_start(variable: str, value: str, home: Path) -> None:
    for words in (("stdio",), ("serve", "--port", str(free_port()))):
        done = subprocess.run(
            command(*words, "--tools", "context"),
            input="",
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env=environment(home) | {variable: value},
            cwd=home,
        )
        assert (done.returncode, done.stdout) == (3, "")
        assert variable in done.stderr


@pytest.mark.requirement("CX-fresh")
def test_a_change_is_in_the_next_answer(
    stdio: Callable[..., StdioServer], home: Path, caches: Path
) -> None:
    server = stdio("--tools", "context")
    server.initialize()
    for word in ("one", "two", "three"):
        sources = home / word
        sources.mkdir()
        (sources / "a.md").write_text(f"beta {word}")
        run(home, "context", "build", "--sources", sources, "--cache", caches / "docs", "--force")
        result = server.call("context.resolve", ASKED)["result"]
        assert result["structuredContent"]["documents"][0]["content"] == f"beta {word}"
        assert result["content"][0]["text"] == resolved(home, caches, ASKED)


@pytest.mark.requirement("CX-stoppable")
def test_a_cancelled_call_is_not_answered(stdio: Callable[..., StdioServer], caches: Path) -> None:
    build(caches, {f"{n}.md": f"{n} " + "word " * 20_000 for n in range(60)}, "large")
    server = stdio("--tools", "context")
    server.initialize()
    asked = {"cache": "large", "query": "word", "budget": 10}
    call = {"name": "context.resolve", "arguments": asked}
    messages = [
        {"jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": call},
        {
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": "slow"},
        },
    ]
    server.send(b"\n".join(json.dumps(message).encode() for message in messages))
    assert server.call("context.resolve", asked)["result"]["isError"] is False
    assert server.notifications == []


def test_many_calls_at_once(stdio: Callable[..., StdioServer], caches: Path) -> None:
    server = stdio("--tools", "context")
    server.initialize()
    params = {"name": "context.resolve", "arguments": ASKED}
    for id_ in range(1000, 1100):
        call = {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}
        server.send(json.dumps(call).encode())
    answers = [server.receive() for _ in range(100)]
    assert {answer["id"] for answer in answers} == set(range(1000, 1100))
    assert len({json.dumps(answer["result"]) for answer in answers}) == 1


async def test_the_official_client(home: Path, caches: Path) -> None:
    """It checks every answer against the tool's output schema; a score of 2 must pass, too."""
    build(caches, {"x.md": "x"}, "twice")
    parameters = StdioServerParameters(
        command=command()[0],
        args=["stdio", "--tools", "context"],
        env=environment(home),
        cwd=str(home),
    )
    with open(os.devnull, "w") as nowhere:
        async with (
            stdio_client(parameters, errlog=nowhere) as (reading, writing),
            ClientSession(reading, writing) as session,
        ):
            await session.initialize()
            tools = (await session.list_tools()).tools
            assert len(tools) == 3
            result = await session.call_tool(
                "context.resolve", {"cache": "twice", "query": "x x", "budget": 9}
            )
            assert result.structured_content is not None
            assert result.structured_content["documents"][0]["score"] == 2.0
            for tool, arguments in (
                ("context.list_caches", {}),
                ("context.inspect_cache", {"cache": "twice"}),
            ):
                assert (await session.call_tool(tool, arguments)).is_error is False


@pytest.mark.requirement("CX-error-numbers")
def test_codes_and_their_numbers() -> None:
    """How the frozen codes map to JSON-RPC's numbers."""
    numbers = {kind: (number, code) for kind, ((number, _), _, code) in families.CODES.items()}
    assert numbers[failures.CacheMissing] == (-32602, "cache_missing")
    assert numbers[failures.CacheInvalid] == (-32602, "cache_invalid")
    assert numbers[failures.InvalidBudget] == (-32602, "invalid_budget")
    assert numbers[failures.CacheUnreadable] == (-32603, "io_error")
    for kind in (failures.Bug, failures.TimedOut, failures.Overloaded, failures.Unavailable):
        assert numbers[kind] == (-32603, "internal_error")
    assert {code for _, code in numbers.values() if code} <= set(families.CONTEXT_MESSAGES)


def test_served_folders_are_listed_where_their_index_is(
    stdio: Callable[..., StdioServer], home: Path, caches: Path, tmp_path: Path
) -> None:
    """What ``context.resolve`` takes is listed, once; two folders of a name are taken by none."""
    folders = [tmp_path / "code", tmp_path / "one/same", tmp_path / "two/same"]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "a.py").write_text("def area():\n    return 1\n")
    server = stdio(*folders, "--tools", "index,context")
    server.initialize()
    listed = server.call("context.list_caches", {})["result"]["structuredContent"]
    frozen("list_caches").validate(listed)
    rows = {row["path"]: row["has_manifest"] for row in listed["caches"]}
    assert rows == {"docs": True, "docs-sources": False, "workspace:code": False}
    server.call("index_build", {})
    for name in ("docs", "workspace:code"):
        asked = {"cache": name, "query": "area", "budget": 100}
        assert server.call("context.resolve", asked)["result"]["isError"] is False
    alone = stdio(folders[0], "--tools", "context")
    alone.initialize()
    listed = alone.call("context.list_caches", {})["result"]["structuredContent"]
    assert [row["path"] for row in listed["caches"]] == ["docs", "docs-sources"]
