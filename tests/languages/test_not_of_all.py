"""Questions about a workspace that none of its servers answers."""

from pathlib import Path

import pytest

from sightline.contract.failures import Unavailable
from tests.languages.samples import only
from tests.support.engine import engine
from tests.support.files import write_files

SHEET = {"a.css": ":root { --main: red; }\n"}


async def test_symbols_where_no_server_lists_any(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", SHEET)
    async with engine(root, cache=tmp_path, registry=only("css")) as running:
        with pytest.raises(Unavailable, match="do not answer this; search its text"):
            await running.call("vscode.lsp.workspaceSymbols", query="main")
        answer = await running.call("vscode.lsp.diagnostics.workspace")
        assert answer["summary"] == "Returned diagnostics for 0 files."
