"""Running the HTTP server until it is asked to stop, then letting running answers end.

The socket is bound before (see ports.py), to 127.0.0.1 and nothing else.
"""

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Callable, Iterator

import uvicorn

from sightline.server.http import HttpApp
from sightline.server.http_connection import Connection

__all__ = ["serve_http"]

_GRACE_S = 2


class _Server(uvicorn.Server):
    """uvicorn without its own idea of signals."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def close_at_once(self) -> None:
        """Closes what a failure left open. After an orderly stop that is nothing."""
        for listening in getattr(self, "servers", []):
            listening.close()
        for connection in list(self.server_state.connections):
            connection.transport.abort()


async def serve_http(app: HttpApp, listener: socket.socket, ready: Callable[[], None]) -> None:
    """Serves until SIGINT or SIGTERM, then lets running answers end."""
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=_GRACE_S,
    )
    server = _Server(config)

    def stop() -> None:
        server.should_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, stop)
    loop.call_soon(ready)
    try:
        await server.serve(sockets=[listener])
    finally:
        server.close_at_once()
