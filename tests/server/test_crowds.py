"""However many come without the token, those who have it are served."""

import contextlib
import resource
from pathlib import Path

import pytest

from sightline.contract.limits import MAX_CONNECTIONS
from tests.support.http import HttpServer, in_session
from tests.support.program import command
from tests.support.wire import Wire

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
#: A shell that lets the program have this many files, and no more on its own wish.
FEW_FILES = ("sh", "-c", 'ulimit -n 1024; exec "$@"', "sh")


@pytest.mark.parametrize(
    ("method", "path", "drop"),
    [("POST", "/", ()), ("GET", "/mcp", ()), ("POST", "/mcp", ("authorization",))],
)
def test_who_is_refused_is_gone(
    server: HttpServer, method: str, path: str, drop: tuple[str, ...]
) -> None:
    with server.connect() as wire:
        wire.send(server.encode(PING, method=method, path=path, drop=drop, close=False))
        answer = wire.answer()
        assert answer.status in (401, 404, 405) and answer.headers["connection"] == "close"
        assert wire.closed()


@pytest.mark.parametrize("says", [b"", b"GET / HTTP/1.1\r\nhost: x\r\n", b"GET / HTTP/1.1\r\n\r\n"])
def test_a_crowd_of_strangers(home: Path, sample: Path, says: bytes) -> None:
    crowd = 1_200
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 2 * crowd)), hard))
    with (
        HttpServer.start([str(sample)], home, program=(*FEW_FILES, *command())) as server,
        contextlib.ExitStack() as connections,
    ):
        session = server.initialize()
        early = connections.enter_context(server.connect())
        ping = server.encode(PING, headers=in_session(session), close=False)
        early.send(ping)
        assert early.answer().status == 200
        for _ in range(crowd):
            wire = connections.enter_context(server.connect())
            wire.send(says)
        early.send(ping)
        assert early.answer().status == 200, "who was there before is not turned away"
        assert server.request(PING, headers=in_session(session)).status == 200
        files = list(Path(f"/proc/{server.process.pid}/fd").iterdir())
        assert len(files) < MAX_CONNECTIONS + 128


def test_more_clients_than_places(server: HttpServer) -> None:
    session = server.initialize()
    ping = server.encode(PING, headers=in_session(session), close=False)
    with contextlib.ExitStack() as connections:
        wires: list[Wire] = []
        for _ in range(MAX_CONNECTIONS + 5):
            wire = connections.enter_context(server.connect())
            wire.send(ping)
            assert wire.answer().status == 200
            wires.append(wire)
        assert all(wire.closed() for wire in wires[:5]), "the longest idle have made room"
        wires[5].send(ping)
        assert wires[5].answer().status == 200
