"""One HTTP/1.1 connection: requests in, answers out in the same order, everything bounded.

Headers must be complete within a few seconds and 16 KiB, a request needs
exactly one Host, an offer to upgrade is ignored, and what the parser refuses is answered with an
empty body. A bad request behind a good one closes the connection after the good one's answer. A
request that arrives in one piece, as nearly all do, costs one task, one write and no timer; one
whose head is the very bytes of an earlier one on the connection is not parsed again.
"""

import asyncio
from collections import deque
from functools import partial
from typing import Protocol, cast

import httptools

from sightline.server.connections import Connections
from sightline.server.http_cycle import Cycle, status_line
from sightline.server.http_exchange import Coming, Head, Line, Reply
from sightline.server.http_rules import join, refused_coding

__all__ = ["Application", "Connection"]


class Application(Protocol):
    """What answers the requests."""

    def take(self, head: Head, body: bytes) -> Reply | Coming:
        """The answer to a whole request, or how it will come."""
        ...

    async def read_and_take(self, head: Head, line: Line) -> None:
        """Reads the rest of a request and answers it."""
        ...


_HEADER_S = 5.0
_IDLE_S = 75.0
_HEADER_BYTES = 16 << 10
#: How much of a body may wait for the application before no more is read.
_BODY_WAITING = 64 << 10
_HEAD_END = b"\r\n\r\n"
#: How many heads of one client are kept, and how long they may be.
_MAX_KNOWN = 16
_MAX_KNOWN_BYTES = 2 << 10
#: Headers with which the same bytes may mean something else.
_SPECIAL = frozenset({b"expect", b"transfer-encoding", b"upgrade"})
_EMPTY = b"content-length: 0\r\nconnection: close\r\n\r\n"


class BadHead(ValueError):
    """A request that is refused before the application sees it."""


