"""One connection to one language server: requests, notifications, what the server asks of us.

The client knows the protocol and nothing of readiness, restarts or files. It is read-only by
construction: ``workspace/applyEdit`` is refused, no command is executed, nothing is shown.
"""

import asyncio
import contextlib
import re
import time
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

import msgspec

from sightline.lsp.wire import messages
from sightline.lsp.wire.framing import BadFraming, Framer, frame
from sightline.lsp.wire.illegible import UNREADABLE, addressed, paired

__all__ = ["Client", "Illegible", "ServerError", "ServerGone"]

T = TypeVar("T")
#: How to hear what a server says as it comes, and that it says no more.
Listen = Callable[[Callable[[bytes], None], Callable[[], None]], None]

_METHOD_NOT_FOUND = -32601
#: Whoever asks after so long begins anew.
_PAUSE_S = 30.0
_MAX_UNSENT_BYTES = 1 << 16
_encode = msgspec.json.Encoder().encode
_decode_envelope = msgspec.json.Decoder(messages.Envelope).decode
_NOTHING = msgspec.Raw(b"{}")
#: How most servers spell the answer to a request.
_ANSWER = re.compile(rb'\{"jsonrpc": ?"2\.0", ?"id": ?([1-9]\d{0,14}), ?"result":')


@cache
def _decoder(result: Any) -> msgspec.json.Decoder[Any]:  # noqa: ANN401 - any type
    """The decoder of a type, which takes longer to make than most answers take to read."""
    return msgspec.json.Decoder(result)


def _envelope(body: bytes | bytearray) -> messages.Envelope:
    """A message, with halves of characters replaced if it cannot be read otherwise."""
    try:
        return _decode_envelope(body)
    except msgspec.DecodeError:
        return _decode_envelope(paired(body))


class ServerGone(Exception):
    """The server ended, or broke the protocol. The text says which."""


