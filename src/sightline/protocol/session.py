"""One client's conversation: handshake, the few methods, calls in flight, cancelling, progress.

A ``Session`` is fed messages and returns effects. It never waits, and it answers every request
exactly once: ``finish`` turns a call's outcome into the one terminal answer, or into nothing when
the client took the request back in a way that MCP says is not answered.

    session.receive(message) -> [Send(...)] | [Start(call)] | [Cancel(call)] | [Violation()] | []
    session.progress(call, ...) -> bytes | None
    session.finish(call, outcome) -> bytes | None
"""

from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from sightline.protocol import jsonrpc
from sightline.protocol.jsonrpc import (
    Error,
    Id,
    Message,
    Notification,
    Params,
    Request,
    id_key,
    is_id,
)
from sightline.protocol.revisions import Revision, negotiate
from sightline.protocol.surface import ClientOptions, Surface

__all__ = [
    "Call",
    "Cancel",
    "Effect",
    "Outcome",
    "Profile",
    "Send",
    "Session",
    "Start",
    "Violation",
]

#: The terminal answer of a call: an encoded ``result``, or an error object.
Outcome = msgspec.Raw | Error

_MAX_NAME_CHARS = 256


class Profile(NamedTuple):
    """How a transport differs."""

    revisions: tuple[Revision, ...]
    #: HTTP waits for ``notifications/initialized``; on stdio answering ``initialize`` is enough.
    needs_initialized: bool
    #: HTTP must answer the pending POST; on stdio ``notifications/cancelled`` gets no answer.
    answers_cancelled: bool
    #: Nobody is known again: every message is a conversation of its own, in which all may be said.
    alone: bool = False


class Phase(Enum):
    NEW = "new"
    ANSWERED = "answered"
    READY = "ready"


class Call(Struct, eq=False):
    """A ``tools/call`` in flight. ``options`` and ``revision`` are the session's, fixed."""

    id: Id
    tool: str
    arguments: dict[str, Any]
    options: ClientOptions
    revision: Revision
    progress_token: str | int | None
    silent: bool = False
    cancelled: bool = False
    finished: bool = False


class Send(NamedTuple):
    """An answer that is already known."""

    body: bytes


class Start(NamedTuple):
    call: Call


class Cancel(NamedTuple):
    call: Call


class Violation(NamedTuple):
    """A message that may not be sent now and gets no JSON-RPC answer. HTTP says 400."""


Effect = Send | Start | Cancel | Violation


