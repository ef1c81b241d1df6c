"""A client that does not read its answers is not read either, so nothing piles up."""

import socket

import pytest

from tests.support.http import HttpServer, in_session

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def test_a_client_that_does_not_read_is_not_read(server: HttpServer) -> None:
    session = server.initialize()
    request = server.encode(LIST, headers=in_session(session), close=False)
    with (
        socket.create_connection(("127.0.0.1", server.port), timeout=2) as connection,
        pytest.raises(TimeoutError),
    ):
        connection.sendall(request * 100_000)
    assert server.initialize(), "others are served"


def test_what_was_asked_is_answered_once_the_client_reads(server: HttpServer) -> None:
    session = server.initialize()
    request = server.encode(LIST, headers=in_session(session), close=False)
    with server.connect() as wire:
        wire.send(request * 400)
        sizes = {len(wire.answer().body) for _ in range(400)}
        assert len(sizes) == 1
