"""Taking connections from a listening socket, as many as wait.

uvloop's own server takes one connection per turn of its loop. When many come at once and the loop
is busy with those that are already there, the last ones would wait for seconds. Where few files may
be open, fewer are taken per turn, so that a newcomer is heard before others take its place.
"""

import asyncio
import socket
from collections.abc import Callable

__all__ = ["Acceptor"]

_AT_ONCE = 64
#: How long no connection is taken when the system has no room and no stranger can make any.
_NO_ROOM_S = 0.5


class Acceptor:
    def __init__(
        self,
        listener: socket.socket,
        make: Callable[[], asyncio.Protocol],
        loop: asyncio.AbstractEventLoop,
        *,
        at_once: int = _AT_ONCE,
        make_room: Callable[[], bool] = lambda: False,
    ) -> None:
        """``make_room`` closes a connection and says whether there was one to close."""
        self._at_once = max(1, min(at_once, _AT_ONCE))
        self._make_room = make_room
        self._listener = listener
        self._make = make
        self._loop = loop
        self._server: asyncio.Server | None = None
        self._adopting: set[asyncio.Task[object]] = set()
        self._pause: asyncio.TimerHandle | None = None
        self._open = False

    async def open(self) -> None:
        self._open = True
        try:
            self._listen()
        except NotImplementedError:  # a loop that cannot watch descriptors, as on Windows
            self._server = await self._loop.create_server(self._make, sock=self._listener)

    def close(self) -> None:
        """Takes no more connections. Safe to call twice."""
        if not self._open:
            return
        self._open = False
        if self._pause is not None:
            self._pause.cancel()
        if self._server is not None:
            self._server.close()
        else:
            self._loop.remove_reader(self._listener.fileno())
        self._listener.close()

    def _listen(self) -> None:
        self._pause = None
        self._loop.add_reader(self._listener.fileno(), self._take)

    def _take(self) -> None:
        for _ in range(self._at_once):
            try:
                connection, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError:  # no descriptor or no memory left
                if self._adopting or self._make_room():
                    return  # a descriptor is free once the loop has closed a connection
                self._loop.remove_reader(self._listener.fileno())
                self._pause = self._loop.call_later(_NO_ROOM_S, self._listen)
                return
            connection.setblocking(False)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            adopting = self._loop.create_task(self._adopt(connection))
            self._adopting.add(adopting)
            adopting.add_done_callback(self._adopting.discard)

    async def _adopt(self, connection: socket.socket) -> object:
        try:
            return await self._loop.connect_accepted_socket(self._make, connection)
        except OSError:  # it is gone again
            connection.close()
            return None
