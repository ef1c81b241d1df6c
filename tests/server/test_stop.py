"""Stopping and dying: running answers end, and no process is left.

The language server here ignores TERM, has a helper in a session of its own that ignores it too,
and never answers, so that a call is always in flight when the server is stopped. The ways to end
are tried side by side, because each of them takes its grace.
"""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.http import HttpServer, in_session
from tests.support.processes import children_of, left_after
from tests.support.program import command, environment
from tests.support.slow_server import SlowServer
from tests.support.stdio import StdioServer
from tests.support.watching import HANG_S
from tests.support.wire import Wire

NO_ORPHAN_S = 3.0


pytestmark = pytest.mark.usefixtures("hangups_count")


def hover(root: Path) -> dict[str, object]:
    place = {"uri": (root / "main.py").as_uri(), "position": {"line": 2, "character": 7}}
    params = {"name": "vscode.lsp.hover", "arguments": place}
    return {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params}


def serving(home: Path, root: Path) -> tuple[HttpServer, Wire, set[int]]:
    """A server with a call in flight, its connection, and the processes below it."""
    home.mkdir()
    slow = SlowServer.install(home)
    server = HttpServer.start([str(root)], home, slow.extra)
    session = server.initialize()
    wire = server.connect()
    wire.send(server.encode(hover(root), headers=in_session(session), close=False))
    slow.wait_until_asked()
    below = set(children_of(server.process.pid))
    assert len(below) >= 3, "keeper, language server, helper"
    return server, wire, below


@pytest.mark.requirement("GT-graceful-stop", "ST-8.2-subprocesses", "ST-P1-no-orphans")
def test_stopping_and_killing_while_a_call_runs(home: Path, sample: Path) -> None:
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL)
    started = [serving(home / number.name, sample) for number in numbers]
    idle = [server.connect() for server, _, _ in started]
    for number, (server, _, _) in zip(numbers, started, strict=True):
        server.process.send_signal(number)
    for number, (server, wire, below) in zip(numbers, started, strict=True):
        if number is signal.SIGKILL:
            server.process.wait(HANG_S)
            assert not left_after(NO_ORPHAN_S, below)
            server.stop()
            continue
        answer = wire.answer()
        assert answer.status == 200 and answer.json["id"] == 5
        code = answer.json["error"]["data"]["code"].removeprefix("MCP_LSP_GATEWAY/")
        assert code in ("CAP_EXCEEDED", "CANCELLED"), "answered, whichever came first"
        assert wire.closed()
        assert server.stop() == 0
        assert not left_after(0, below)
        assert "Traceback" not in server.log.whole()
    assert all(wire.closed() for wire in idle)
    for wire in (*idle, *(wire for _, wire, _ in started)):
        wire.__exit__(None, None, None)


@pytest.mark.requirement("GT-stdio", "ST-P1-no-orphans")
def test_every_end_of_a_stdio_server(home: Path, sample: Path) -> None:
    started: dict[str, tuple[StdioServer, set[int]]] = {}
    for end in ("input", "output", "SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"):
        own = home / end
        own.mkdir()
        slow = SlowServer.install(own)
        server = StdioServer.start([str(sample)], own, slow.extra)
        server.initialize()
        server.send(hover(sample))
        slow.wait_until_asked()
        started[end] = (server, set(children_of(server.process.pid)))
        assert len(started[end][1]) >= 3
    for end, (server, _) in started.items():
        assert server.process.stdout is not None
        if end == "input":
            server.close_input()
        elif end == "output":
            server.process.stdout.close()
        else:
            server.process.send_signal(getattr(signal, end))
    for end, (server, below) in started.items():
        if end == "input":
            answers = [message for message in server.rest() if message.get("id") == 5]
            assert len(answers) == 1, "a call in flight is still answered"
        server.process.wait(HANG_S)
        assert not left_after(NO_ORPHAN_S, below), end
        sockets = [*(home / end / ".local/share/sightline/run").iterdir()]
        assert bool(sockets) is (end == "SIGKILL"), "a killed one's are cleared by the next"
        server.stop()
        assert "Traceback" not in server.log.whole(), end


def test_a_server_that_is_told_to_outlive_its_terminal(home: Path, sample: Path) -> None:
    """``nohup sightline serve`` is not ended by what it was told to ignore."""
    was = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        server = HttpServer.start([str(sample)], home)
    finally:
        signal.signal(signal.SIGHUP, was)
    server.process.send_signal(signal.SIGHUP)
    server.initialize()
    assert server.stop() == 0


def test_typed_by_hand_it_says_what_it_waits_for(home: Path, sample: Path) -> None:
    ours, theirs = os.openpty()
    with subprocess.Popen(
        command("stdio", sample), stdin=theirs, stderr=subprocess.PIPE, env=environment(home)
    ) as process:
        os.close(theirs)
        assert process.stderr is not None
        assert b"waiting for messages of an MCP client" in process.stderr.readline()
        os.close(ours)  # the terminal is closed
        assert process.wait(HANG_S) == 0
