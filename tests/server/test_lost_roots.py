"""A root that goes away while it is served: no answer about its code, and no empty one either."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sightline.contract.failures import Unavailable
from sightline.workspace.roots import open_root
from tests.support.stdio import StdioServer
from tests.support.workspaces import opened

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
    said = f" The folder {one} is gone; what it held is missing."
    asked: dict[str, dict[str, Any]] = {
        "search": {"query": "area"},
        "workspace_status": {},
        "vscode.lsp.workspaceSymbols": {"query": "area"},
        "vscode.lsp.diagnostics.workspace": {},
        "vscode.lsp.references": {
            "uri": (other / "shapes.py").as_uri(),
            "position": {"line": 0, "character": 4},
        },
    }

    def summaries() -> dict[str, str]:
        answers = {tool: peer.call(tool, arguments) for tool, arguments in asked.items()}
        return {
            tool: each["result"]["structuredContent"]["summary"] for tool, each in answers.items()
        }

    assert not any(said in summary for summary in summaries().values())
    one.rename(tmp_path / "away")
    assert hits(peer.call("search", {"query": "area"})) == ["shapes.py"]
    assert all(said in summary for summary in summaries().values())
    (tmp_path / "away").rename(one)
    assert not any(said in summary for summary in summaries().values())
    shutil.rmtree(one)
    assert all(said in summary for summary in summaries().values())


@pytest.mark.parametrize("notify", [True, False])
async def test_a_root_without_files_goes_and_comes(tmp_path: Path, notify: bool) -> None:
    one, other = tmp_path / "one", project(tmp_path / "other")
    one.mkdir()
    async with opened(one, other, notify=notify) as workspace:
        before = await workspace.begin()
        one.rmdir()
        gone = await workspace.begin()
        assert (gone.gone, gone.epochs.fs) == ((str(one),), before.epochs.fs + 1)
        one.symlink_to(other)  # where it was there is no root
        assert (await workspace.begin()).gone == (str(one),)
        one.unlink()
        one.mkdir()
        there = await workspace.begin()
        assert (there.gone, there.epochs.fs) == ((), before.epochs.fs + 2)


async def test_the_roots_can_be_put_right_while_all_are_gone(tmp_path: Path) -> None:
    one, other = project(tmp_path / "one"), project(tmp_path / "other")
    async with opened(one) as workspace:
        await workspace.begin()
        shutil.rmtree(one)
        with pytest.raises(Unavailable, match="is gone"):
            await workspace.begin()
        await workspace.set_roots([open_root(str(other), home=None)])
        view = await workspace.begin()
        assert view.document((other / "shapes.py").as_uri()).text == TEXT


def test_an_empty_folder_is_a_root_like_any_other(serve: Serve, tmp_path: Path) -> None:
    root = project(tmp_path / "ws")
    peer = serve(root)
    peer.call("index_build", {})
    (root / "shapes.py").unlink()
    assert hits(peer.call("search", {"query": "area"})) == []
