"""The HTTP transport: one POST, one message, one answer.

A plain ASGI application on top of the protocol core. Refusals are statuses with an empty body;
JSON-RPC answers are 200 with JSON, or an event stream when progress was asked for and there is
some. A closed connection is not a cancel: the work goes on and its answer is dropped.
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from sightline.contract.limits import MAX_REQUEST_BYTES
from sightline.contract.settings import Settings
from sightline.protocol import jsonrpc
from sightline.protocol.jsonrpc import Malformed, Message, Request, Response
from sightline.protocol.revisions import HTTP_REVISIONS
from sightline.protocol.session import (
    Call,
    Cancel,
    Phase,
    Profile,
    Send,
    Session,
    Start,
    Violation,
)
from sightline.protocol.surface import Surface
from sightline.server.held_tokens import HeldTokens
from sightline.server.http_rules import Door, Heads, Refusal, read_heads
from sightline.server.logs import Log
from sightline.server.running import Runner
from sightline.server.sessions import Sessions
from sightline.server.tokens import TokenFile

__all__ = ["HttpApp"]

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Sender = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_PROFILE = Profile(HTTP_REVISIONS, needs_initialized=True, answers_cancelled=True)
_BODY_S = 5.0
_LINGER_S = 1.0
_LINGER_IDLE_S = 0.2
_LINGER_BYTES = 8 << 20
_JSON = (b"content-type", b"application/json")
_STREAM = (b"content-type", b"text/event-stream")


class HttpApp:
    def __init__(
        self,
        surface: Surface,
        runner: Runner,
        tokens: TokenFile | HeldTokens,
        settings: Settings,
        log: Log,
        clock: Callable[[], float],
    ) -> None:
        self._surface = surface
        self._runner = runner
        self._tokens = tokens
        self._log = log
        self._clock = clock
        self._door = Door(
            settings.endpoint_path,
            frozenset(host.lower() for host in settings.allowed_hosts),
            frozenset(settings.allowed_origins),
        )
        self.sessions = Sessions(settings.max_sessions, settings.session_idle_s, clock)
        profile = _PROFILE._replace(shared=True)
        self._shared = None if settings.enable_sessions else Session(surface, profile)

    async def __call__(self, scope: Scope, receive: Receive, send: Sender) -> None:
        try:
            heads = read_heads(scope["headers"])
            target = scope.get("target") or scope["raw_path"]
            self._door.check(target, scope["method"], heads, self._tokens.current())
            body = await _read_body(receive)
            await self._message(body, heads, send)
        except Refusal as refusal:
            if refusal.status == 413:
                await _linger(receive)
            self._log.debug("http.refused", status=refusal.status)
            await _respond(send, refusal.status, refusal.headers)
        except Exception as error:  # the top level of a request: answered without a word
            self._log.bug(error)
            await _respond(send, 500, [])

    async def _message(self, body: bytes, heads: Heads, send: Sender) -> None:
        arrived = self._clock()
        try:
            message = jsonrpc.read(body)
        except Malformed:
            raise Refusal(400) from None
        if isinstance(message, Response):
            await _respond(send, 202, [])
            return
        session, is_new = self._session_for(message, heads)
        effects = session.receive(message)
        if not effects:
            await _respond(send, 202, [])
            return
        match effects[0]:
            case Send(answer):
                extra = []
                if is_new and self._shared is None and session.phase is not Phase.NEW:
                    extra = [(b"mcp-session-id", self.sessions.add(session).encode())]
                await _respond(send, 200, [_JSON, *extra], answer)
            case Start(call):
                await self._call(session, call, arrived, send)
            case Cancel(call):
                self._runner.cancel(call)
                await _respond(send, 202, [])
            case Violation():
                raise Refusal(400)

    def _session_for(self, message: Message, heads: Heads) -> tuple[Session, bool]:
        """The session a message belongs to, and whether it is about to begin."""
        if self._shared is not None:
            is_initialize = isinstance(message, Request) and message.method == "initialize"
            if self._shared.phase is not Phase.NEW and not is_initialize:
                self._check_version(self._shared, heads)
            return self._shared, is_initialize
        if heads.session is None:
            return Session(self._surface, _PROFILE), True
        if not heads.session:
            raise Refusal(400)
        session = self.sessions.find(heads.session)
        if session is None:
            # The version is checked before the session, as it always was.
            if heads.protocol_version not in (None, HTTP_REVISIONS[-1].name):
                raise Refusal(400)
            raise Refusal(404)
        self._check_version(session, heads)
        return session, False

    def _check_version(self, session: Session, heads: Heads) -> None:
        if heads.protocol_version is None and session.options.protocol_header == "session":
            return
        if session.revision is None or heads.protocol_version != session.revision.name:
            raise Refusal(400)

    async def _call(self, session: Session, call: Call, arrived: float, send: Sender) -> None:
        """Answers with JSON, or with an event stream once there is progress to tell."""
        reports: asyncio.Queue[bytes] = asyncio.Queue()
        task = self._runner.start(session, call, arrived=arrived, progress=reports.put_nowait)
        streaming = False
        if call.progress_token is not None:
            streaming = await _stream_progress(task, reports, send)
        answer = await task
        assert answer is not None, "over HTTP every call is answered"
        if streaming:
            await send({"type": "http.response.body", "body": _event(answer), "more_body": False})
        else:
            await _respond(send, 200, [_JSON], answer)


async def _stream_progress(
    task: "asyncio.Task[bytes | None]", reports: "asyncio.Queue[bytes]", send: Sender
) -> bool:
    """Sends progress until the call ends; whether the event stream was begun."""
    streaming = False
    while not task.done():
        getter = asyncio.ensure_future(reports.get())
        await asyncio.wait({task, getter}, return_when=asyncio.FIRST_COMPLETED)
        if not getter.done():
            getter.cancel()
            break
        if not streaming:
            streaming = True
            headers = [_STREAM, (b"cache-control", b"no-cache")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
        body = _event(getter.result())
        await send({"type": "http.response.body", "body": body, "more_body": True})
    return streaming


async def _read_body(receive: Receive) -> bytes:
    """The whole body within the size and the time it may take."""
    body = bytearray()
    try:
        async with asyncio.timeout(_BODY_S):
            while True:
                event = await receive()
                if event["type"] == "http.disconnect":
                    raise Refusal(400, close=True)
                body += event.get("body", b"")
                if len(body) > MAX_REQUEST_BYTES:
                    raise Refusal(413, close=True)
                if not event.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        raise Refusal(408, close=True) from None


async def _linger(receive: Receive) -> None:
    """Reads on for a moment, so that the sender gets to see the refusal instead of a reset."""
    size = 0
    try:
        async with asyncio.timeout(_LINGER_S):
            while size <= _LINGER_BYTES:
                async with asyncio.timeout(_LINGER_IDLE_S):
                    event = await receive()
                size += len(event.get("body", b""))
                if event["type"] == "http.disconnect" or not event.get("more_body", False):
                    return
    except TimeoutError:
        return


async def _respond(
    send: Sender, status: int, headers: list[tuple[bytes, bytes]], body: bytes = b""
) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def _event(message: bytes) -> bytes:
    return b"event: message\r\ndata: %b\r\n\r\n" % message
