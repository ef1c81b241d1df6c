"""How far a sweep of diagnostics has come, told to a client over a real transport."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.scripted_home import install
from tests.support.stdio import StdioServer

_DOCUMENTS = 6
_TOOL = "vscode.lsp.diagnostics.workspace"
_NOTHING = {"kind": "full", "items": []}


def _start(folder: Path) -> tuple[StdioServer, Path]:
    """Sightline with a server that keeps back what it has to say about the last document."""
    root, home, go = folder / "ws", folder / "home", folder / "go"
    root.mkdir()
    for number in range(_DOCUMENTS):
        (root / f"m{number}.py").write_text("x = 1\n")
    last = {"textDocument": {"uri": (root / f"m{_DOCUMENTS - 1}.py").as_uri()}}
    found = {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}}
    late = {"kind": "full", "items": [found | {"message": "late", "severity": 1}]}
    script = {
        "textDocument/diagnostic": [
            {"params": last, "after": str(go), "result": late},
            {"result": _NOTHING},
        ],
        "textDocument/documentSymbol": [{"result": []}],
        "textDocument/references": [{"result": []}],
    }
    install(home, script, workspace_diagnostics="sweep")
    return StdioServer.start([str(root), "--tools", "lsp"], home), go


def _sweep(server: StdioServer, id: str) -> Any:
    params = {"name": _TOOL, "arguments": {}, "_meta": {"progressToken": f"token {id}"}}
    server.send({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    return server.answer_to(id)


@pytest.mark.requirement("ST-9-payload", "ST-9.2-none-after-the-end")
def test_a_sweep_tells_how_many_documents_are_done(tmp_path: Path) -> None:
    server, go = _start(tmp_path)
    server.initialize()
    server.call("vscode.lsp.documentSymbols", {"uri": (tmp_path / "ws/m0.py").as_uri()})
    # The last document is not answered in time: the caller is told how far it came, and to retry.
    refused = _sweep(server, "first")
    assert refused["error"]["data"]["details"]["retryable"] is True
    told = [message["params"] for message in server.notifications]
    assert {message["method"] for message in server.notifications} == {"notifications/progress"}
    assert {each["progressToken"] for each in told} == {"token first"}
    assert {(each["total"], each["tool"], each["phase"]) for each in told} == {
        (_DOCUMENTS, _TOOL, "diagnostics")
    }
    done = [each["progress"] for each in told]
    assert done == sorted(set(done)) and done[-1] == _DOCUMENTS - 1
    go.touch()
    answer = server.call(_TOOL, {})
    (file,) = answer["result"]["structuredContent"]["items"]
    assert [each["message"] for each in file["diagnostics"]] == ["late"]
    assert len(server.notifications) == len(told), "nothing is told after the end"
    server.stop()


def test_a_sweep_asks_about_as_many_at_once_as_the_entry_says(tmp_path: Path) -> None:
    """A server that waits before it looks at a document is slow only if it is shown few."""
    root, home = tmp_path / "ws", tmp_path / "home"
    root.mkdir()
    for number in range(_DOCUMENTS):
        (root / f"m{number}.py").write_text("x = 1\n")
    # Nothing is answered before the last document was asked about.
    held = [{"hold": _NOTHING}] * (_DOCUMENTS - 1)
    script = {"textDocument/diagnostic": [*held, {"result": _NOTHING}]}
    install(home, script, workspace_diagnostics="sweep", sweeps_at_once=_DOCUMENTS)
    server = StdioServer.start([str(root), "--tools", "lsp"], home)
    server.initialize()
    answer = server.call(_TOOL, {})
    assert answer["result"]["structuredContent"]["items"] == []
    server.stop()
