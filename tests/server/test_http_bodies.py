"""Bodies and connections over real sockets: sizes, speeds, pipelining, other dialects of HTTP."""

import contextlib
import json
import re
from collections.abc import Iterator

import pytest

from tests.support.http import HttpServer, in_session
from tests.support.wire import Wire

MIB = 1 << 20
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
RESPONSE = b'{"jsonrpc":"2.0","id":1,"result":{}}'


@pytest.fixture(scope="module")
def session(server: HttpServer) -> str:
    return server.initialize()


def padded(size: int) -> bytes:
    """A message of exactly this many bytes."""
    head, tail = b'{"jsonrpc":"2.0","id":1,"result":"', b'"}'
    return head + b"x" * (size - len(head) - len(tail)) + tail


def chunked(body: bytes, size: int) -> bytes:
    parts = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def head_of(server: HttpServer, **headers: str) -> bytes:
    """The headers of a good request, ready for a body."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    drop = ("content-length",) if "transfer_encoding" in headers else ()
    return server.encode(b"", headers=named, drop=drop, close=False)


# Sizes


@pytest.mark.requirement("GW-5.1-numbers", "GT-size", "GW-1.4-bounded")
def test_declared_sizes(server: HttpServer) -> None:
    assert server.request(padded(MIB)).status == 202
    answer = server.request(padded(MIB + 1))
    assert (answer.status, answer.body) == (413, b"")


def test_a_declared_size_is_refused_before_the_body(server: HttpServer) -> None:
    with server.connect() as wire:
        wire.send(head_of(server, content_length=str(1 << 40)))
        assert wire.answer().status == 413
        assert wire.closed()


@pytest.mark.requirement("GT-size")
@pytest.mark.parametrize("piece", [100_000, MIB + 1])
def test_streamed_sizes(server: HttpServer, piece: int) -> None:
    head = head_of(server, transfer_encoding="chunked")
    with server.connect() as wire:
        wire.send(head + chunked(padded(MIB), piece))
        assert wire.answer().status == 202
    with server.connect() as wire:
        wire.send(head + chunked(padded(MIB + 1), piece))
        answer = wire.answer()
        assert (answer.status, answer.body) == (413, b"")
        assert answer.headers["connection"] == "close"
        assert wire.closed()


def test_an_endless_stream_is_cut_off(server: HttpServer) -> None:
    """The client sees the refusal although it had not finished sending."""
    head = head_of(server, transfer_encoding="chunked")
    piece = b"%x\r\n%b\r\n" % (1 << 18, b"x" * (1 << 18))
    with server.connect() as wire:
        wire.send(head + piece * 8)
        assert wire.answer().status == 413
        assert wire.closed()


@pytest.mark.parametrize("token", [None, "wrong"])
def test_trailers_are_bounded(server: HttpServer, token: str | None) -> None:
    """Whoever sends them, and however they are cut."""
    head = head_of(server, transfer_encoding="chunked")
    if token is not None:
        head = re.sub(rb"(?i)(authorization: )[^\r]*", rb"\1Bearer wrong", head)
    with server.connect() as wire:
        wire.send(head)
        with contextlib.suppress(OSError):  # it may have been cut off by then
            wire.send(b"1\r\n{\r\n0\r\nX: ")
            for _ in range(64):
                wire.send(b"a" * 16_384)
        with contextlib.suppress(OSError):
            assert wire.answer().status in (401, 431)
        assert wire.closed()


def test_what_a_trailer_says_is_not_read(server: HttpServer) -> None:
    head = head_of(server, transfer_encoding="chunked")
    with server.connect() as wire:
        wire.send(head + chunked(padded(64), 64)[:-2] + b"Origin: http://evil.example\r\n\r\n")
        assert wire.answer().status == 202


@pytest.mark.parametrize("body", [b"zz\r\n", b"5\r\nhelloXX", b"-1\r\n\r\n", b"\r\n\r\n"])
def test_a_broken_stream(server: HttpServer, body: bytes) -> None:
    head = head_of(server, transfer_encoding="chunked")
    with server.connect() as wire:
        wire.send(head + body)
        answer = wire.answer()
        assert (answer.status, answer.body) == (400, b"")
        assert wire.closed()


def test_a_body_that_ends_early(server: HttpServer) -> None:
    with server.connect() as wire:
        wire.send(head_of(server, content_length="100") + b"{")
        wire.half_close()
        assert wire.closed()


# Connections


def test_one_connection_serves_many_requests(server: HttpServer, session: str) -> None:
    with server.connect() as wire:
        for number in range(50):
            message = PING | {"id": number}
            wire.send(server.encode(message, headers=in_session(session), close=False))
            assert wire.answer().json["id"] == number


def test_pipelined_requests_are_answered_in_order(server: HttpServer, session: str) -> None:
    messages = [
        server.encode(PING | {"id": number}, headers=in_session(session), close=False)
        for number in range(40)
    ]
    with server.connect() as wire:
        wire.send(b"".join(messages))
        assert [wire.answer().json["id"] for _ in messages] == list(range(40))


def test_a_thousand_requests_sent_at_once(server: HttpServer, session: str) -> None:
    """Answering one inside the other would be too deep."""
    numbers = range(1000)
    messages = [
        server.encode(PING | {"id": n}, headers=in_session(session), close=False) for n in numbers
    ]
    with server.connect() as wire:
        wire.send(b"".join(messages))
        assert [json.loads(wire.answer().body)["id"] for _ in numbers] == list(numbers)


def test_a_bad_request_behind_a_good_one(server: HttpServer, session: str) -> None:
    """The good one gets its own answer, not the bad one's."""
    good = server.encode(PING, headers=in_session(session), close=False)
    for bad in (b"nonsense\r\n\r\n", b"POST /mcp HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\n" + _LONG):
        with server.connect() as wire:
            wire.send(good + bad)
            assert wire.answer().json == {"jsonrpc": "2.0", "id": 1, "result": {}}
            assert wire.closed()


