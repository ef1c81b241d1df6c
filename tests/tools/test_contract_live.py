"""The contract on a real workspace with a real language server, over a real transport.

One server for the whole module; nothing here changes the workspace.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from sightline.calls.validate import load_schema
from tests.support.http import HttpServer
from tests.support.leaks import OUTSIDE
from tests.support.program import run
from tests.support.stdio import StdioServer

MAIN = """\
from shapes import Shape, area
import os

print(area(2, 3), os.getcwd())
print(area("x"))
shape = Shape()
"""
SHAPES = '''\
"""Shapes."""


class Shape:
    """A shape."""

    sides = 4

    def grow(self, factor: int) -> int:
        return self.sides * factor


def area(width: int, height: int) -> int:
    """The area of a rectangle."""
    return width * height
'''


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("live")
    for name in (f"home-{OUTSIDE}", "ws", "ws/sub", f"out-{OUTSIDE}"):
        (folder / name).mkdir()
    root = folder / "ws"
    (root / "main.py").write_text(MAIN, encoding="utf-8")
    (root / "shapes.py").write_text(SHAPES, encoding="utf-8")
    (root / "sub/spaced ü.py").write_text("from shapes import area\narea(1, 2)\n", encoding="utf-8")
    (root / "notes.txt").write_text("plain\n", encoding="utf-8")
    (root / "bad.py").write_bytes(b"\xff\xfe\n")
    (folder / f"out-{OUTSIDE}/secret.py").write_text("x = 1\n", encoding="utf-8")
    (root / "escape.py").symlink_to(folder / f"out-{OUTSIDE}/secret.py")
    (root / "escape-folder").symlink_to(folder / f"out-{OUTSIDE}")
    (root / "inner.py").symlink_to("main.py")
    (root / "loop.py").symlink_to("loop.py")
    os.mkfifo(root / "pipe")  # a name that no server for Python opens
    (folder / "alias").symlink_to("ws")
    return folder


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[HttpServer]:
    arguments = [str(place / "ws"), "--tools", "lsp", "--set", "debug_logging=true"]
    with HttpServer.start(arguments, place / f"home-{OUTSIDE}") as started:
        yield started


@pytest.fixture(scope="module")
def root(place: Path) -> Path:
    return place / "ws"


def ask(server: HttpServer, tool: str, **arguments: Any) -> Any:
    return server.call(f"vscode.lsp.{tool}", arguments)


def payload(server: HttpServer, tool: str, **arguments: Any) -> Any:
    answer = ask(server, tool, **arguments)
    assert "result" in answer, answer
    return answer["result"]["structuredContent"]


def questions(root: Path) -> dict[str, dict[str, Any]]:
    """A good question for each of the seven."""
    main = (root / "main.py").as_uri()
    area = {"uri": main, "position": {"line": 3, "character": 8}}
    return {
        "definition": area,
        "references": area | {"includeDeclaration": True},
        "hover": area,
        "documentSymbols": {"uri": (root / "shapes.py").as_uri()},
        "workspaceSymbols": {"query": "area"},
        "diagnostics.document": {"uri": main},
        "diagnostics.workspace": {},
    }


TOOLS = list(questions(Path("/")))


@pytest.mark.requirement("GW-3.0-envelope", "GW-3.0-not-mirrored", "GW-3.0-payload-conforms")
@pytest.mark.requirement("GW-8-output", "GS-8-outputs-conform", "GW-3.1-summary")
@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_answers_as_its_schema_says(server: HttpServer, root: Path, tool: str) -> None:
    answer = ask(server, tool, **questions(root)[tool])
    result = answer["result"]
    assert list(result) == ["isError", "structuredContent", "content"]
    assert (result["isError"], result["content"]) == (False, [])
    schema = load_schema(f"vscode.lsp.{tool}", output=True)
    errors = list(jsonschema_rs.validator_for(schema).iter_errors(result["structuredContent"]))
    assert not errors
    summary = result["structuredContent"]["summary"]
    assert 0 < len(summary) <= 200 and summary.endswith(".") and "\n" not in summary


@pytest.mark.requirement("GW-1.3-deterministic", "GW-3.7-id-deterministic", "GW-3.5-derived")
def test_same_question_same_bytes_over_repeats_transports_and_processes(
    server: HttpServer, root: Path, place: Path
) -> None:
    home = place / f"home-{OUTSIDE}"
    stdio = StdioServer.start([str(root)], home)
    try:
        stdio.initialize()
        for tool, arguments in questions(root).items():
            paged = arguments | ({"pageSize": 1} if "pageSize" in _members(tool) else {})
            first = payload(server, tool, **paged)
            assert payload(server, tool, **paged) == first
            other = stdio.call(f"vscode.lsp.{tool}", paged)["result"]["structuredContent"]
            assert json.dumps(other) == json.dumps(first), "member order too"
    finally:
        stdio.stop()
    area = questions(root)["references"]
    done = run(home, "call", "vscode.lsp.references", json.dumps(area), "--root", root)
    assert json.loads(done.stdout) == payload(server, "references", **area)


def _members(tool: str) -> set[str]:
    return set(load_schema(f"vscode.lsp.{tool}")["properties"])


@pytest.mark.requirement("GW-1.1-read-only", "GA-read-only")
def test_nothing_is_written(server: HttpServer, root: Path) -> None:
    before = _state(root)
    for tool, arguments in questions(root).items():
        payload(server, tool, **arguments)
    assert _state(root) == before


def _state(root: Path) -> dict[str, tuple[int, int, str]]:
    """Every file's size, time and content."""
    found = {}
    for folder, folders, names in os.walk(root):
        for name in [*folders, *names]:
            path = Path(folder) / name
            status = path.lstat()
            digest = ""
            if path.is_file() and not path.is_symlink():
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
            found[str(path)] = (status.st_size, status.st_mtime_ns, digest)
    return found


