"""A compiler's server is asked nothing else while it reads a document that it was shown.

When clangd has read a document that was opened, there is a moment in which what its index has of
the file counts no more, and what it has made of the file not yet: of a thousand questions that were
asked meanwhile one was told nothing of what the file holds. It says when that is over.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sightline.contract.failures import NotReady, TimedOut, Unavailable
from sightline.contract.settings import Settings
from tests.support.engine import Engine, engine, fake_registry, received
from tests.support.watching import until

HERE = {"line": 0, "character": 0}
HOVER = {"contents": {"kind": "plaintext", "value": "fine"}}
#: A name that servers spell in their own ways.
NAMES = ("a:1.c", "b.c")


def published(uri: str, version: int) -> list[Any]:
    params = {"uri": uri, "version": version, "diagnostics": []}
    return ["textDocument/publishDiagnostics", params]


@asynccontextmanager
async def compiler(
    tmp_path: Path, says: list[Any], *, symbols: dict[str, Any] | None = None, **settings: int
) -> AsyncIterator[Engine]:
    """A server that has two sources, and says this when it is asked for an outline."""
    root = tmp_path / "ws"
    root.mkdir()
    for name in NAMES:
        (root / name).write_text("int x;\n")
    script = {
        "initialize": [{"result": {"capabilities": {"workspaceSymbolProvider": True}}}],
        "textDocument/hover": [{"result": HOVER}],
        "textDocument/documentSymbol": [{"result": [], "then": says}],
        "workspace/symbol": [symbols or {"result": []}],
    }
    registry = fake_registry(
        tmp_path / "fake", script, languages=("c",), compile_database=True, after_change="reindex"
    )
    limits = Settings(**settings)  # type: ignore[arg-type]
    async with engine(root, cache=tmp_path, registry=registry, settings=limits) as running:
        yield running


async def hover(running: Engine, name: str) -> str:
    answer = await running.call("vscode.lsp.hover", uri=running.uri(name), position=HERE)
    return str(answer["summary"])


async def outline(running: Engine, name: str) -> None:
    await running.call("vscode.lsp.documentSymbols", uri=running.uri(name))


def asked(tmp_path: Path) -> list[str]:
    """What the server was asked, in order, but for its start and its end."""
    methods = (message.get("method", "") for message in received(tmp_path / "fake"))
    return [name for name in methods if name.endswith(("hover", "Symbol", "symbol"))]


@pytest.mark.parametrize("spelled", ["a%3A1.c", "a:1.c"])
async def test_a_question_waits_for_what_was_shown_before_it(tmp_path: Path, spelled: str) -> None:
    uris = [f"{(tmp_path / 'ws').as_uri()}/{name}" for name in (spelled, "b.c")]
    says = [published(uri, number) for number, uri in enumerate(uris, 1)]
    async with compiler(tmp_path, says, request_timeout_ms=20_000) as running:
        assert await hover(running, NAMES[0]) == "Hover available."  # for itself nobody waits
        waiting = asyncio.create_task(running.call("vscode.lsp.workspaceSymbols", query="x"))
        (server,) = running.program.pool._fleet.servers.values()
        assert server._run is not None
        while not waiting.done() and not server._run.published._waits:
            await asyncio.sleep(0)
        assert not waiting.done()
        # Meanwhile nothing else is opened: there might be no end to reading.
        other = asyncio.create_task(outline(running, NAMES[1]))
        for _ in range(200):
            await asyncio.sleep(0)
        assert running.uri(NAMES[1]) not in server._run.documents
        # For an outline nobody waits. After the first this server says that it has read both.
        await outline(running, NAMES[0])
        await waiting
        await other
        assert await hover(running, NAMES[1]) == "Hover available."
    hovers, outlines = "textDocument/hover", "textDocument/documentSymbol"
    assert asked(tmp_path) == [hovers, outlines, "workspace/symbol", outlines, hovers]


async def test_another_version_does_not_count(tmp_path: Path) -> None:
    uris = [f"{(tmp_path / 'ws').as_uri()}/{name}" for name in ("a%3A1.c", "b.c")]
    says = [published(uris[0], 9), published(uris[1], 2)]
    async with compiler(tmp_path, says, request_timeout_ms=250) as running:
        await hover(running, NAMES[0])
        await outline(running, NAMES[1])
        with pytest.raises((NotReady, TimedOut)):
            await running.once("vscode.lsp.workspaceSymbols", query="x")
    assert "workspace/symbol" not in asked(tmp_path)


async def test_nothing_is_opened_while_an_answer_is_owed(tmp_path: Path) -> None:
    """Such an answer might lack what is being read."""
    go_on = tmp_path / "go on"
    says = [published(f"{(tmp_path / 'ws').as_uri()}/a%3A1.c", 1)]
    late = {"result": [], "after": str(go_on)}
    async with compiler(tmp_path, says, symbols=late, request_timeout_ms=20_000) as running:
        await outline(running, NAMES[0])
        waiting = asyncio.create_task(running.call("vscode.lsp.workspaceSymbols", query="x"))
        await until(lambda: "workspace/symbol" in asked(tmp_path), tmp_path / "fake")
        others = [asyncio.create_task(each(running, NAMES[1])) for each in (hover, outline)]
        for _ in range(200):
            await asyncio.sleep(0)
        (server,) = running.program.pool._fleet.servers.values()
        assert server._run is not None
        assert running.uri(NAMES[1]) not in server._run.documents
        go_on.touch()
        await waiting
        await asyncio.gather(*others)


async def test_nobody_overtakes_who_waits_to_open_a_document(tmp_path: Path) -> None:
    """Where several ask all the time the server always owes an answer."""
    go_on = tmp_path / "go on"
    uris = [f"{(tmp_path / 'ws').as_uri()}/{name}" for name in ("a%3A1.c", "b.c")]
    says = [published(uri, number) for number, uri in enumerate(uris, 1)]
    late = {"result": [], "after": str(go_on)}
    async with compiler(tmp_path, says, symbols=late, request_timeout_ms=20_000) as running:
        await outline(running, NAMES[0])
        first = asyncio.create_task(running.call("vscode.lsp.workspaceSymbols", query="x"))
        await until(lambda: "workspace/symbol" in asked(tmp_path), tmp_path / "fake")
        opening = asyncio.create_task(outline(running, NAMES[1]))
        (server,) = running.program.pool._fleet.servers.values()
        while not server._asking._opening:
            await asyncio.sleep(0)
        second = asyncio.create_task(running.call("vscode.lsp.workspaceSymbols", query="y"))
        while not server._asking._waiting and server.pending < 2:
            await asyncio.sleep(0)
        go_on.touch()
        await asyncio.gather(first, opening, second)
    outlined, named = "textDocument/documentSymbol", "workspace/symbol"
    assert asked(tmp_path) == [outlined, named, outlined, named]


async def test_a_server_that_never_reads_a_document_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sightline.lsp.server.server._UNREAD_S", 0.5)
    monkeypatch.setattr("sightline.lsp.routing.fleet._ROUND_S", 0.05)
    async with compiler(tmp_path, [], request_timeout_ms=20_000) as running:
        await hover(running, NAMES[0])
        (server,) = running.program.pool._fleet.servers.values()
        first = server.pid
        await running.call("vscode.lsp.workspaceSymbols", query="x")
        assert server.pid != first


async def test_nobody_waits_for_a_server_that_tells_no_versions(tmp_path: Path) -> None:
    [method, params] = published(f"{(tmp_path / 'ws').as_uri()}/a%3A1.c", 1)
    del params["version"]
    async with compiler(tmp_path, [[method, params]], request_timeout_ms=20_000) as running:
        await hover(running, NAMES[0])
        waiting = asyncio.create_task(running.call("vscode.lsp.workspaceSymbols", query="x"))
        await outline(running, NAMES[0])
        await waiting
        assert await hover(running, NAMES[1]) == "Hover available."


async def test_a_list_that_cannot_be_read_shows_that_the_document_was(tmp_path: Path) -> None:
    says = [published(f"{(tmp_path / 'ws').as_uri()}/a%3A1.c", 1)]
    says[0][1]["diagnostics"] = [7]
    async with compiler(tmp_path, says, request_timeout_ms=20_000) as running:
        await outline(running, NAMES[0])
        await running.once("vscode.lsp.workspaceSymbols", query="x")


async def test_a_list_of_which_nobody_knows_whose_it_is_keeps_nobody_waiting(
    tmp_path: Path,
) -> None:
    says = [["textDocument/publishDiagnostics", {"diagnostics": [7]}]]
    async with compiler(tmp_path, says, request_timeout_ms=20_000) as running:
        await hover(running, NAMES[0])
        asking = asyncio.create_task(running.once("vscode.lsp.workspaceSymbols", query="x"))
        (server,) = running.program.pool._fleet.servers.values()
        assert server._run is not None
        while not server._run.published._waits:
            await asyncio.sleep(0)
        await outline(running, NAMES[0])
        with pytest.raises(Unavailable, match="fake gave an answer that cannot be read"):
            await asking
