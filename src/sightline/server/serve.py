"""Running the HTTP server until it is asked to stop, then letting running answers end.

The socket is bound before (see ports.py), to 127.0.0.1 and nothing else.
"""

import asyncio
import contextlib
import socket
from collections.abc import Callable

from sightline.server.acceptor import Acceptor
from sightline.server.connections import Connections
from sightline.server.descriptors import places_for_connections, raise_descriptor_limit
from sightline.server.endings import ending_signals
from sightline.server.http import HttpApp
from sightline.server.http_connection import Connection

__all__ = ["serve_http"]

_GRACE_S = 2.0


async def serve_http(
    app: HttpApp,
    listener: socket.socket,
    ready: Callable[[], None],
    stopping: asyncio.Event | None = None,
) -> None:
    """Serves until a signal ends it or ``stopping`` is set, then lets running answers end."""
    loop = asyncio.get_running_loop()
    stopping = stopping or asyncio.Event()
    for number in ending_signals():
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, stopping.set)
    places = places_for_connections(raise_descriptor_limit())
    connections = Connections(places)
    acceptor = Acceptor(
        listener,
        lambda: Connection(app, connections, loop),
        loop,
        at_once=places // 4,
        make_room=connections.drop_stranger,
    )
    await acceptor.open()
    try:
        ready()
        await stopping.wait()
        acceptor.close()
        await connections.end(_GRACE_S)
    finally:
        acceptor.close()
        connections.abort()
