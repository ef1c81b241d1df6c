"""A head that a client says again is not read again, and nothing else changes.

Every test first makes the head of its connection a known one, then does with the same bytes what
must not be answered from memory.
"""

import json

import pytest

from tests.support.http import HttpServer, in_session
from tests.support.leaks import ledger
from tests.support.program import run
from tests.support.wire import Wire


def ping(id: int) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": "ping"}).encode()


def request(server: HttpServer, session: str, body: bytes) -> bytes:
    return server.encode(body, headers=in_session(session), close=False)


def asked(wire: Wire, data: bytes) -> tuple[int, int | None]:
    """The status of a request, and the id of its answer where there is one."""
    wire.send(data)
    answer = wire.answer()
    return answer.status, answer.json["id"] if answer.body else None


@pytest.fixture
def session(server: HttpServer) -> str:
    return server.initialize()


def test_bodies_differ_under_one_head(server: HttpServer, session: str) -> None:
    with server.connect() as wire:
        for number in (11, 12, 13):
            assert asked(wire, request(server, session, ping(number))) == (200, number)
        assert asked(wire, request(server, session, b"x" * len(ping(11)))) == (400, None)
        assert asked(wire, request(server, session, ping(14))) == (200, 14)


def test_requests_in_one_piece_and_in_many(server: HttpServer, session: str) -> None:
    with server.connect() as wire:
        assert asked(wire, request(server, session, ping(21))) == (200, 21)
        wire.send(request(server, session, ping(22)) + request(server, session, ping(23)))
        assert [wire.answer().json["id"] for _ in range(2)] == [22, 23]
        whole = request(server, session, ping(24))
        for cut in (1, whole.index(b"\r\n\r\n") + 2, whole.index(b"\r\n\r\n") + 4, len(whole) - 1):
            wire.send(whole[:cut])
            assert asked(wire, whole[cut:]) == (200, 24)
        wire.send(whole + whole[:40])
        assert wire.answer().json["id"] == 24
        assert asked(wire, whole[40:]) == (200, 24)


@pytest.mark.requirement("GT-rotation")
def test_a_token_that_was_good_is_refused(server: HttpServer, session: str) -> None:
    data = request(server, session, ping(31))
    with server.connect() as wire:
        assert [asked(wire, data) for _ in range(2)] == [(200, 31)] * 2
        ledger.secret(run(server.home, "token", "rotate").stdout.strip())
        assert asked(wire, data) == (401, None)
        assert asked(wire, request(server, session, ping(32))) == (200, 32)


def test_a_session_that_was_good_is_gone(server: HttpServer) -> None:
    session = server.initialize()
    data = request(server, session, ping(41))
    with server.connect() as wire:
        assert asked(wire, data) == (200, 41)
        for _ in range(64):  # the least recently used goes first
            server.initialize()
        assert asked(wire, data) == (404, None)


def test_a_chunked_body_is_read_every_time(server: HttpServer, session: str) -> None:
    named = in_session(session) | {"transfer-encoding": "chunked"}
    head = server.encode(b"", headers=named, drop=("content-length",), close=False)
    with server.connect() as wire:
        for body in (ping(51), ping(51) + b" ", ping(52)):
            chunks = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
            assert asked(wire, head + chunks)[0] == 200
