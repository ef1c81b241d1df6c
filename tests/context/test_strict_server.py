"""``sightline stdio --tools context --strict-v0``: the original server's lines, byte for byte."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sightline.context.caches import Caches
from sightline.server.strict_v0 import StrictServer
from tests.context.support import VECTORS, build, make_cache_root, recorded, start_stdio
from tests.support.program import command, environment

SAMPLE = recorded("mcp_exchanges_sample.json")
EXCHANGES: list[dict[str, Any]] = [row for row in SAMPLE["exchanges"] if "send" in row]
STARTS = [row for row in SAMPLE["exchanges"] if "send" not in row]
GOLDEN = VECTORS / "stored" / "mcp_golden"
INITIALIZE = b'{"jsonrpc":"2.0","id":0,"method":"initialize"}\n'
PARSE_ERROR = b'{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}\n'
STRICT = ("--tools", "context", "--strict-v0")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_cache_root(tmp_path / "root", SAMPLE["cache_root_tree"], tmp_path)


def say(home: Path, root: Path, data: bytes, timeout: str = "30") -> bytes:
    """Everything a server of its own answers to these bytes."""
    variables = {"CONTEXT_CACHE_ROOT": str(root), "CONTEXT_TOOL_TIMEOUT_SECS": timeout}
    with start_stdio(home, *STRICT, variables=variables) as process:
        answers, complaints = process.communicate(data, timeout=60)
        assert (process.returncode, complaints) == (0, b"")
        return bytes(answers)


def lines_of(text: bytes) -> list[str]:
    return text.decode().split("\n")[:-1]


def needs_a_fresh_server(row: dict[str, Any]) -> bool:
    return "pre-init" in row["note"] or row["note"] == "" or row["note"] == "timeout 0 s"


@pytest.mark.requirement("CX-strict-lines")
@pytest.mark.requirement("CX-rpc-errors")
@pytest.mark.requirement("CX-methods")
def test_every_recorded_exchange(home: Path, root: Path) -> None:
    rows = [row for row in EXCHANGES if not needs_a_fresh_server(row)]
    assert len(rows) > 35
    sent = "".join(f"{row['send']}\n" for row in rows).encode()
    answers = lines_of(say(home, root, INITIALIZE + sent))
    expected = [line for row in rows for line in row["recv"]]
    # One recorded manifest holds a path of its time: 17 characters then, another number here.
    size = f'total_bytes\\":{330 - 17 + len(str(root.parent))},'
    assert answers[1:] == [line.replace('total_bytes\\":330,', size) for line in expected]


@pytest.mark.parametrize("row", [row for row in EXCHANGES if needs_a_fresh_server(row)])
@pytest.mark.requirement("CX-gate")
def test_recorded_exchanges_with_a_server_of_their_own(
    row: dict[str, Any], home: Path, root: Path
) -> None:
    before = INITIALIZE if row["note"] == "timeout 0 s" else b""
    timeout = "0" if before else "30"
    answers = lines_of(say(home, root, before + row["send"].encode() + b"\n", timeout))
    assert answers[bool(before) :] == row["recv"]


@pytest.mark.parametrize("row", STARTS, ids=lambda row: row["note"])
@pytest.mark.requirement("CX-timeout-setting")
def test_recorded_starts(row: dict[str, Any], home: Path, tmp_path: Path) -> None:
    variables = {"CONTEXT_CACHE_ROOT": str(tmp_path), "CONTEXT_TOOL_TIMEOUT_SECS": "x"}
    done = start(home, variables)
    assert (done.returncode, done.stdout, done.stderr) == (row["exit"], "", row["stderr"])


@pytest.mark.parametrize(
    ("variables", "code"),
    [
        ({}, 1),
        ({"CONTEXT_CACHE_ROOT": "relative"}, 0),
        *[({"CONTEXT_CACHE_ROOT": "/", "CONTEXT_TOOL_TIMEOUT_SECS": s}, 1) for s in ("", "-1")],
        ({"CONTEXT_CACHE_ROOT": "/", "CONTEXT_TOOL_TIMEOUT_SECS": "18446744073709551616"}, 1),
        ({"CONTEXT_CACHE_ROOT": "/", "CONTEXT_TOOL_TIMEOUT_SECS": "+5"}, 0),
        ({"CONTEXT_CACHE_ROOT": "/", "CONTEXT_TOOL_TIMEOUT_SECS": "0" * 5_000 + "5"}, 0),
    ],
)
@pytest.mark.requirement("CX-timeout-setting")
def test_starts(variables: dict[str, str], code: int, home: Path) -> None:
    done = start(home, variables)
    assert (done.returncode, done.stdout) == (code, "")
    problem = "mcp-context-server: configuration error: CONTEXT_"
    assert done.stderr.startswith(problem) is bool(code)


def test_it_goes_with_the_context_tools_alone(home: Path) -> None:
    done = start(home, {"CONTEXT_CACHE_ROOT": "/"}, "--tools", "context,lsp", "--strict-v0")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--tools context" in done.stderr


def start(
    home: Path, variables: dict[str, str], *arguments: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command("stdio", *(arguments or STRICT)),
        input="",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment(home) | variables,
        cwd=home,
    )


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"nope"}', "-32601 Method not found: nope"),
        (b'{"jsonrpc":"2.0","method":"notifications/x"}', "-32601 Method not found: "),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}', "-32602 Missing params for tools/call"),
        (
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":5}',
            "-32602 Invalid tools/call params: invalid type: integer `5`, expected struct Tool",
        ),
        (
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}',
            "-32602 Invalid tools/call params: missing field `name`",
        ),
        (b'{"jsonrpc":"1.0","method":"ping"}', "-32600 Invalid Request"),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', "-32700 Parse error"),
        (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', "-32700 Parse error"),
        (b'{"jsonrpc":"2.0","id":9223372036854775808,"method":"ping"}', "-32700 Parse error"),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":1e999}', "-32700 Parse error"),
        (b"\xff", "-32700 Parse error"),
        (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}', "-32700 Parse error"),
    ],
)
@pytest.mark.requirement("CX-rpc-errors")
@pytest.mark.requirement("CX-rpc-version")
def test_protocol_errors(sent: bytes, expected: str, tmp_path: Path) -> None:
    server = StrictServer(Caches(str(tmp_path), strict=True), 30)
    server.answer(INITIALIZE)
    error = json.loads(server.answer(sent + b"\n"))["error"]
    assert f"{error['code']} {error['message']}".startswith(expected)


@pytest.mark.parametrize(
    ("tool", "given", "text"),
    [
        ("context.resolve", None, "Missing arguments for context.resolve"),
        ("context.inspect_cache", None, "Missing arguments for context.inspect_cache"),
        ("nope", {}, "Unknown tool: nope"),
        ("context.resolve", {}, "missing field `cache`"),
        ("context.resolve", {"cache": "a", "budget": 1}, "missing field `query`"),
        ("context.resolve", ["a", "b"], "invalid length 2, expected struct ResolveContextParams"),
        ("context.resolve", ["a", "b", 1, 2], "invalid length 4, expected fewer elements in array"),
        ("context.resolve", {"budget": "3"}, 'invalid type: string "3", expected i64'),
        ("context.resolve", {"budget": 2**63}, f"invalid value: integer `{2**63}`, expected i64"),
        ("context.resolve", {"budget": 1e21}, "invalid type: floating point `1e+21`, expected i64"),
        ("context.resolve", {"cache": None}, "invalid type: null, expected a string"),
        ("context.inspect_cache", {"cache": []}, "invalid type: sequence, expected a string"),
        ("context.inspect_cache", 5, "invalid type: integer `5`, expected struct Inspect"),
    ],
)
@pytest.mark.requirement("CX-strict-lines")
def test_plain_sentences(tool: str, given: Any, text: str, tmp_path: Path) -> None:
    server = StrictServer(Caches(str(tmp_path), strict=True), 30)
    result = call(server, tool, given)
    assert result["isError"] is True
    shown = result["content"][0]["text"]
    assert shown.removeprefix(f"Invalid arguments for {tool}: ").startswith(text)


@pytest.mark.requirement("CX-strict-lines")
def test_a_list_in_order_is_taken_for_arguments(root: Path) -> None:
    server = StrictServer(Caches(str(root), strict=True), 30)
    by_name = {"cache": "minimal", "query": "hello", "budget": 3}
    listed = call(server, "context.resolve", ["minimal", "hello", 3])
    assert listed == call(server, "context.resolve", by_name)
    params = ["context.resolve", by_name]
    sent = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    assert json.loads(server.answer(json.dumps(sent).encode()))["result"] == listed


def call(server: StrictServer, tool: str, given: Any) -> Any:
    server.answer(INITIALIZE)
    params = {"name": tool, "arguments": given}
    sent = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return json.loads(server.answer(json.dumps(sent).encode() + b"\n"))["result"]


@pytest.mark.requirement("CX-message-limit")
def test_the_longest_message(home: Path, tmp_path: Path) -> None:
    """A message may have 1,048,576 bytes, its end of line among them."""

    def ping(size: int) -> bytes:
        start = b'{"jsonrpc":"2.0","id":7,"method":"ping","params":"'
        return start + b"x" * (size - len(start) - 2) + b'"}'

    good = b'{"jsonrpc":"2.0","id":7,"result":{}}\n'
    sent = b"\n".join([ping(1_048_575), ping(1_048_576), ping(9_000_000), ping(1_048_576)])
    answers = say(home, tmp_path, INITIALIZE + sent)
    assert answers.partition(b"\n")[2] == good + PARSE_ERROR + PARSE_ERROR + good


@pytest.mark.requirement("CX-message-depth")
def test_the_deepest_message(tmp_path: Path) -> None:
    server = StrictServer(Caches(str(tmp_path), strict=True), 30)
    server.answer(INITIALIZE)
    line = b'{"jsonrpc":"2.0","id":7,"method":"ping","params":%b%b}'
    assert b"result" in server.answer(line % (b"[" * 126, b"]" * 126))
    assert server.answer(line % (b"[" * 127, b"]" * 127)) == PARSE_ERROR


@pytest.mark.requirement("CX-gate")
def test_notifications_before_the_handshake_are_dropped(tmp_path: Path) -> None:
    server = StrictServer(Caches(str(tmp_path), strict=True), 30)
    assert server.answer(b'{"jsonrpc":"2.0","method":"ping"}\n') == b""
    refused = server.answer(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    assert json.loads(refused)["error"] == {"code": -32600, "message": "Server not initialized"}
    assert b"result" in server.answer(INITIALIZE)
    assert server.answer(b'{"jsonrpc":"2.0","id":2,"method":"notifications/initialized"}\n') == b""
    assert (
        server.answer(b'{"jsonrpc":"2.0","method":"ping"}\n') == b'{"jsonrpc":"2.0","result":{}}\n'
    )


@pytest.mark.requirement("CX-timeout")
def test_work_past_the_time_limit(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sightline.server.strict_v0._LEAST_S", 0)
    caches = Caches(str(root), strict=True)
    server = StrictServer(caches, 0)
    arguments = {"cache": "minimal", "query": "hello", "budget": 3}
    with caches._loading:  # as if somebody else were loading for ever
        result = call(server, "context.resolve", arguments)
    code = json.loads(result["content"][0]["text"])["error"]["code"]
    assert (result["isError"], code) == (True, "internal_error")
    server._timeout_s = 30
    assert "isError" not in call(server, "context.resolve", arguments)


@pytest.mark.parametrize(
    ("tool", "arguments", "name"),
    [
        ("resolve", {"cache": "valid", "query": "deployment", "budget": 4000}, "mcp_resolve_basic"),
        ("resolve", {"cache": "corrupt", "query": "x", "budget": 1}, "error_cache_invalid"),
        ("resolve", {"cache": "none", "query": "x", "budget": 1}, "error_cache_missing"),
        ("resolve", {"cache": "locked", "query": "x", "budget": 1}, "error_permission_denied"),
    ],
)
@pytest.mark.requirement("CX-error-schema")
def test_golden_lines(tool: str, arguments: dict[str, Any], name: str, tmp_path: Path) -> None:
    server = StrictServer(Caches(str(golden_root(tmp_path)), strict=True), 30)
    server.answer(INITIALIZE)
    params = {"name": f"context.{tool}", "arguments": arguments}
    sent = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    expected = (GOLDEN / "expected" / f"{name}.json").read_bytes().rstrip(b"\n") + b"\n"
    assert server.answer(json.dumps(sent).encode()) == expected


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.requirement("CX-inspect-tool")
@pytest.mark.requirement("CX-list")
def test_golden_texts(strict: bool, tmp_path: Path) -> None:
    caches = Caches(str(golden_root(tmp_path)), strict=strict)
    for cache, name in (("valid", "inspect_valid"), ("corrupt", "inspect_invalid")):
        expected = (GOLDEN / "expected" / f"{name}.json").read_bytes().rstrip(b"\n")
        assert caches.inspect(cache) == expected
    listed = GOLDEN / "fixtures" / "cache_root"
    place = tmp_path / "listed"
    make_cache_root(
        place, {"a-cache/manifest.json": "{}\n", "not-a-dir.txt": "", "b-cache/": None}, place
    )
    assert (listed / "a-cache" / "manifest.json").read_text() == "{}\n"
    expected = (GOLDEN / "expected" / "list_caches.json").read_bytes().rstrip(b"\n")
    assert Caches(str(place), strict=strict).listing() == expected


def golden_root(folder: Path) -> Path:
    """The goldens' caches by name, and one whose manifest cannot be opened."""
    root = folder / "golden"
    root.mkdir()
    for name in ("valid", "corrupt"):
        shutil.copytree(GOLDEN / "fixtures" / f"cache_{name}", root / name)
    (root / "locked").mkdir()
    (root / "locked" / "manifest.json").symlink_to("manifest.json")
    return root


def test_the_sample_is_not_the_default(tmp_path: Path) -> None:
    """The one switch: what the strict server lets through is refused without it."""
    cache = build(tmp_path, {"a.md": "x"})
    document = next((cache / "documents").iterdir())
    document.write_bytes(document.read_bytes().replace(b'"content":"x"', b'"content":"y"'))
    assert json.loads(Caches(str(tmp_path), strict=True).inspect("cache"))["valid"] is True
    assert json.loads(Caches(str(tmp_path)).inspect("cache"))["valid"] is False
