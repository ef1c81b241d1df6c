"""Many clients and one program: servers are shared, nobody has a project, nobody waits at the door.

The server is scripted, so that it can be counted and held back; the program and its transports are
the real ones.
"""

from pathlib import Path
from typing import Any

from tests.support.engine import received
from tests.support.http import HttpServer
from tests.support.scripted_home import install
from tests.support.stdio import StdioServer
from tests.support.watching import wait_for

_SPAN = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}


def _file(root: Path) -> str:
    root.mkdir()
    file = root / "a.py"
    file.write_text("x = 1\n")
    return file.as_uri()


def _outline(name: str) -> list[dict[str, Any]]:
    return [{"name": name, "kind": 13, "range": _SPAN, "selectionRange": _SPAN}]


def test_sessions_share_servers_and_have_no_project_of_their_own(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    files = {_file(root): root for root in (one, two)}
    outlines = [
        {"params": {"textDocument": {"uri": uri}}, "result": _outline(root.name)}
        for uri, root in files.items()
    ]
    script = {
        "textDocument/documentSymbol": outlines,
        "textDocument/references": [{"result": []}],
    }
    folder = install(tmp_path / "home", script)
    arguments = [str(one), str(two), "--tools", "lsp"]
    with HttpServer.start(arguments, tmp_path / "home") as server:
        sessions = [server.initialize("first"), server.initialize("second")]
        # Each client asks about both roots in turns; what one asked last is nothing to the other.
        for session in [*sessions, *reversed(sessions)]:
            server.session = session
            for uri, root in files.items():
                answer = server.call("vscode.lsp.documentSymbols", {"uri": uri})
                (symbol,) = answer["result"]["structuredContent"]["symbols"]
                assert symbol["name"] == root.name
    started = [m["params"]["rootUri"] for m in received(folder) if m["method"] == "initialize"]
    assert sorted(started) == [one.as_uri(), two.as_uri()], "one server for each root, not more"


def test_a_server_that_never_finishes_its_start_keeps_nobody_at_the_door(tmp_path: Path) -> None:
    uri = _file(tmp_path / "ws")
    folder = install(tmp_path / "home", {"initialize": [{"hang": True}]})
    server = StdioServer.start([str(tmp_path / "ws"), "--tools", "lsp"], tmp_path / "home")
    assert server.initialize()["result"]["serverInfo"]["name"] == "sightline"
    assert server.request("tools/list")["result"]["tools"]
    params = {"name": "vscode.lsp.documentSymbols", "arguments": {"uri": uri}}
    for _ in range(2):
        error = server.request("tools/call", params)["error"]
        assert error["data"]["details"] == {"retryable": True, "waitingFor": "ty to start"}
    assert server.request("ping")["result"] == {}
    # It may still be starting: both calls were answered without it.
    wait_for(lambda: any(message["method"] == "initialize" for message in received(folder)), folder)
    server.stop()
    asked = [message["method"] for message in received(folder)]
    assert asked.count("initialize") == 1, "a retry does not start another one"