@pytest.mark.requirement("GW-7.1-definition", "GW-1.2-outputs-in-roots", "GW-3.2-omitted")
def test_definitions(server: HttpServer, root: Path) -> None:
    found = payload(server, "definition", **questions(root)["definition"])
    assert [item["uri"] for item in found["locations"]] == [(root / "shapes.py").as_uri()]
    outside = payload(
        server, "definition", uri=(root / "main.py").as_uri(), position={"line": 3, "character": 24}
    )
    assert outside["locations"] == []
    assert "outside the workspace not shown" in outside["summary"]


@pytest.mark.requirement("GW-7.2-references", "GW-3.2-canonical-uris", "GW-3.3-positions")
def test_references(server: HttpServer, root: Path) -> None:
    found = payload(server, "references", **questions(root)["references"])
    uris = [item["uri"] for item in found["items"]]
    assert uris == sorted(uris)
    assert f"{root.as_uri()}/sub/spaced%20%C3%BC.py" in uris
    assert not [uri for uri in uris if "inner.py" in uri or "escape" in uri]
    without = payload(
        server, "references", **questions(root)["references"] | {"includeDeclaration": False}
    )
    left_out = [item for item in found["items"] if item not in without["items"]]
    assert len(left_out) == len(found["items"]) - len(without["items"]) > 0
    declared = (root / "shapes.py").as_uri()
    assert declared in [item["uri"] for item in left_out]
    assert declared not in [item["uri"] for item in without["items"]]
    first = found["items"][0]["range"]["start"]
    assert first == {"line": 0, "character": 26}


@pytest.mark.requirement("GW-3.2-canonical-uris", "GW-4.1-real-paths")
@pytest.mark.parametrize(
    "spelling",
    ["ws/main.py", "alias/main.py", "ws/inner.py", "ws/./sub/../main.py", "ws//main.py",
     "ws/%6dain.py", "ws%2Fmain.py"],
)  # fmt: skip
def test_every_spelling_of_a_document_gives_one_answer(
    server: HttpServer, place: Path, root: Path, spelling: str
) -> None:
    """``alias`` is a link to the root: outside by its text, so it is not even looked at."""
    uri = f"{place.as_uri()}/{spelling}"
    if spelling.startswith("alias"):
        assert _code(ask(server, "diagnostics.document", uri=uri)) == "WORKSPACE_DENIED"
        return
    found = payload(server, "diagnostics.document", uri=uri)
    assert found == payload(server, "diagnostics.document", uri=(root / "main.py").as_uri())
    assert found["uri"] == (root / "main.py").as_uri()


