"""The HTTP transport: one POST, one message, one answer.

A plain ASGI application on top of the protocol core. Refusals are statuses with an empty body;
JSON-RPC answers are 200 with JSON, or an event stream when progress was asked for and there is
some. A closed connection is not a cancel: the work goes on and its answer is dropped.
"""

import asyncio
from collections.abc import Callable, MutableMapping
from typing import Any

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
from sightline.server.http_exchange import Answer, Body, Receive, Sender, respond
from sightline.server.http_rules import CLOSE, Door, Heads, Refusal, read_heads
from sightline.server.logs import Log
from sightline.server.running import Runner
from sightline.server.sessions import Sessions
from sightline.server.tokens import TokenFile

__all__ = ["HttpApp"]

Scope = MutableMapping[str, Any]

_PROFILE = Profile(HTTP_REVISIONS, needs_initialized=True, answers_cancelled=True)


class HttpApp:
    def __init__(
        self,
        surface: Surface,
        runner: Runner,
        tokens: TokenFile,
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
        headers = {
            settings.protocol_header,
            *(c.protocol_header for c in settings.clients.values()),
        }
        self._header_is_optional = "session" in headers

    async def __call__(self, scope: Scope, receive: Receive, send: Sender) -> None:
        try:
            await self._exchange(scope, receive, send)
        except asyncio.CancelledError:  # the server stops before the request was complete
            await respond(send, 503, [CLOSE])
        except Exception as error:  # the top level of a request: answered without a word
            self._log.bug(error)
            await respond(send, 500, [CLOSE])

    async def _exchange(self, scope: Scope, receive: Receive, send: Sender) -> None:
        announced = any(name == b"expect" for name, _ in scope["headers"])
        body = Body(receive, announced=announced, whole=scope.get("whole_body"))
        try:
            heads = read_heads(scope["headers"])
            target = scope.get("target") or scope["raw_path"]
            self._door.check(target, scope["method"], heads, self._tokens.current())
            answer = Answer(send, may_stream=scope["http_version"] != "1.0")
            await self._message(await body.read(), heads, answer)
        except Refusal as refusal:
            self._log.debug("http.refused", status=refusal.status)
            headers = refusal.headers
            if not await body.settle() and CLOSE not in headers:
                headers = [*headers, CLOSE]
            await respond(send, refusal.status, headers)

    async def _message(self, body: bytes, heads: Heads, answer: Answer) -> None:
        arrived = self._clock()
        try:
            message = jsonrpc.read(body)
        except Malformed:
            raise Refusal(400) from None
        if isinstance(message, Response):
            await answer.accepted()
            return
        session, is_new = self._session_for(message, heads)
        effects = session.receive(message)
        if not effects:
            await answer.accepted()
            return
        match effects[0]:
            case Send(known):
                extra = []
                if is_new and self._shared is None and session.phase is not Phase.NEW:
                    extra = [(b"mcp-session-id", self.sessions.add(session).encode())]
                await answer.json(known, *extra)
            case Start(call):
                await self._call(session, call, arrived, answer)
            case Cancel(call):
                self._runner.cancel(call)
                await answer.accepted()
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
            # The version is checked before the session. Where some client may leave the header
            # out, one that does must still learn that its session is gone.
            missing = heads.protocol_version is None and self._header_is_optional
            if not missing and heads.protocol_version != HTTP_REVISIONS[-1].name:
                raise Refusal(400)
            raise Refusal(404)
        self._check_version(session, heads)
        return session, False

    def _check_version(self, session: Session, heads: Heads) -> None:
        if heads.protocol_version is None and session.options.protocol_header == "session":
            return
        if session.revision is None or heads.protocol_version != session.revision.name:
            raise Refusal(400)

    async def _call(self, session: Session, call: Call, arrived: float, answer: Answer) -> None:
        """Answers with JSON, or with an event stream once there is progress to tell."""
        if call.progress_token is None:
            terminal = await self._runner.run(session, call, arrived=arrived)
            assert terminal is not None, "over HTTP every call is answered"
            await answer.json(terminal)
            return
        reports: asyncio.Queue[bytes] = asyncio.Queue()
        task = self._runner.start(session, call, arrived=arrived, progress=reports.put_nowait)
        try:
            await _tell_progress(task, reports, answer)
            terminal = await task
        except asyncio.CancelledError:  # the server stops: the work too, and the client is told
            task.cancel()
            terminal = await task
        assert terminal is not None, "over HTTP every call is answered"
        await answer.json(terminal)


async def _tell_progress(
    task: "asyncio.Task[bytes | None]", reports: "asyncio.Queue[bytes]", answer: Answer
) -> None:
    """Sends progress until the call ends."""
    while not task.done():
        getter = asyncio.ensure_future(reports.get())
        try:
            await asyncio.wait({task, getter}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not getter.done():
                getter.cancel()
        if getter.done() and not getter.cancelled():
            await answer.event(getter.result())
