"""However many come without the token, those who have it are served."""

import contextlib
import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from sightline.contract.limits import MAX_CONNECTIONS
from sightline.server.descriptors import places_for_connections
from tests.support.http import HttpServer, in_session
from tests.support.program import command
from tests.support.wire import Wire

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
#: Limits that a shell may set, soft and hard alike, from one that leaves almost nothing.
LIMITS = (24, 64, 255, 256, 1024)


def with_limit(files: int) -> tuple[str, ...]:
    """The program, allowed this many open files, which it cannot raise."""
    return ("sh", "-c", f'ulimit -n {files}; exec "$@"', "sh", *command())


def open_files(server: HttpServer) -> int:
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


@pytest.fixture(params=LIMITS)
def limited(
    request: pytest.FixtureRequest, home: Path, sample: Path
) -> Iterator[tuple[HttpServer, int]]:
    """A server that may open few files, and how many."""
    with HttpServer.start([str(sample)], home, program=with_limit(request.param)) as server:
        yield server, request.param


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
        HttpServer.start([str(sample)], home, program=with_limit(1024)) as server,
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
        assert open_files(server) < MAX_CONNECTIONS + 128


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


def test_silent_strangers_keep_no_client_out(limited: tuple[HttpServer, int]) -> None:
    server, files = limited
    session = server.initialize()
    ping = server.encode(PING, headers=in_session(session), close=False)
    places = places_for_connections(files)
    with contextlib.ExitStack() as connections:
        early = connections.enter_context(server.connect())
        early.send(ping)
        assert early.answer().status == 200
        crowd = [connections.enter_context(server.connect()) for _ in range(400)]
        for _ in range(3):
            early.send(ping)
            assert early.answer().status == 200, "strangers are dropped before a client"
        if files >= 64:
            assert open_files(server) <= files * 3 // 4, "a reserve is left"
        late = connections.enter_context(server.connect())
        late.send(ping)
        assert late.answer().status == 200
        assert all(wire.closed() for wire in crowd[: -places - 1])
        early.send(ping)
        assert early.answer().status == 200


def test_a_client_amid_a_burst_of_strangers(limited: tuple[HttpServer, int]) -> None:
    """All of them have connected before the server looks; the client is still heard."""
    server, _ = limited
    session = server.initialize()
    ping = server.encode(PING, headers=in_session(session), close=False)
    with contextlib.ExitStack() as connections:
        server.process.send_signal(signal.SIGSTOP)
        try:
            for _ in range(100):
                connections.enter_context(server.connect())
            client = connections.enter_context(server.connect())
            client.send(ping)
            for _ in range(100):
                connections.enter_context(server.connect())
        finally:
            server.process.send_signal(signal.SIGCONT)
        assert client.answer().status == 200


def test_too_few_files_for_language_servers_are_said(limited: tuple[HttpServer, int]) -> None:
    server, files = limited
    server.stop()
    said = f"only {files} files may be open at a time, too few for language servers"
    assert (f"  {said}: run ulimit -n 1024 before\n" in server.log.whole()) == (files < 64)
