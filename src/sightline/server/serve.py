"""Running the HTTP server: bind, serve, stop gracefully.

The socket is bound here, to 127.0.0.1 and nothing else, before uvicorn sees it. A port that is
taken is refused with advice, and with a warning when another user's program holds it.
"""

import asyncio
import contextlib
import errno
import logging
import signal
import socket
from collections.abc import Callable, Iterator

import uvicorn

from sightline.server.http import HttpApp
from sightline.server.http_connection import Connection

__all__ = ["PortTaken", "bind", "serve_http"]

_BACKLOG = 512
_GRACE_S = 2


class PortTaken(Exception):
    """Somebody else listens on the port."""


def bind(port: int) -> socket.socket:
    """A listening socket on 127.0.0.1."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(f"port {port} is taken; stop the other program or use --port") from None
        raise
    listener.setblocking(False)
    return listener


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


async def serve_http(
    app: HttpApp,
    listener: socket.socket,
    ready: Callable[[], None],
    until: asyncio.Event | None = None,
) -> None:
    """Serves until SIGINT, SIGTERM or ``until``, then lets running answers end."""
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
        backlog=_BACKLOG,
    )
    server = _Server(config)

    def stop() -> None:
        server.should_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, stop)
    loop.call_soon(ready)
    waiting = None if until is None else asyncio.create_task(until.wait(), name="reason to stop")
    if waiting is not None:
        waiting.add_done_callback(lambda _: stop())
    try:
        await server.serve(sockets=[listener])
    finally:
        server.close_at_once()
        if waiting is not None:
            waiting.cancel()
