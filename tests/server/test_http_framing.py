"""What headers say of where a body ends and how it is coded, with every odd value.

Two programs that read a length or a coding differently can be made to see different requests, so
each value has one meaning or is refused, and none of them is a bug.
"""

import itertools
from pathlib import Path

import pytest

from tests.support.http import HttpServer

RESPONSE = b'{"jsonrpc":"2.0","id":1,"result":{}}'
SIZE = str(len(RESPONSE))
CHUNKED = b"%x\r\n%b\r\n0\r\n\r\n" % (len(RESPONSE), RESPONSE)


def status(server: HttpServer, body: bytes, lines: list[str], drop: tuple[str, ...] = ()) -> int:
    """The status for good headers without a length, and these lines."""
    good = server.encode(b"", drop=("content-length", *drop), close=False)
    head = good[:-2] + "".join(f"{line}\r\n" for line in lines).encode("latin-1") + b"\r\n"
    with server.connect() as wire:
        wire.send(head + body)
        answer = wire.answer()
        if answer.status not in (202, 415):
            assert (answer.body, answer.headers["connection"]) == (b"", "close")
            assert wire.closed(), "what follows is of no known size"
        return answer.status


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (SIZE, 202),
        ("0" * 10 + SIZE, 202),
        ("0" * 5_000, 400),
        ("0" * 5_000 + SIZE, 400),
        ("9" * 5_000, 400),
        (str(2**64 + len(RESPONSE)), 400),
        (f"+{SIZE}", 400),
        (f"-{SIZE}", 400),
        ("3_6", 400),
        ("3 6", 400),
        ("0x24", 400),
        ("36.0", 400),
        ("\u00b2", 400),
        ("", 400),
        (f"\v{SIZE}", 400),
        (f"{SIZE}, {SIZE}", 400),
        (f"{SIZE}\r\ncontent-length: {SIZE}", 400),
        (f"{SIZE}\r\ncontent-length: 5", 400),
        (f"\r\n {SIZE}", 400),
        (f"{SIZE}\r\ntransfer-encoding: chunked", 400),
    ],
)
def test_a_length(server: HttpServer, value: str, expected: int) -> None:
    assert status(server, RESPONSE, [f"content-length: {value}"]) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("chunked", 202),
        ("Chunked", 202),
        (", chunked", 202),
        ("gzip, chunked", 501),
        ("gzip,chunked", 501),
        ("identity, chunked", 501),
        ("gzip\r\ntransfer-encoding: chunked", 501),
        ("gzip", 400),
        ("identity", 400),
        ("", 400),
        ("chunked, gzip", 400),
        ("chunked\r\ntransfer-encoding: gzip", 400),
        ("chunked, chunked", 400),
        ("chunked\r\ntransfer-encoding: chunked", 400),
        ("chunked;q=1", 400),
        ('"chunked"', 400),
        ("x-chunked", 400),
        ("\r\n chunked", 400),
        ("gzip,\r\n chunked", 400),
        ("chunked\r\ncontent-length: 5", 400),
    ],
)
def test_a_transfer_coding(server: HttpServer, value: str, expected: int) -> None:
    assert status(server, CHUNKED, [f"transfer-encoding: {value}"]) == expected


def test_http_1_0_has_no_chunks(server: HttpServer) -> None:
    named = {"transfer-encoding": "chunked"}
    request = server.encode(b"", version="1.0", headers=named, drop=("content-length",))
    with server.connect() as wire:
        wire.send(request + CHUNKED)
        assert wire.answer().status == 400
        assert wire.closed()


@pytest.mark.parametrize("name", ["content-length ", " content-length", "transfer-encoding "])
def test_blanks_around_a_name(server: HttpServer, name: str) -> None:
    value, body = ("chunked", CHUNKED) if "transfer" in name else (SIZE, RESPONSE)
    assert status(server, body, [f"{name}: {value}"]) == 400


@pytest.mark.parametrize(
    ("coding", "expected"),
    [("identity", 202), ("Identity", 202), ("", 202), ("gzip", 415), ("br, identity", 415)],
)
def test_a_content_coding(server: HttpServer, coding: str, expected: int) -> None:
    lines = [f"content-length: {SIZE}", f"content-encoding: {coding}"]
    assert status(server, RESPONSE, lines) == expected


@pytest.mark.parametrize(
    "size", ["", "+24", "-24", "0x24", "2_4", " 24", "24 ", "\v24", "f" * 17, "f" * 5_000]
)
def test_a_size_of_a_chunk(server: HttpServer, size: str) -> None:
    body = size.encode() + b"\r\n" + RESPONSE + b"\r\n0\r\n\r\n"
    assert status(server, body, ["transfer-encoding: chunked"]) == 400


NAMES = (
    *("host", "origin", "authorization", "content-type", "accept", "content-encoding", "expect"),
    *("mcp-protocol-version", "mcp-session-id", "connection", "upgrade", "keep-alive", "te", "x"),
    *("content-length", "transfer-encoding", "trailer"),
)
VALUES = (
    *("", " ", ",", ";", "=", "[", "[::1]:", '"', "\u00b2", "\u00ff", "\v", "\x01", "\x85"),
    *("0", "-1", "+1", "1_0", "0x1", "1e999", "nan", "q=nan", "a;q=1e999", "localhost:\u00b2"),
    *("0" * 5_000, "9" * 5_000, f"127.0.0.1:{'9' * 5_000}", "a;q=" + "9" * 5_000, "," * 5_000),
    *("chunked", "upgrade", "100-continue", "Bearer", "Bearer \u00ff", "\r\n folded"),
)


def test_no_value_of_a_header_is_a_bug(home: Path, sample: Path) -> None:
    with HttpServer.start([str(sample)], home) as server:
        for name, value in itertools.product(NAMES, VALUES):
            drop = (name,) if name in ("host", "authorization", "content-type", "accept") else ()
            length = [] if name in ("content-length", "transfer-encoding") else [SIZE]
            lines = [f"{name}: {value}", *(f"content-length: {size}" for size in length)]
            good = server.encode(b"", drop=("content-length", *drop), close=True)
            head = good[:-2] + "".join(f"{line}\r\n" for line in lines).encode("latin-1") + b"\r\n"
            with server.connect() as wire:
                wire.send(head + RESPONSE)
                code = wire.answer().status
                code = wire.answer().status if code == 100 else code
                assert code in (202, 400, 401, 403, 406, 413, 415), (name, value[:20])
    assert '"event":"bug"' not in server.log.whole()