def _code(answer: Any) -> str:
    assert "error" in answer, answer
    error = answer["error"]
    code: str = error["data"]["code"]
    assert f"[{code}]" in error["message"], "models see the message only"
    return code.removeprefix("MCP_LSP_GATEWAY/")


DENIED = [
    "{place}/out-{mark}/secret.py",
    "{place}/out-{mark}/missing.py",
    "{root}/../out-{mark}/secret.py",
    "{root}/%2e%2e/out-{mark}/secret.py",
    "{root}/..%2Fout-{mark}%2Fsecret.py",
    "{root}/sub/../../out-{mark}/secret.py",
    "{root}/escape.py",
    "{root}/escape-folder/secret.py",
    "{root}/escape-folder/missing.py",
    "{root}-neighbour/x.py",
    "file:///etc/passwd",
    "file:///etc/no-such-file-{mark}",
    "file:///",
    "file:///proc/self/environ",
]


@pytest.mark.requirement("GW-1.2-inputs-in-roots", "GW-4.1-traversal", "GW-6.3-WORKSPACE_DENIED")
@pytest.mark.requirement("GW-4.1-real-roots", "GW-7.6-denied", "GW-6.3-nothing-leaks")
@pytest.mark.parametrize("spelling", DENIED)
@pytest.mark.parametrize("tool", ["hover", "documentSymbols", "diagnostics.document"])
def test_outside_is_denied_whether_it_exists_or_not(
    server: HttpServer, place: Path, root: Path, spelling: str, tool: str
) -> None:
    uri = spelling.format(place=place.as_uri(), root=root.as_uri(), mark=OUTSIDE)
    more = {"position": {"line": 0, "character": 0}} if tool == "hover" else {}
    answer = ask(server, tool, uri=uri, **more)
    assert _code(answer) == "WORKSPACE_DENIED"
    assert answer["error"]["code"] == -32602
    assert OUTSIDE not in json.dumps(answer) and "etc" not in json.dumps(answer)


@pytest.mark.requirement("GW-6.3-URI_INVALID", "GW-1.2-file-uris")
@pytest.mark.parametrize(
    "uri",
    ["x", "http://a/b", "FILE:///x", "file://host{path}/main.py", "file:{name}", "{root}/main.py?x",
     "{root}/main.py#x", "{root}/%zz.py", "{root}/a%00.py", "{root}/missing.py", "{root}/main.py/",
     "{root}/main.py/x", "{root}/loop.py", "untitled:1", "file://localhost{path}/main.py",
     "http://{path}/main.py", "data:{path}/main.py", "vscode-file:{path}/main.py"],
)  # fmt: skip
def test_what_is_no_uri_of_a_document(server: HttpServer, root: Path, uri: str) -> None:
    given = uri.format(root=root.as_uri(), path=root, name="main.py")
    answer = ask(server, "documentSymbols", uri=given)
    assert _code(answer) == "URI_INVALID" and answer["error"]["code"] == -32602


@pytest.mark.requirement("GW-6.3-NOT_FOUND")
@pytest.mark.parametrize("name", ["sub", "pipe", "bad.py", ""])
def test_what_cannot_be_opened(server: HttpServer, root: Path, name: str) -> None:
    answer = ask(server, "documentSymbols", uri=(root / name).as_uri())
    assert _code(answer) == "NOT_FOUND" and answer["error"]["code"] == -32603


@pytest.mark.requirement("GW-6.3-NOT_FOUND", "GW-3.3-positions")
@pytest.mark.parametrize(("line", "character"), [(99, 0), (0, 99), (2_147_483_647, 0)])
@pytest.mark.parametrize("tool", ["definition", "references", "hover"])
def test_a_position_that_is_not_in_the_document(
    server: HttpServer, root: Path, tool: str, line: int, character: int
) -> None:
    position = {"line": line, "character": character}
    assert _code(ask(server, tool, uri=(root / "main.py").as_uri(), position=position)) == (
        "NOT_FOUND"
    )