class Session(Struct, eq=False):
    surface: Surface
    profile: Profile
    phase: Phase = Phase.NEW
    revision: Revision | None = None
    client: str = ""
    options: ClientOptions = ClientOptions()
    calls: dict[str, Call] = {}

    @classmethod
    def alone(cls, surface: Surface, profile: Profile) -> "Session":
        """A conversation of one message, from a client of which nothing is known."""
        profile = profile._replace(alone=True)
        revision, options = profile.revisions[-1], surface.options_for("")
        return cls(surface, profile, Phase.READY, revision, options=options)

    def receive(self, message: Message) -> list[Effect]:
        """What one message brings about."""
        match message:
            case Request():
                return self._request(message)
            case Notification():
                return self._notification(message)
            case _:
                return []

    def progress(self, call: Call, params: dict[str, Any]) -> bytes | None:
        """A progress notification, where the client asked for them and the call still runs."""
        if call.progress_token is None or call.finished or call.cancelled:
            return None
        token = {"progressToken": call.progress_token}
        return jsonrpc.notification_bytes("notifications/progress", token | params)

    def finish(self, call: Call, outcome: Outcome) -> bytes | None:
        """The call's one terminal answer, or nothing when none is due."""
        if call.finished:
            raise RuntimeError("a call was finished twice")
        call.finished = True
        key = id_key(call.id)
        if self.calls.get(key) is call:
            del self.calls[key]
        if call.silent:
            return None
        if isinstance(outcome, Error):
            return jsonrpc.error_bytes(call.id, outcome)
        return jsonrpc.result_bytes(call.id, outcome)

    # Requests

    def _request(self, request: Request) -> list[Effect]:
        if request.method == "initialize":
            return [Send(self._initialize(request))]
        refusal = self._gate(request)
        if refusal is not None:
            return [refusal]
        if id_key(request.id) in self.calls:
            return [_error(request, jsonrpc.INVALID_REQUEST, "Invalid Request: id is in flight")]
        handler = _METHODS.get(request.method)
        if handler is None:
            return [_error(request, jsonrpc.METHOD_NOT_FOUND, "Method not found")]
        return handler(self, request)

    def _gate(self, request: Request) -> Effect | None:
        """Why this request may not be made now."""
        if self.phase is Phase.NEW:
            if request.method == "server/discover":
                return _error(request, jsonrpc.METHOD_NOT_FOUND, "Method not found")
            if request.method == "notifications/initialized" and self.profile.needs_initialized:
                return Violation()
            return _error(request, jsonrpc.INVALID_REQUEST, "Not initialized")
        if request.method == "notifications/initialized":
            return _error(request, jsonrpc.INVALID_REQUEST, "Invalid Request")
        if self.phase is Phase.ANSWERED and request.method != "ping":
            detail = {"detail": "notifications/initialized not received"}
            return _error(request, jsonrpc.INVALID_REQUEST, "Not initialized", detail)
        return None

    def _initialize(self, request: Request) -> bytes:
        if self.phase is not Phase.NEW and not self.profile.alone:
            return _error(request, jsonrpc.INVALID_REQUEST, "Already initialized").body
        match request.params:
            case {"protocolVersion": str(offered)}:
                pass
            case _:
                return _invalid(request, "pass protocolVersion as a string").body
        client = _client_name(request.params)
        if client is None:
            return _invalid(request, "clientInfo must be an object with a name").body
        self.revision = negotiate(offered, self.profile.revisions)
        if not self.profile.alone:
            self.client = client
            self.options = self.surface.options_for(client)
            self.phase = Phase.ANSWERED if self.profile.needs_initialized else Phase.READY
        result = {
            "protocolVersion": self.revision.name,
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": {"name": self.surface.name, "version": self.surface.version},
            "instructions": self.surface.instructions,
            "_meta": {"tools": self.surface.tool_names(self.options.tool_names)},
        }
        return jsonrpc.result_bytes(request.id, result)

    def _ping(self, request: Request) -> list[Effect]:
        return [Send(jsonrpc.result_bytes(request.id, {}))]

    def _tools_list(self, request: Request) -> list[Effect]:
        if not isinstance(request.params, dict | None):
            return [_invalid(request, "params must be an object")]
        if (request.params or {}).get("cursor") is not None:
            code = "MCP_LSP_GATEWAY/CURSOR_INVALID"
            return [_invalid(request, "tools/list has one page; leave the cursor out", code)]
        assert self.revision is not None
        options = self.options
        tools = self.surface.tools(options.tool_names, options.content, self.revision)
        return [Send(jsonrpc.result_bytes(request.id, tools))]

    def _tools_call(self, request: Request) -> list[Effect]:
        params = request.params if isinstance(request.params, dict) else {}
        tool = params.get("name")
        if not isinstance(tool, str) or len(tool) > _MAX_NAME_CHARS:
            return [_invalid(request, "pass the tool's name as a string")]
        arguments = params.get("arguments", {})
        if not isinstance(arguments, dict):
            return [_invalid(request, "arguments must be an object")]
        assert self.revision is not None
        call = Call(
            id=request.id,
            tool=tool,
            arguments=arguments,
            options=self.options,
            revision=self.revision,
            progress_token=_progress_token(params),
        )
        self.calls[id_key(request.id)] = call
        return [Start(call)]

    # Notifications

    def _notification(self, notification: Notification) -> list[Effect]:
        if notification.method == "initialize" or self.phase is Phase.NEW:
            return [Violation()]
        match notification:
            case Notification("notifications/initialized", _):
                self.phase = Phase.READY
            case Notification("notifications/cancelled", {"requestId": id}) if is_id(id):
                return self._cancel(id, silent=not self.profile.answers_cancelled)
            case Notification("$/cancelRequest", {"id": id}) if is_id(id):
                return self._cancel(id, silent=False)
            case _:
                pass
        return []

    def _cancel(self, id: Id, *, silent: bool) -> list[Effect]:
        call = self.calls.get(id_key(id))
        if call is None or call.cancelled:
            return []
        call.cancelled = True
        call.silent = silent
        return [Cancel(call)]


_METHODS: dict[str, Callable[[Session, Request], list[Effect]]] = {
    "ping": Session._ping,
    "tools/list": Session._tools_list,
    "tools/call": Session._tools_call,
}


def _error(request: Request, code: int, message: str, data: dict[str, Any] | None = None) -> Send:
    return Send(jsonrpc.error_bytes(request.id, Error(code, message, data)))


def _invalid(request: Request, advice: str, code: str = "MCP_LSP_GATEWAY/INVALID_PARAMS") -> Send:
    message = f"Invalid params: {advice} [{code}]"
    return _error(request, jsonrpc.INVALID_PARAMS, message, {"code": code})


def _client_name(params: Params) -> str | None:
    match params:
        case {"clientInfo": {"name": str(name)}}:
            return name[:_MAX_NAME_CHARS]
        case {"clientInfo": _}:
            return None
        case _:
            return ""


def _progress_token(params: dict[str, Any]) -> str | int | None:
    meta = params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    return token if isinstance(token, str | int) and is_id(token) else None
