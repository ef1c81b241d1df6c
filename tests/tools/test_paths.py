"""A path where a URI belongs: the failure names the exact URI to pass, on the wire."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.contract.limits import DEFAULT_PAGE_SIZE
from tests.support.leaks import OUTSIDE
from tests.support.stdio import StdioServer

CODE = "MCP_LSP_GATEWAY/URI_INVALID"
TOOLS = ("definition", "references", "hover", "documentSymbols", "diagnostics.document")
PLACE = {"position": {"line": 0, "character": 0}}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    (folder / "sub dir").mkdir(parents=True)
    (folder / "sub dir/m\u00fc.py").write_text("x = 1\n", encoding="utf-8")
    (folder / "a.py").write_text("y = 2\n", encoding="utf-8")
    (tmp_path / f"{OUTSIDE}.py").write_text("z = 3\n", encoding="utf-8")
    return folder


def told(server: StdioServer, tool: str, uri: str) -> str:
    arguments: dict[str, Any] = {"uri": uri}
    if tool in TOOLS[:3]:
        arguments |= PLACE
    error = server.call(f"vscode.lsp.{tool}", arguments)["error"]
    assert (error["code"], error["data"]) == (-32602, {"code": CODE})
    message: str = error["message"]
    return message.removeprefix("Invalid params: ").removesuffix(f" [{CODE}]")


@pytest.mark.requirement("GW-6.3-URI_INVALID")
@pytest.mark.parametrize("tool", TOOLS)
def test_the_uri_of_a_path_is_told(
    stdio: Callable[..., StdioServer], root: Path, tool: str
) -> None:
    server = stdio(root)
    server.initialize()
    odd, plain = (root / "sub dir/m\u00fc.py").as_uri(), (root / "a.py").as_uri()
    for spelled, uri in (
        ("a.py", plain),
        ("./a.py", plain),
        (str(root / "a.py"), plain),
        ("a.py:1", plain),
        ("a.py:1:1:", plain),
        ("file:a.py", plain),
        ("file://a.py", plain),
        ("sub dir/m\u00fc.py", odd),
    ):
        assert told(server, tool, spelled) == f"pass {uri}", spelled
    told_of = server.call("vscode.lsp.documentSymbols", {"uri": odd})["result"]
    assert told_of["structuredContent"]["symbols"], "what is told can be passed"


def test_nothing_is_told_of_what_is_not_in_the_workspace(
    stdio: Callable[..., StdioServer], root: Path
) -> None:
    server = stdio(root)
    server.initialize()
    generic = "pass a file: URI, such as file:///folder/module.py"
    for spelled in (
        f"{root.parent}/{OUTSIDE}.py",
        f"../{OUTSIDE}.py",
        "gone.py",
        "sub dir",
        "http://example.com/a.py",
        ":1",
    ):
        assert told(server, "documentSymbols", spelled) == generic, spelled


def test_a_path_that_search_tells(stdio: Callable[..., StdioServer], root: Path) -> None:
    other = root.parent / "other"
    other.mkdir()
    (other / "a.py").write_text("y = 3\n", encoding="utf-8")
    server = stdio(root, other)
    server.initialize()
    server.call("index_build", {})
    found = server.call("search", {"query": "y =", "mode": "literal"})["result"]
    items = found["structuredContent"]["items"]
    assert len(items) == 2 <= DEFAULT_PAGE_SIZE
    both = sorted(item["uri"] for item in items)
    for item in items:
        assert told(server, "documentSymbols", item["path"]) == f"pass {' or '.join(both)}"
