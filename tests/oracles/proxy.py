"""A loopback proxy that adds the bearer token, for clients that cannot send one.

The official conformance suite has no option for an ``Authorization`` header. Everything else of a
request passes unchanged, Host and Origin too, so that what is judged is Sightline.
"""

import contextlib
import socket
import socketserver
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Self

__all__ = ["TokenProxy"]

_HEAD_LIMIT = 64 << 10
_IDLE_S = 60


class TokenProxy:
    """Listens at once; ``target`` is set when the server behind it is known.

    ``replace`` changes the values of headers that a client sends, by lower-case name.
    """

    def __init__(self, replace: Mapping[str, str] | None = None) -> None:
        self.target: tuple[int, str] | None = None
        replaced = dict(replace or {})
        proxy = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                assert proxy.target is not None
                port, token = proxy.target
                with socket.create_connection(("127.0.0.1", port), timeout=_IDLE_S) as server:
                    _carry(self.request, server, token, replaced)

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, where: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 128


def _carry(
    client: socket.socket, server: socket.socket, token: str, replace: dict[str, str]
) -> None:
    """One request and its answer. The connection ends with it, so no second head can follow."""
    client.settimeout(_IDLE_S)
    data = b""
    while b"\r\n\r\n" not in data and len(data) <= _HEAD_LIMIT:
        chunk = client.recv(65_536)
        if not chunk:
            return
        data += chunk
    head, end, rest = data.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    kept = [_replaced(line, replace) for line in lines if _name(line) != "connection"]
    added = [b"authorization: Bearer " + token.encode(), b"connection: close"]
    with contextlib.suppress(OSError):
        server.sendall(b"\r\n".join([first, *kept, *added]) + end + rest)
    uploading = threading.Thread(target=_pump, args=(client, server), daemon=True)
    uploading.start()
    _pump(server, client)
    for side in (client, server):
        with contextlib.suppress(OSError):
            side.shutdown(socket.SHUT_RDWR)
    uploading.join()


def _name(line: bytes) -> str:
    return line.partition(b":")[0].decode("latin-1").lower()


def _replaced(line: bytes, replace: dict[str, str]) -> bytes:
    value = replace.get(_name(line))
    return line if value is None else f"{_name(line)}: {value}".encode()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while chunk := source.recv(65_536):
            sink.sendall(chunk)
