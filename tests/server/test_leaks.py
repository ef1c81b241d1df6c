"""The watch itself: it finds what it should, whichever came first, and reports it once."""

import pytest

from tests.support.http import HttpServer
from tests.support.leaks import BODY, OUTSIDE, Ledger


def test_a_secret_in_a_text() -> None:
    watch = Ledger()
    watch.hear("log", "nothing here")
    assert watch.leaks() == []
    watch.hear("log", f"cannot open /home/{OUTSIDE}/x")
    watch.hear("answer", f"you said {BODY}".encode())
    assert [leak.partition(":")[0] for leak in watch.leaks()] == ["log", "answer"]
    assert watch.leaks() == []


def test_a_secret_that_becomes_known_later() -> None:
    watch = Ledger()
    watch.hear("log", "token abcdefghijklmnopqrstuvwxyz")
    assert watch.leaks() == []
    watch.secret("abcdefghijklmnopqrstuvwxyz")
    assert len(watch.leaks()) == 1


@pytest.mark.requirement("GA-nothing-logged", "GW-6.3-nothing-leaks", "GW-3.0-content-is-harmless")
def test_a_server_that_logs_everything_says_no_secret(server: HttpServer) -> None:
    """Requests that are wrong in every way, with secrets in every place."""
    session = server.initialize()
    outside = f"file:///{OUTSIDE}/{BODY}.py"
    position = {"line": 0, "character": 0}
    for arguments in (
        {"uri": outside, "position": position},
        {"uri": f"http://{BODY}", "position": position},
        {"uri": BODY, "position": {"line": BODY, "character": -1}},
        {"uri": outside, "position": position, "cursor": BODY, "pageSize": BODY},
        {"query": BODY, "cursor": BODY},
        {"query": [OUTSIDE]},
    ):
        for tool in ("vscode.lsp.references", "vscode.lsp.workspaceSymbols", BODY):
            params = {"name": tool, "arguments": arguments}
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            assert server.say(message, session).status == 200
    for method in (BODY, "tools/list", "initialize"):
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"cursor": BODY}}
        server.say(message, session)
    assert server.request({"jsonrpc": "2.0", "id": 1, "method": "initialize",
                           "params": {"protocolVersion": BODY}}).status == 200  # fmt: skip
    server.request(b"{" + BODY.encode())
    server.request(b"", path=f"/{BODY}", method="GET")
    server.request(b"", headers={"origin": f"http://{BODY}"})
    server.request(b"", headers={"authorization": f"Bearer {BODY}"})
    server.request(b"", headers={"mcp-session-id": BODY, "mcp-protocol-version": OUTSIDE})
    server.log.until('"event":"call"')
    server.log.until('"event":"http.refused"')
    server.stop()
    server.log.whole()  # nothing is left that the watch over secrets has not read