class Connection(asyncio.Protocol):
    def __init__(
        self, app: Application, connections: Connections, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._app = app
        self._connections = connections
        self._loop = loop
        self._parser = httptools.HttpRequestParser(self)
        self.transport: asyncio.Transport = cast("asyncio.Transport", None)
        self._drained: asyncio.Future[None] | None = None
        self._paused = False
        #: The request being read.
        self._url = b""
        self._headers: dict[bytes, bytes] = {}
        #: Bytes of its head: of complete lines, and of pieces that held nothing else.
        self._head_bytes = 0
        self._received = 0
        self._in_head = self._begun = False
        self._reading: Cycle | None = None
        #: The request being answered, and those that wait for their turn.
        self._answering: Cycle | None = None
        self._waiting: deque[Cycle] = deque()
        #: Whether a piece held something of a body, and how many bytes did not since one that did.
        self._fruitful = False
        self._fruitless = 0
        #: The rest of what this client says is not read any more.
        self._deaf = False
        self._status = 400
        #: The head of a request that offers to upgrade, without the offer.
        self._without_offer = b""
        #: Heads of requests that came in one piece, by their bytes, and how long their bodies were.
        self._known: dict[bytes, tuple[Head, int]] = {}
        self._header_timer: asyncio.TimerHandle | None = None
        self._idle_timer: asyncio.TimerHandle | None = None
        self._idle_since = 0.0
        self._recognized = False

    # asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self._connections.add(self)
        self._expect_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._deaf = True
        self._connections.discard(self)
        for timer in (self._header_timer, self._idle_timer):
            if timer is not None:
                timer.cancel()
        for cycle in (self._answering, *self._waiting):
            if cycle is not None:
                cycle.disconnect()
        self._waiting.clear()
        self.resume_writing()

    def data_received(self, data: bytes) -> None:
        if self._deaf:
            return
        before = self._answering
        between = before is None and self._reading is None and not self._in_head
        if between and self._again(data):
            return
        self._begun = self._fruitful = False
        self._feed(data)
        if self._reading is not None and not self._deaf:
            # What is neither a body nor the end of one: trailers, which the parser keeps.
            self._fruitless = 0 if self._fruitful else self._fruitless + len(data)
            if self._fruitless > _HEADER_BYTES:
                self._refuse(431)
        if self._in_head and not self._deaf:
            # Of a piece in which this head began, the parser has counted what belongs to it.
            self._received += 0 if self._begun else len(data)
            if self._received > _HEADER_BYTES:
                self._refuse(431)
            elif self._header_timer is None:
                self._expect_headers()
        cycle = self._answering
        if cycle is not None and cycle is not before and cycle.task is None:
            if between:
                self._remember(data, cycle)
            self._start(cycle)

    def pause_writing(self) -> None:
        self._drained = self._loop.create_future()

    def resume_writing(self) -> None:
        if self._drained is not None:
            self._drained.set_result(None)
            self._drained = None

    def shutdown(self) -> None:
        """The server stops: no request after those that are being answered."""
        self._deaf = True
        last = self._last()
        if last is None:
            self.transport.close()
        else:
            last.keep_alive = False

    def cancel(self) -> None:
        """The server cannot wait: what is being answered is cancelled, and answered so."""
        if self._answering is not None and self._answering.task is not None:
            self._answering.task.cancel()

    def abort(self) -> None:
        self.transport.abort()

    def is_recognized(self) -> bool:
        return self._recognized or any(
            cycle is not None and cycle.head.admission is not None
            for cycle in (self._answering, *self._waiting)
        )

    def idle_since(self) -> float | None:
        return None if self._in_head or self._answering is not None else self._idle_since

    # Heads that were read before

    def _again(self, data: bytes) -> bool:
        """Takes a whole request whose head is, byte for byte, one that was read before.

        A client says the same head with every request, so there is nothing new to read in it.
        """
        end = data.find(_HEAD_END) + len(_HEAD_END)
        known = self._known.get(data[:end])
        if known is None or len(data) - end != known[1]:
            return False
        cycle = Cycle(self, known[0], keep_alive=True, announced=False)
        cycle.body, cycle.more_body = data[end:], False
        self._answering = cycle
        self._start(cycle)
        return True

    def _remember(self, data: bytes, cycle: Cycle) -> None:
        """Keeps the head of a request that was a piece of its own, with nothing special in it."""
        end = data.find(_HEAD_END) + len(_HEAD_END)
        plain = cycle.keep_alive and not cycle.more_body and not self._waiting
        if not plain or len(cycle.body) != len(data) - end or self._deaf or self._in_head:
            return
        if end <= _MAX_KNOWN_BYTES and _SPECIAL.isdisjoint(cycle.head.headers):
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            self._known[data[:end]] = (cycle.head, len(cycle.body))

    # The parser

    def _feed(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                try:
                    self._parser.feed_data(rest)
                    return
                except httptools.HttpParserUpgrade as upgrade:
                    rest = rest[upgrade.args[0] :]
                if not self._decline():
                    return
        except httptools.HttpParserError:
            self._refuse(self._status)

    def on_message_begin(self) -> None:
        self._url = b""
        self._headers = {}
        self._head_bytes = self._received = self._fruitless = 0
        self._in_head = self._begun = True

    def on_url(self, url: bytes) -> None:
        self._url += url
        self._head_bytes += len(url)
        if self._head_bytes > _HEADER_BYTES:
            self._too_large()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_bytes += len(name) + len(value) + 4
        if self._head_bytes > _HEADER_BYTES:
            self._too_large()
        if not self._in_head:
            return  # a trailer, which says nothing that could be checked in time
        # The blanks around a value are not part of it; the parser takes only those before it.
        name, value = name.lower(), value.strip(b" \t")
        if name not in self._headers:
            self._headers[name] = value
        elif name == b"host":
            raise BadHead("a request needs exactly one Host")
        else:
            self._headers[name] = join(name, self._headers[name], value)

    def on_headers_complete(self) -> None:
        self._stop_header_timer()
        version = self._parser.get_http_version()
        if version == "1.1" and b"host" not in self._headers:
            raise BadHead("a request needs exactly one Host")
        refused = refused_coding(version, self._headers)
        if refused is not None:
            self._status = refused
            raise BadHead("the body is coded in a way that is not read")
        method = self._parser.get_method()
        if self._parser.should_upgrade() and method != b"CONNECT":
            self._without_offer = self._plain_head(method, version)
            return
        self._in_head = False
        announced = self._headers.get(b"expect", b"").lower() == b"100-continue"
        head = Head(method, self._url, version, self._headers)
        keep_alive = version != "1.0" and self._parser.should_keep_alive()
        cycle = Cycle(self, head, keep_alive=keep_alive, announced=announced)
        self._reading = cycle
        if self._answering is None:
            self._answering = cycle
        else:
            self._waiting.append(cycle)
            self._pause()

    def on_body(self, body: bytes) -> None:
        self._fruitful = True
        cycle = self._reading
        if cycle is not None and not cycle.complete:
            cycle.feed(body)
            if len(cycle.body) > _BODY_WAITING:
                self._pause()

    def on_message_complete(self) -> None:
        if self._reading is not None:
            self._reading.end()
            self._reading = None

    def _too_large(self) -> None:
        self._status = 431
        raise BadHead("the headers are too large")

    # Offers to upgrade

    def _decline(self) -> bool:
        """Whether to go on, with the same request as if nothing had been offered.

        The parser takes what follows an offer for another protocol, a body included, and some
        clients offer HTTP/2 with every first request.
        """
        head, self._without_offer = self._without_offer, b""
        if head:
            self._parser = httptools.HttpRequestParser(self)
            self._parser.feed_data(head)
            return True
        self._deaf = True  # CONNECT, which has no body; what follows is for somebody else
        last = self._last()
        if last is not None:
            last.keep_alive = False
        return False

    def _plain_head(self, method: bytes, version: str) -> bytes:
        lines = [b"%b %b HTTP/%b" % (method, self._url, version.encode())]
        for name, value in self._headers.items():
            if name == b"connection":
                words = [word.strip() for word in value.split(b",")]
                kept = [word for word in words if word.lower() != b"upgrade"]
                lines.append(b"connection: " + b",".join(kept))
            elif name != b"upgrade":
                lines.append(b"%b: %b" % (name, value))
        return b"\r\n".join([*lines, b"", b""])

    # Answering

    def _start(self, cycle: Cycle) -> None:
        """Hands a request to the application. What is known at once is answered at once."""
        body = cycle.whole_body()
        if body is None:
            coming: Coming = partial(self._app.read_and_take, cycle.head)
        else:
            outcome = self._app.take(cycle.head, body)
            if not isinstance(outcome, Reply):
                coming = outcome
            elif self._drained is None:
                cycle.reply_now(outcome)
                return
            else:  # the client does not read what it was sent
                coming = partial(_reply, outcome)
        cycle.task = self._loop.create_task(self._run(cycle, coming))

    async def _run(self, cycle: Cycle, coming: Coming) -> None:
        try:
            await coming(cycle)
        finally:
            if not cycle.complete:
                self.transport.close()

    def _start_next(self, cycle: Cycle) -> None:
        if cycle.task is None and not cycle.complete and not cycle.disconnected:
            self._start(cycle)

    def write(self, data: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(data)

    async def drain(self) -> None:
        while self._drained is not None:
            await asyncio.shield(self._drained)

    def taken(self) -> None:
        if not self._waiting:
            self._resume()

    def answered(self, cycle: Cycle) -> None:
        if not self._recognized and cycle.head.admission is not None:
            self._recognized = True
            self._connections.recognize(self)
        if not cycle.keep_alive:
            self._deaf = True
            self.transport.close()
            return
        self._answering = None
        if self._waiting:
            # Not now: a client may send hundreds at once, and this would be one inside the other.
            self._answering = self._waiting.popleft()
            self._loop.call_soon(self._start_next, self._answering)
        elif self._idle_timer is None:
            self._idle_timer = self._loop.call_later(_IDLE_S, self._close_if_idle)
        if not self._waiting:
            self._resume()
        self._idle_since = self._loop.time()

    def _pause(self) -> None:
        if not self._paused:
            self._paused = True
            self.transport.pause_reading()

    def _resume(self) -> None:
        if self._paused and not self.transport.is_closing():
            self._paused = False
            self.transport.resume_reading()

    def _last(self) -> Cycle | None:
        """The last request that will be answered."""
        return self._waiting[-1] if self._waiting else self._answering

    def _refuse(self, status: int) -> None:
        """Answers with nothing but a status, now or by closing after the answers still due."""
        self._deaf = True
        self._stop_header_timer()
        if self.transport.is_closing():
            return
        broken = self._reading
        last = self._last()
        if last is not None and last is not broken:
            last.keep_alive = False
            return
        if not self._waiting and not (broken is not None and broken.started):
            self.transport.write(status_line(status) + _EMPTY)
        self.transport.close()

    # Time

    def _expect_headers(self) -> None:
        self._header_timer = self._loop.call_later(_HEADER_S, self._headers_late)

    def _stop_header_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _headers_late(self) -> None:
        self._header_timer = None
        if self._in_head:
            self._refuse(408)
        elif self._last() is None:
            self.transport.close()  # a connection that never said anything

    def _close_if_idle(self) -> None:
        """One timer per connection, however many requests it serves."""
        self._idle_timer = None
        busy = self._in_head or self._answering is not None
        left = _IDLE_S if busy else self._idle_since + _IDLE_S - self._loop.time()
        if left > 0:
            self._idle_timer = self._loop.call_later(left, self._close_if_idle)
        else:
            self.transport.close()


async def _reply(reply: Reply, line: Line) -> None:
    await line.reply(reply)
