"""uvicorn's connection with the bounds that a plain one lacks.

Headers must be complete within a few seconds and 16 KiB, a request needs exactly one Host, no
protocol is upgraded, and what the parser refuses is answered with an empty body too.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["Connection"]

_HEADER_S = 5.0
_HEADER_BYTES = 16 << 10
_EMPTY = b"HTTP/1.1 %d %b\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class Connection(HttpToolsProtocol):
    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(*arguments, **options)
        self._header_timer: asyncio.TimerHandle | None = None
        self._header_bytes = 0
        self._in_body = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._in_body:
            self._header_bytes += len(data)
            if self._header_timer is None:
                self._expect_headers()
        if self.parser is not None:
            super().data_received(data)
        if not self._in_body and self._header_bytes > _HEADER_BYTES:
            self._refuse(431, b"Request Header Fields Too Large")

    def on_headers_complete(self) -> None:
        self._in_body = True
        self._stop_timer()
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts > 1 or (hosts == 0 and self.parser.get_http_version() == "1.1"):
            raise ValueError("a request needs exactly one Host")
        self.scope["target"] = self.url  # type: ignore[typeddict-unknown-key]
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_body = False
        self._header_bytes = 0
        super().on_message_complete()

    def _should_upgrade(self) -> bool:
        return False

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, b"Bad Request")

    def _expect_headers(self) -> None:
        self._stop_timer()
        self._header_timer = self.loop.call_later(_HEADER_S, self._headers_late)

    def _headers_late(self) -> None:
        if self._header_bytes == 0:
            self.transport.close()  # a connection that never said anything
        elif not self._in_body:
            self._refuse(408, b"Request Timeout")

    def _refuse(self, status: int, phrase: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(_EMPTY % (status, phrase))
            self.transport.close()

    def _stop_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None
