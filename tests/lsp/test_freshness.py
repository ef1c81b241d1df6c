"""Edits are in the answer, however they were made: a few rounds of each kind."""

import mmap
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.engine import engine
from tests.support.stdio import StdioServer
from tests.system.freshness import EDITS, Repository, run_rounds


@pytest.mark.parametrize("mode", ["auto", "sweep"])
def test_rounds_of_edits(tmp_path: Path, stdio: Callable[..., StdioServer], mode: str) -> None:
    repository = Repository(tmp_path / "ws", seed=7)
    server = stdio(repository.root, "--set", f"change_detection={mode}")
    server.initialize()
    for kind in EDITS:
        assert run_rounds(server, repository, kind, 8) == []


async def test_a_living_mapping_of_the_asked_document(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.py").write_text("first = 1\nprint(first)\n")
    async with engine(root, cache=tmp_path) as running:
        uri = running.uri("a.py")
        before = await running.call("vscode.lsp.documentSymbols", uri=uri)
        assert [symbol["name"] for symbol in before["symbols"]] == ["first"]
        with (root / "a.py").open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapping:
            mapping[0:5] = b"later"
            after = await running.call("vscode.lsp.documentSymbols", uri=uri)
        assert [symbol["name"] for symbol in after["symbols"]] == ["later"]
