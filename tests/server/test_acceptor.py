"""A burst of connections is taken at once, and a system without room is not hammered."""

import asyncio
import errno
import socket
from collections.abc import Callable
from typing import Any

import pytest
import uvloop

from sightline.server import acceptor
from sightline.server.acceptor import Acceptor
from tests.support.watching import HANG_S

BURST = 100


class Listener:
    """A listening socket whose first ``accept`` fails as it does without free descriptors."""

    def __init__(self, real: socket.socket, failures: int = 0) -> None:
        self._real = real
        self._failures = failures
        self.asked = 0

    def accept(self) -> tuple[socket.socket, Any]:
        self.asked += 1
        if self._failures:
            self._failures -= 1
            raise OSError(errno.EMFILE, "Too many open files")
        return self._real.accept()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def listening() -> socket.socket:
    real = socket.create_server(("127.0.0.1", 0), backlog=BURST)
    real.setblocking(False)
    return real


async def take(
    listener: Listener, clients: int, make_room: Callable[[], bool] = lambda: False
) -> int:
    """How many turns of the loop it takes until all clients are connected."""
    connected = asyncio.Semaphore(0)
    loop = asyncio.get_running_loop()
    turns = 0

    class Guest(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            transport.close()
            connected.release()

    def turn() -> None:
        nonlocal turns
        turns += 1
        loop.call_soon(turn)

    door = Acceptor(listener, Guest, loop, make_room=make_room)  # type: ignore[arg-type]
    await door.open()
    turn()
    async with asyncio.timeout(HANG_S):
        for _ in range(clients):
            await connected.acquire()
    taken = turns
    door.close()
    door.close()
    return taken


def test_a_burst_is_taken_within_a_few_turns() -> None:
    listener = Listener(listening())
    address = listener.getsockname()
    guests = [socket.create_connection(address) for _ in range(BURST)]
    assert uvloop.run(take(listener, BURST)) < BURST // 2
    for guest in guests:
        guest.close()


def test_no_room_is_waited_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acceptor, "_NO_ROOM_S", 0.05)
    listener = Listener(listening(), failures=2)
    with socket.create_connection(listener.getsockname()):
        uvloop.run(take(listener, 1))
    assert listener.asked <= 2 + 1 + 1, "it asked once per wait, and once in vain at the end"


def test_a_connection_that_can_make_room_does_so_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acceptor, "_NO_ROOM_S", 60)
    closed = iter([True, True])
    listener = Listener(listening(), failures=2)
    with socket.create_connection(listener.getsockname()):
        uvloop.run(take(listener, 1, lambda: next(closed)))
    assert list(closed) == [], "one was closed for each time there was no room"
