"""A raw connection: bytes out, responses taken apart by hand so that nothing is repaired."""

import contextlib
import json
import socket
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from tests.support.leaks import ledger
from tests.support.watching import HANG_S

__all__ = ["Answer", "Wire"]


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Any]:
        """The messages of an event stream."""
        lines = self.body.decode().split("\r\n")
        return [json.loads(line.removeprefix("data: ")) for line in lines if "data: " in line]


class Wire:
    """One connection to a server."""

    def __init__(self, port: int, *, seconds: float = HANG_S) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=seconds)
        self._buffer = b""
        self._ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        """Sends; a server that has already closed is no error here, its answer tells."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._socket.sendall(data)

    def half_close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def closed(self) -> bool:
        """Waits for the end; whether nothing came before it."""
        while not self._ended:
            self._receive()
        return not self._buffer

    def head(self) -> tuple[int, dict[str, str]]:
        """The next response up to its blank line."""
        while b"\r\n\r\n" not in self._buffer:
            assert not self._ended, f"closed after {self._buffer!r}"
            self._receive()
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        status, *lines = head.decode("latin-1").split("\r\n")
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        return int(status.split(" ")[1]), headers

    def answer(self) -> Answer:
        """The next whole response."""
        status, headers = self.head()
        if status == 100:
            return Answer(status, headers, b"")
        if headers.get("transfer-encoding") == "chunked":
            body = self._chunks()
        else:
            body = self._exactly(int(headers["content-length"]))
        ledger.hear(f"answer {status}", body)
        return Answer(status, headers, body)

    def so_far(self) -> bytes:
        """Everything that has arrived, without waiting."""
        self._socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while not self._ended:
                self._receive()
        data, self._buffer = self._buffer, b""
        return data

    def rest(self) -> bytes:
        """Everything until the server closes."""
        self.closed()
        data, self._buffer = self._buffer, b""
        return data

    def _chunks(self) -> bytes:
        whole = b""
        while size := int(self._line(), 16):
            whole += self._exactly(size)
            assert self._line() == b""
        assert self._line() == b""
        return whole

    def _line(self) -> bytes:
        while b"\r\n" not in self._buffer:
            assert not self._ended, "closed inside a chunk"
            self._receive()
        line, _, self._buffer = self._buffer.partition(b"\r\n")
        return line

    def _exactly(self, size: int) -> bytes:
        while len(self._buffer) < size:
            assert not self._ended, "closed inside a body"
            self._receive()
        data, self._buffer = self._buffer[:size], self._buffer[size:]
        return data

    def _receive(self) -> None:
        try:
            chunk = self._socket.recv(65_536)
        except ConnectionResetError:
            chunk = b""
        self._ended = not chunk
        self._buffer += chunk
