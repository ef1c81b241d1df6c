"""A root that goes away while it is served: no answer about its code, and no empty one either."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.stdio import StdioServer

TEXT = "def area():\n    return 1\n"

Serve = Callable[..., StdioServer]


@pytest.fixture
def serve(home: Path) -> Iterator[Serve]:
    started: list[StdioServer] = []

    def start(*words: str | Path) -> StdioServer:
        peer = StdioServer.start(list(map(str, words)), home)
        started.append(peer)
        peer.initialize()
        return peer

    yield start
    for peer in started:
        peer.stop()


def project(folder: Path) -> Path:
    folder.mkdir()
    (folder / "shapes.py").write_text(TEXT, encoding="utf-8")
    return folder


def refused(answer: Any, root: Path) -> str:
    """The code of a refusal that names the root."""
    error = answer.get("error")
    if error is None:
        error = json.loads(answer["result"]["content"][0]["text"])
    assert f"the folder {root} is gone" in error["message"]
    code: str = error["data"]["code"] if "data" in error else error["code"]
    return code.removeprefix("MCP_LSP_GATEWAY/")


def hits(answer: Any) -> list[str]:
    return [item["path"] for item in answer["result"]["structuredContent"]["items"]]


@pytest.mark.parametrize("detection", ["auto", "sweep"])
def test_nothing_is_answered_while_the_root_is_gone(
    serve: Serve, tmp_path: Path, detection: str
) -> None:
    root = project(tmp_path / "ws")
    peer = serve(root, "--set", f"change_detection={detection}")
    peer.call("index_build", {})
    assert hits(peer.call("search", {"query": "area"})) == ["shapes.py"]
    root.rename(tmp_path / "elsewhere")
    uri = (root / "shapes.py").as_uri()
    assert refused(peer.call("search", {"query": "area"}), root) == "CAPABILITY_MISSING"
    assert refused(peer.call("index_status", {}), root) == "CAPABILITY_MISSING"
    symbols = peer.call("vscode.lsp.documentSymbols", {"uri": uri})
    assert refused(symbols, root) == "PROVIDER_UNAVAILABLE"
    (tmp_path / "elsewhere").rename(root)
    assert hits(peer.call("search", {"query": "area"})) == ["shapes.py"]
    symbols = peer.call("vscode.lsp.documentSymbols", {"uri": uri})
    assert [each["name"] for each in symbols["result"]["structuredContent"]["symbols"]] == ["area"]


def test_the_other_roots_are_answered_about(serve: Serve, tmp_path: Path) -> None:
    one, other = project(tmp_path / "one"), project(tmp_path / "other")
    peer = serve(one, other)
    peer.call("index_build", {})
    shutil.rmtree(one)
    assert hits(peer.call("search", {"query": "area"})) == ["shapes.py"]


def test_an_empty_folder_is_a_root_like_any_other(serve: Serve, tmp_path: Path) -> None:
    root = project(tmp_path / "ws")
    peer = serve(root)
    peer.call("index_build", {})
    (root / "shapes.py").unlink()
    assert hits(peer.call("search", {"query": "area"})) == []
