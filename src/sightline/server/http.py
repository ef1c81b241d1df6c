"""The HTTP transport: one POST, one message, one answer.

The application on top of the protocol core, without a connection. Refusals are statuses with an
empty body; JSON-RPC answers are 200 with JSON, or an event stream when progress was asked for and
there is some. What needs no waiting is answered in the call that brought the request. A closed
connection is not a cancel: the work goes on and its answer is dropped.
"""

import asyncio
from collections.abc import Callable
from functools import partial

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
from sightline.server.http_exchange import (
    JSON_HEADERS,
    Admission,
    Answer,
    Body,
    Coming,
    Head,
    Line,
    Reply,
)
from sightline.server.http_rules import CLOSE, Door, Heads, Refusal, read_heads
from sightline.server.logs import Log
from sightline.server.running import Runner
from sightline.server.sessions import Sessions
from sightline.server.tokens import TokenFile

__all__ = ["HttpApp"]

_ACCEPTED = Reply(202)
_PROFILE = Profile(HTTP_REVISIONS, needs_initialized=True, answers_cancelled=True)


class HttpApp:
    def __init__(
        self,
        surface: Surface,
        runner: Runner,
        tokens: TokenFile | HeldTokens,
        settings: Settings,
        log: Log,
        clock: Callable[[], float],
        current: Callable[[], Settings] | None = None,
    ) -> None:
        """``current``: the settings as they are now, where those of clients may change."""
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
        self._keeps_sessions = settings.enable_sessions
        self._current = current or (lambda: settings)

    @property
    def _header_is_optional(self) -> bool:
        """Whether some client may leave out which revision it speaks."""
        settings = self._current()
        own = (client.protocol_header for client in settings.clients.values())
        return "session" in (settings.protocol_header, *own)

    def take(self, head: Head, body: bytes) -> Reply | Coming:
        """What a complete request brings about: its answer, or how the answer will come."""
        try:
            heads = self._admit(head)
            if len(body) > MAX_REQUEST_BYTES:
                raise Refusal(413, CLOSE)
            return self._message(body, heads, head)
        except Refusal as refusal:
            return self._refused(refusal)
        except Exception as error:  # the top level of a request: answered without a word
            return self._bug(error)

    async def read_and_take(self, head: Head, line: Line) -> None:
        """The same for a request whose body is still arriving. Its answer is sent."""
        try:
            body = Body(line, announced=b"expect" in head.headers)
            try:
                heads = self._admit(head)
                outcome = self._message(await body.read(), heads, head)
            except Refusal as refusal:
                outcome = self._refused(refusal)
                if not await body.settle() and CLOSE not in outcome.headers:
                    outcome = outcome._replace(headers=(*outcome.headers, CLOSE))
            await (line.reply(outcome) if isinstance(outcome, Reply) else outcome(line))
        except asyncio.CancelledError:  # the server stops before the request was complete
            await line.reply(Reply(503, (CLOSE,)))
        except Exception as error:
            await line.reply(self._bug(error))

    def _admit(self, head: Head) -> Heads:
        """Lets a request in. The same head is let in again as long as the tokens are the same."""
        tokens = self._tokens.current()
        if head.admission is None or head.admission.tokens is not tokens:
            head.admission = None
            heads = read_heads(head.headers)
            self._door.check(head.target, head.method, heads, tokens)
            head.admission = Admission(tokens, heads)
        return head.admission.heads

    def _refused(self, refusal: Refusal) -> Reply:
        self._log.debug("http.refused", status=refusal.status)
        return Reply(refusal.status, refusal.headers)

    def _bug(self, error: Exception) -> Reply:
        self._log.bug(error)
        return Reply(500, (CLOSE,))

    def _message(self, body: bytes, heads: Heads, head: Head) -> Reply | Coming:
        arrived = self._clock()
        try:
            message = jsonrpc.read(body)
        except Malformed:
            raise Refusal(400) from None
        if isinstance(message, Response):
            return _ACCEPTED
        session, is_new = self._session_for(message, heads)
        effects = session.receive(message)
        if not effects:
            return _ACCEPTED
        match effects[0]:
            case Start(call):
                terminal = self._runner.now(session, call, arrived=arrived)
                if terminal is not None:
                    return Reply(200, JSON_HEADERS, terminal)
                may_stream = head.version != "1.0"
                return partial(self._call, session, call, arrived, may_stream)
            case Send(known):
                if is_new and session.phase is not Phase.NEW:
                    own = (b"mcp-session-id", self.sessions.add(session).encode())
                    return Reply(200, (*JSON_HEADERS, own), known)
                return Reply(200, JSON_HEADERS, known)
            case Cancel(call):
                self._runner.cancel(call)
                return _ACCEPTED
            case Violation():
                raise Refusal(400)

    def _session_for(self, message: Message, heads: Heads) -> tuple[Session, bool]:
        """The session a message belongs to, and whether it is about to begin."""
        if not self._keeps_sessions:
            alone = Session.alone(self._surface, _PROFILE)
            is_initialize = isinstance(message, Request) and message.method == "initialize"
            # Which client leaves the header out cannot be told: it may if one of them may.
            missing = heads.protocol_version is None and self._header_is_optional
            if not is_initialize and not missing:
                self._check_version(alone, heads)
            return alone, False
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

    async def _call(
        self, session: Session, call: Call, arrived: float, may_stream: bool, line: Line
    ) -> None:
        """Answers with JSON, or with an event stream once there is progress to tell."""
        try:
            answer = Answer(line, may_stream=may_stream)
            if call.progress_token is None:
                terminal = await self._runner.run(session, call, arrived=arrived)
            else:
                terminal = await self._tell(session, call, arrived, answer)
            assert terminal is not None, "over HTTP every call is answered"
            await answer.json(terminal)
        except asyncio.CancelledError:
            await line.reply(Reply(503, (CLOSE,)))
        except Exception as error:
            await line.reply(self._bug(error))

    async def _tell(
        self, session: Session, call: Call, arrived: float, answer: Answer
    ) -> bytes | None:
        """Runs a call and tells its progress meanwhile."""
        reports: asyncio.Queue[bytes] = asyncio.Queue()
        task = self._runner.start(session, call, arrived=arrived, progress=reports.put_nowait)
        try:
            await _tell_progress(task, reports, answer)
            return await task
        except asyncio.CancelledError:  # the server stops: the work too, and the client is told
            task.cancel()
            return await task


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
