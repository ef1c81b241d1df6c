"""A language server that is removed while it runs: the next one of its language takes over."""

import os
import signal
from pathlib import Path

import pytest

from sightline.contract.failures import Unavailable
from tests.support.engine import INSTALLED, engine

SYMBOLS = "vscode.lsp.documentSymbols"


@pytest.mark.parametrize("others", [["vtsls"], []], ids=["another", "none"])
async def test_who_answers_then(tmp_path: Path, others: list[str]) -> None:
    root, servers, cache = (tmp_path / name for name in ("ws", "servers", "cache"))
    for folder in (root, servers, cache):
        folder.mkdir()
    (root / "main.ts").write_text("export const x = 1;\n")
    for name in ("tsgo", *others):
        (servers / name).symlink_to(INSTALLED / name)
    async with engine(root, cache=cache, servers=servers) as running:
        uri, pool = running.uri("main.ts"), running.program.pool
        before = await running.call(SYMBOLS, uri=uri)
        (tsgo,) = pool.status()
        assert (tsgo.name, tsgo.state) == ("tsgo", "ready")
        (servers / "tsgo").unlink()
        (root / "main.ts").write_text("export const y = 1;\n")
        await running.call(SYMBOLS, uri=uri)
        assert [server.name for server in pool.status()] == ["tsgo"], "it runs, so it is asked"
        assert tsgo.pid is not None
        os.kill(tsgo.pid, signal.SIGKILL)
        (root / "main.ts").write_text("export const x = 1;\n")
        if not others:
            with pytest.raises(Unavailable, match="run sightline doctor"):
                await running.call(SYMBOLS, uri=uri)
            return
        after = await running.call(SYMBOLS, uri=uri)
        assert [each["name"] for each in after["symbols"]] == ["x"]
        assert [each["name"] for each in before["symbols"]] == ["x"]
        states = {server.name: server.state for server in pool.status()}
        assert states == {"tsgo": "stopped", "vtsls": "ready"}