@pytest.mark.requirement("GW-6.3-PROVIDER_UNAVAILABLE")
def test_a_language_nobody_knows(server: HttpServer, root: Path) -> None:
    answer = ask(server, "documentSymbols", uri=(root / "notes.txt").as_uri())
    assert _code(answer) == "PROVIDER_UNAVAILABLE" and answer["error"]["code"] == -32603


@pytest.mark.requirement("GW-6.3-INVALID_PARAMS", "GS-5.2-invalid-params")
@pytest.mark.parametrize(
    "arguments",
    [{}, {"query": ""}, {"query": " "}, {"query": "x" * 513}, {"query": "x", "pageSize": 0},
     {"query": "x", "pageSize": "5"}, {"query": "x", "extra": 1}, {"query": None}],
)  # fmt: skip
def test_bad_arguments(server: HttpServer, arguments: dict[str, Any]) -> None:
    answer = ask(server, "workspaceSymbols", **arguments)
    assert _code(answer) == "INVALID_PARAMS" and answer["error"]["code"] == -32602
    assert 0 < len(answer["error"]["data"]["details"]["issues"]) <= 10


@pytest.mark.requirement("GA-allow-list-routing")
@pytest.mark.parametrize(
    "name",
    ["vscode.lsp.rename", "vscode_lsp_hover", "vscode.lsp.Hover", "", "vscode.lsp.hover ",
     "search", "index_build", "__class__", "../definition"],
)  # fmt: skip
def test_no_other_tool(server: HttpServer, name: str) -> None:
    answer = server.call(name, {})
    assert answer["error"]["code"] == -32602
    assert answer["error"]["data"] == {"code": "MCP_LSP_GATEWAY/INVALID_PARAMS"}


@pytest.mark.requirement("GW-7.3-fragments")
def test_hover(server: HttpServer, root: Path) -> None:
    found = payload(server, "hover", **questions(root)["hover"])
    assert {part["kind"] for part in found["contents"]} <= {"markdown", "plaintext"}
    assert "The area of a rectangle." in json.dumps(found["contents"])


@pytest.mark.requirement("GW-7.4-flat")
def test_document_symbols(server: HttpServer, root: Path) -> None:
    found = payload(server, "documentSymbols", **questions(root)["documentSymbols"])
    shown = {(s["name"], s["kind"], s.get("containerName")) for s in found["symbols"]}
    assert {("Shape", 5, None), ("grow", 6, "Shape"), ("area", 12, None)} <= shown


@pytest.mark.requirement("GW-7.5-workspace-symbols")
def test_workspace_symbols(server: HttpServer, root: Path) -> None:
    found = payload(server, "workspaceSymbols", query=" area ")
    assert [item["name"] for item in found["items"]] == ["area"]
    assert found["items"][0]["location"]["uri"] == (root / "shapes.py").as_uri()


@pytest.mark.requirement("GW-7.7-groups")
def test_diagnostics(server: HttpServer, root: Path) -> None:
    main = payload(server, "diagnostics.document", uri=(root / "main.py").as_uri())
    assert main["diagnostics"] and all(d["severity"] >= 1 for d in main["diagnostics"])
    whole = payload(server, "diagnostics.workspace")
    own = [i["diagnostics"] for i in whole["items"] if i["uri"] == (root / "main.py").as_uri()]
    assert own == [main["diagnostics"]]


@pytest.mark.requirement("GW-3.0-content-is-harmless", "GS-6.1-content")
def test_content_on_request(place: Path, root: Path) -> None:
    home = place / f"home-{OUTSIDE}"
    for content in ("summary", "mirror"):
        stdio = StdioServer.start([str(root), "--set", f"content={content}"], home)
        try:
            stdio.initialize()
            arguments = questions(root)["definition"]
            result = stdio.call("vscode.lsp.definition", arguments)["result"]
        finally:
            stdio.stop()
        (entry,) = result["content"]
        assert entry["type"] == "text"
        if content == "summary":
            assert entry["text"] == result["structuredContent"]["summary"]
        else:
            assert json.loads(entry["text"]) == result["structuredContent"]
