"""uvicorn's connection with the bounds that a plain one lacks.

Headers must be complete within a few seconds and 16 KiB, a request needs exactly one Host, an offer
to upgrade is ignored, and what the parser refuses is answered with an empty body too. Answers stay
in the order of their requests: a bad request behind a good one closes the connection after the
good one's answer.
"""

import asyncio
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["Connection"]

_HEADER_S = 5.0
_HEADER_BYTES = 16 << 10
_EMPTY = b"HTTP/1.1 %d %b\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_PHRASES = {400: b"Bad Request", 408: b"Request Timeout", 431: b"Request Header Fields Too Large"}


class BadHead(ValueError):
    """A request that is refused before the application sees it."""


class Connection(HttpToolsProtocol):
    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(*arguments, **options)
        self._header_timer: asyncio.TimerHandle | None = None
        #: Bytes since the last message ended, and of the headers that are complete.
        self._received = 0
        self._head_bytes = 0
        self._in_body = False
        #: The rest of what this client says is not read any more.
        self._deaf = False
        self._status = 400
        #: The head of a request that offers to upgrade, without the offer.
        self._without_offer = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._deaf or self.parser is None:
            return
        if not self._in_body:
            self._received += len(data)
            if self._header_timer is None:
                self._expect_headers()
        self._unset_keepalive_if_required()
        self._feed(data)
        if not self._in_body and self._received > _HEADER_BYTES:
            self._refuse(431)

    def _feed(self, data: bytes) -> None:
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._decline(data[upgrade.args[0] :])
        except httptools.HttpParserError:
            self._refuse(self._status)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head_bytes = 0

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value) + 4)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._stop_timer()
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts > 1 or (hosts == 0 and self.parser.get_http_version() == "1.1"):
            raise BadHead("a request needs exactly one Host")
        if self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT":
            self._without_offer = self._plain_head()
            return
        self.scope["target"] = self.url  # type: ignore[typeddict-unknown-key]
        if not self.url.startswith(b"/"):
            self.url = b"/"  # uvicorn cannot read every form of a target; ours is compared whole
        super().on_headers_complete()
        self._in_body = True

    def on_message_complete(self) -> None:
        if self._without_offer:
            return
        self._in_body = False
        self._received = 0
        super().on_message_complete()

    def _should_upgrade(self) -> bool:
        return False

    def _decline(self, rest: bytes) -> None:
        """Goes on with the same request as if nothing had been offered.

        The parser takes what follows an offer for another protocol, a body included, and some
        clients offer HTTP/2 with every first request.
        """
        head, self._without_offer = self._without_offer, b""
        if not head:  # CONNECT, which has no body; what follows is for somebody else
            self._deaf = True
            self.cycle.keep_alive = False
            return
        self.parser = httptools.HttpRequestParser(self)
        self._feed(head + rest)

    def _plain_head(self) -> bytes:
        version = self.parser.get_http_version().encode()
        lines = [b"%b %b HTTP/%b" % (self.parser.get_method(), self.url, version)]
        for name, value in self.headers:
            if name == b"connection":
                words = [word.strip() for word in value.split(b",")]
                kept = [word for word in words if word.lower() != b"upgrade"]
                lines.append(b"connection: " + b",".join(kept))
            elif name != b"upgrade":
                lines.append(b"%b: %b" % (name, value))
        return b"\r\n".join([*lines, b"", b""])

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > _HEADER_BYTES:
            self._status = 431
            raise BadHead("the headers are too large")

    def _expect_headers(self) -> None:
        self._stop_timer()
        self._header_timer = self.loop.call_later(_HEADER_S, self._headers_late)

    def _headers_late(self) -> None:
        self._header_timer = None
        if self._received == 0 and not self._answer_pending():
            self.transport.close()  # a connection that never said anything
        elif not self._in_body:
            self._refuse(408)

    def _answer_pending(self) -> bool:
        # Before the first request there is no cycle yet, whatever uvicorn's types say.
        return getattr(self.cycle, "response_complete", True) is False

    def _refuse(self, status: int) -> None:
        """Answers with nothing but a status, now or by closing after the answers still due."""
        self._deaf = True
        self._stop_timer()
        if self.transport.is_closing():
            return
        if self._answer_pending() and not self._in_body:
            self.cycle.keep_alive = False
            return
        if not self.pipeline:
            self.transport.write(_EMPTY % (status, _PHRASES[status]))
        self.transport.close()

    def _stop_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None
