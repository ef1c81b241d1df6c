"""A protocol session without a transport: messages in, effects out, as parsed JSON."""

import json
from dataclasses import dataclass, field
from typing import Any

import msgspec

from sightline.protocol import jsonrpc
from sightline.protocol.revisions import HTTP_REVISIONS, STDIO_REVISIONS, Revision
from sightline.protocol.session import Call, Cancel, Profile, Send, Session, Start, Violation
from sightline.protocol.surface import ClientOptions, Surface

__all__ = ["HTTP", "STDIO", "Peer", "surface"]

HTTP = Profile(HTTP_REVISIONS, needs_initialized=True, answers_cancelled=True)
STDIO = Profile(STDIO_REVISIONS, needs_initialized=False, answers_cancelled=False)


def surface() -> Surface:
    """A server with two tools that exist in name only."""

    def tools(style: str, content: str, revision: Revision) -> msgspec.Raw:
        return msgspec.Raw(msgspec.json.encode({"tools": [style, revision.name]}))

    def options(client: str) -> ClientOptions:
        return ClientOptions(content="mirror") if client == "mirror" else ClientOptions()

    names = {"dotted": ("a.b", "c"), "underscore": ("a_b", "c")}
    return Surface("sightline", "1.2.3", "Ask.", tools, names.__getitem__, options)


@dataclass
class Peer:
    """A client of one session."""

    profile: Profile
    session: Session = field(init=False)
    #: Calls that were started and have not been finished, in order.
    running: list[Call] = field(default_factory=list)
    cancelled: list[Call] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.session = Session(surface(), self.profile)

    def say(self, message: dict[str, Any] | bytes) -> Any:
        """The immediate answer, ``"violation"``, or ``None``."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        effects = self.session.receive(jsonrpc.read(body))
        assert len(effects) <= 1
        for effect in effects:
            match effect:
                case Send(answer):
                    return json.loads(answer)
                case Start(call):
                    self.running.append(call)
                case Cancel(call):
                    self.cancelled.append(call)
                case Violation():
                    return "violation"
        return None

    def request(self, method: str, params: Any = None, *, id: Any = 1) -> Any:
        message = {"jsonrpc": "2.0", "id": id, "method": method}
        return self.say(message if params is None else message | {"params": params})

    def notify(self, method: str, params: Any = None) -> Any:
        message = {"jsonrpc": "2.0", "method": method}
        return self.say(message if params is None else message | {"params": params})

    def initialize(self, revision: str = "2025-11-25", client: str = "tests") -> Any:
        params = {"protocolVersion": revision, "clientInfo": {"name": client}}
        return self.request("initialize", params, id="init")

    def ready(self) -> "Peer":
        self.initialize()
        self.notify("notifications/initialized")
        return self

    def call(self, id: Any = 1, **params: Any) -> Call:
        answer = self.request("tools/call", {"name": "c", **params}, id=id)
        assert answer is None, answer
        return self.running[-1]

    def finish(self, call: Call, result: Any = None) -> Any:
        """Ends a call; the terminal answer, or ``None``."""
        self.running.remove(call)
        body = self.session.finish(call, msgspec.Raw(json.dumps(result or {}).encode()))
        return None if body is None else json.loads(body)