_LONG = b"host: localhost\r\nx: " + b"a" * 30_000 + b"\r\n\r\n"


def test_a_refused_request_leaves_the_connection_usable(server: HttpServer) -> None:
    """Its body was read, so the next request is not taken for it."""
    with server.connect() as wire:
        wire.send(server.encode(RESPONSE, close=False))
        assert wire.answer().status == 202, "a stranger is disconnected, see test_crowds.py"
        for status, headers in ((401, {"authorization": "x"}), (406, {"accept": "x"})):
            wire.send(server.encode(RESPONSE, headers=headers, close=False))
            answer = wire.answer()
            assert answer.status == status and "connection" not in answer.headers
        wire.send(server.encode(RESPONSE))
        assert wire.answer().status == 202


def test_a_refused_request_whose_body_does_not_come(server: HttpServer) -> None:
    """A stranger cannot hold a connection by never ending a body that nobody wants."""
    with server.connect() as wire:
        wire.send(head_of(server, authorization="Bearer x", content_length="1000") + b"{")
        answer = wire.answer()
        assert (answer.status, answer.headers["connection"]) == (401, "close")
        assert wire.closed()


# Other dialects


def test_http_1_0(server: HttpServer, session: str) -> None:
    with server.connect() as wire:
        wire.send(server.encode(PING, version="1.0", headers=in_session(session), close=False))
        assert wire.answer().json["result"] == {}
        assert wire.closed()
    without_host = server.request(PING, version="1.0", drop=("host",))
    assert (without_host.status, without_host.body) == (403, b"")


def test_expect_continue(server: HttpServer) -> None:
    with server.connect() as wire:
        wire.send(head_of(server, expect="100-continue", content_length=str(len(RESPONSE))))
        assert wire.answer().status == 100
        wire.send(RESPONSE)
        assert wire.answer().status == 202


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"authorization": "Bearer x"}, 401), ({"content_length": str(MIB + 1)}, 413)],
)
def test_expect_continue_refused(server: HttpServer, headers: dict[str, str], status: int) -> None:
    """A client that asks first is told at once, and sends its body nowhere."""
    with server.connect() as wire:
        wire.send(head_of(server, **{"expect": "100-continue", "content_length": "5"} | headers))
        assert wire.answer().status == status
        assert wire.closed()


@pytest.mark.parametrize("protocol", ["websocket", "h2c", "TLS/1.2"])
def test_no_protocol_is_upgraded(server: HttpServer, session: str, protocol: str) -> None:
    own = in_session(session) | {"connection": "Upgrade, HTTP2-Settings", "upgrade": protocol}
    request = server.encode(PING, headers=own, close=False)
    with server.connect() as wire:
        for cut in (len(request), 50, len(request) - 20):
            wire.send(request[:cut])
            wire.send(request[cut:])
            assert wire.answer().json["result"] == {}
        wire.send(request.replace(b"HTTP2-Settings", b"close") + request)
        assert wire.answer().json["result"] == {}
        assert wire.closed()


def test_offers_in_one_piece_are_declined_one_after_the_other(
    server: HttpServer, session: str
) -> None:
    """Not each inside the one before, which ended at the depth that Python allows."""
    own = in_session(session) | {"connection": "Upgrade", "upgrade": "h2c"}
    request = server.encode(PING, headers=own, close=False)
    with server.connect() as wire:
        wire.send(request * 2_000)
        for _ in range(2_000):
            assert wire.answer().json["result"] == {}


def test_connect_is_no_proxy(server: HttpServer) -> None:
    with server.connect() as wire:
        wire.send(b"CONNECT example.com:443 HTTP/1.1\r\nhost: example.com:443\r\n\r\n")
        answer = wire.answer()
        assert (answer.status, answer.body) == (404, b"")
        assert wire.closed()


# Time: every connection that says too little is cut off. They all wait at the same time.


@pytest.fixture(scope="module")
def slow(server: HttpServer, session: str) -> Iterator[dict[str, Wire]]:
    good = server.encode(RESPONSE, close=False)
    wires = {name: server.connect() for name in ("silent", "head", "body", "chunks", "second")}
    wires["head"].send(good[:40])
    wires["body"].send(head_of(server, content_length="100") + b"{")
    wires["chunks"].send(head_of(server, transfer_encoding="chunked") + b"5\r\n{")
    wires["second"].send(good)
    assert wires["second"].answer().status == 202
    wires["second"].send(good[:40])
    yield wires
    for wire in wires.values():
        wire.__exit__(None, None, None)


@pytest.mark.slow
@pytest.mark.requirement("GT-stalled")
@pytest.mark.parametrize("name", ["head", "body", "chunks", "second"])
def test_a_stalled_request_is_cut_off(slow: dict[str, Wire], name: str) -> None:
    answer = slow[name].answer()
    assert (answer.status, answer.body) == (408, b"")
    assert slow[name].closed()


@pytest.mark.slow
@pytest.mark.requirement("GT-stalled")
def test_a_silent_connection_is_closed(slow: dict[str, Wire]) -> None:
    assert slow["silent"].closed()


def test_two_hundred_connections_at_once(server: HttpServer, session: str) -> None:
    wires = [server.connect() for _ in range(200)]
    for number, wire in enumerate(wires):
        wire.send(server.encode(PING | {"id": number}, headers=in_session(session)))
    for number, wire in enumerate(wires):
        assert json.loads(wire.answer().body)["id"] == number
        wire.__exit__(None, None, None)