class ServerError(Exception):
    """The server answered with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class Illegible(ServerError):
    """What the server said cannot be read. That costs whoever waits for it, and nobody else."""

    def __init__(self) -> None:
        super().__init__(0, "it cannot be read")


class Client:
    def __init__(
        self,
        listen: Listen,
        writer: asyncio.StreamWriter,
        *,
        configuration: Callable[[str], Any],
        notified: Callable[[str, msgspec.Raw], None],
        misheard: Callable[[str, bytes], None] = lambda method, params: None,
    ) -> None:
        self._writer = writer
        self._configuration = configuration
        self._notified = notified
        #: Told of notifications that cannot be read.
        self._misheard = misheard
        self._loop = asyncio.get_running_loop()
        self._next_id = 0
        #: Notifications that are sent with the request after them, or in a moment without one.
        self._unsent: list[bytes] = []
        self._pending: dict[int | str, tuple[asyncio.Future[Any], Any]] = {}
        self._gone: ServerGone | None = None
        #: Since when it has been asked and has said nothing, and when somebody last waited for it.
        self._silent_since: float | None = None
        self._left = time.monotonic()
        self.ended = asyncio.Event()
        self.registrations: dict[str, tuple[str, dict[str, Any]]] = {}
        self._framer = Framer()
        listen(self._hear, self._end)

    @property
    def gone(self) -> ServerGone | None:
        return self._gone

    @property
    def pending(self) -> int:
        return len(self._pending)

    def silent_for(self) -> float:
        """For how many seconds the server has owed an answer and said nothing at all."""
        if not self._pending or self._silent_since is None:
            return 0.0
        return time.monotonic() - self._silent_since

    async def request(self, method: str, params: object, result: type[T] | Any) -> Any:  # noqa: ANN401
        """Asks and waits. Cancelling the wait tells the server to stop."""
        if self._gone is not None:
            raise self._gone
        self._next_id += 1
        number = self._next_id
        future: asyncio.Future[Any] = self._loop.create_future()
        self._note_question()
        self._pending[number] = (future, result)
        message = {"jsonrpc": "2.0", "id": number, "method": method}
        if params is not None:
            message["params"] = params
        self._send(message)
        self._flush()
        try:
            if self._writer.transport.get_write_buffer_size() > _MAX_UNSENT_BYTES:
                await self._drain()
            return await future
        except asyncio.CancelledError:
            if number in self._pending:
                self.notify("$/cancelRequest", {"id": number})
            raise
        finally:
            self._pending.pop(number, None)
            self._left = time.monotonic()

    def _note_question(self) -> None:
        """From here on it is silent, unless it was before. That somebody left to whom it owes an
        answer does not excuse it, but a pause does: some servers say nothing to who has left.
        """
        now = time.monotonic()
        paused = not self._pending and now - self._left > _PAUSE_S
        if self._silent_since is None or paused:
            self._silent_since = now

    def notify(self, method: str, params: object | None = None) -> None:
        """Says something. Order with requests is kept; nothing is awaited."""
        message: dict[str, object] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        if not self._unsent:
            self._loop.call_soon(self._flush)
        self._send(message)

    async def close(self) -> None:
        """Stops reading and writing. The process is ended by whoever started it."""
        self._flush()
        self._fail(ServerGone("it was stopped"))

    def supports(self, method: str) -> bool:
        """Whether the server registered a method dynamically."""
        return any(registered == method for registered, _ in self.registrations.values())

    def _send(self, message: Mapping[str, object]) -> None:
        self._unsent.append(frame(_encode(message)))

    def _flush(self) -> None:
        """Sends what is to be sent, in one piece: the server wakes up once for all of it."""
        if self._unsent:
            data, self._unsent = b"".join(self._unsent), []
            if self._gone is None and not self._writer.is_closing():
                self._writer.write(data)

    async def _drain(self) -> None:
        with contextlib.suppress(ConnectionError):
            await self._writer.drain()

    def _hear(self, data: bytes) -> None:
        if self._gone is not None:
            return
        try:
            for body in self._framer.feed(data):
                self._dispatch(body)
        except BadFraming as bad:
            self._fail(ServerGone(str(bad)))

    def _end(self) -> None:
        inside = " inside a message" if self._framer.inside else ""
        self._fail(ServerGone(f"it ended{inside}"))

    def _fail(self, gone: ServerGone) -> None:
        if self._gone is None:
            self._gone = gone
        self.ended.set()
        pending, self._pending = self._pending, {}
        for future, _ in pending.values():
            if not future.done():
                future.set_exception(self._gone)
                future.exception()  # whoever waits sees it; nobody waiting is no bug

    def _dispatch(self, body: bytes | bytearray) -> None:
        self._silent_since = None
        self._dispatch_body(body)
        if self._pending:
            self._silent_since = time.monotonic()

    def _dispatch_body(self, body: bytes | bytearray) -> None:
        if self._resolved_at_once(body):
            return
        try:
            message = _envelope(body)
        except UNREADABLE:
            self._mishear(addressed(bytes(body)))
            return
        if message.method is not None:
            if message.id is not None:
                self._answer(message.id, message.method, message.params)
            else:
                self._pass_on(message.method, message.params)
        elif message.id is not None:
            self._resolve(message)

    def _pass_on(self, method: str, params: msgspec.Raw) -> None:
        # Whoever listens looks for members by name.
        named = memoryview(params)[:1].tobytes() == b"{"
        try:
            self._notified(method, params if named else _NOTHING)
        except UNREADABLE:
            self._misheard(method, bytes(params))

    def _mishear(self, message: messages.Envelope | None) -> None:
        """Tells whoever waits for what cannot be read. Where nobody knows who that is, somebody
        might wait for ever: the connection ends, and everybody is told.
        """
        if message is None:
            self._fail(ServerGone("it sent something that is not a message"))
        elif message.method is None:
            self._resolve(message)
        elif message.id is None:
            self._misheard(message.method, bytes(message.params))
        else:
            self._answer(message.id, message.method, message.params)

    def _resolved_at_once(self, body: bytes | bytearray) -> bool:
        """Whether it was an answer that holds nothing but its result.

        Then it is read once, into its type. Everything else, and whatever is wrong with this one,
        is read as an envelope first.
        """
        opening = _ANSWER.match(body) if body.endswith(b"}") else None
        if opening is None:
            return False
        number = int(opening[1])
        future, result = self._pending.get(number, (None, None))
        if future is None or future.done():
            return False
        try:
            found = _decoder(result).decode(memoryview(body)[opening.end() : -1])
        except UNREADABLE:
            return False
        del self._pending[number]
        future.set_result(found)
        return True

    def _resolve(self, message: messages.Envelope) -> None:
        waiting = self._pending.pop(message.id, None) if message.id is not None else None
        if waiting is None or waiting[0].done():
            return  # cancelled, or an answer to nothing
        future, result = waiting
        if message.error is not None:
            future.set_exception(ServerError(message.error.code, message.error.message))
            return
        try:
            future.set_result(_decoder(result).decode(message.result))
        except UNREADABLE:
            future.set_exception(Illegible())

    # What servers ask of a client

    def _answer(self, id: int | str, method: str, params: msgspec.Raw) -> None:
        reply: dict[str, object] = {"jsonrpc": "2.0", "id": id}
        handler = _HANDLERS.get(method)
        if handler is None:
            reply["error"] = {"code": _METHOD_NOT_FOUND, "message": "not supported"}
        else:
            try:
                reply["result"] = handler(self, msgspec.json.decode(params))
            except (*UNREADABLE, LookupError, TypeError, AttributeError):
                reply["error"] = {"code": -32602, "message": "unusable params"}
        self._send(reply)
        self._flush()

    def _configure(self, params: dict[str, Any]) -> list[Any]:
        return [self._configuration(item.get("section") or "") for item in params["items"]]

    def _register(self, params: dict[str, Any]) -> None:
        for registration in params["registrations"]:
            options = registration.get("registerOptions") or {}
            if not isinstance(options, dict):
                raise TypeError
            self.registrations[registration["id"]] = (registration["method"], options)

    def _unregister(self, params: dict[str, Any]) -> None:
        # The protocol itself misspells the member.
        for registration in params.get("unregisterations", ()):
            self.registrations.pop(registration["id"], None)

    def _ignore(self, params: object) -> None:
        return None

    def _refuse_edit(self, params: object) -> dict[str, Any]:
        return {"applied": False, "failureReason": "this client is read-only"}


_HANDLERS: dict[str, Callable[[Client, Any], Any]] = {
    "workspace/configuration": Client._configure,
    "client/registerCapability": Client._register,
    "client/unregisterCapability": Client._unregister,
    "window/workDoneProgress/create": Client._ignore,
    "window/showMessageRequest": Client._ignore,
    "workspace/diagnostic/refresh": Client._ignore,
    "workspace/semanticTokens/refresh": Client._ignore,
    "workspace/inlayHint/refresh": Client._ignore,
    "workspace/codeLens/refresh": Client._ignore,
    "workspace/foldingRange/refresh": Client._ignore,
    "workspace/applyEdit": Client._refuse_edit,
}
