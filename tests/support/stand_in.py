"""The whole application without sockets or language servers: one tool that tests control.

The stand-in takes the place of ``vscode.lsp.hover`` (or of an index tool, for progress), runs
through the real calls, runner, session and HTTP application, and waits where a test wants it to.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from sightline.calls.calls import Calls, Engines
from sightline.contract.settings import Settings
from sightline.protocol.surface import ClientOptions, Surface
from sightline.server.http import HttpApp
from sightline.server.http_exchange import Head, Piece, Reply
from sightline.server.http_rules import Header
from sightline.server.logs import Log
from sightline.server.running import Runner
from sightline.server.tokens import TokenFile
from sightline.tools.hover import INFO
from sightline.tools.tool import Desk, Progress, Question, Whole
from sightline.workspace.gate import Gate
from sightline.workspace.roots import Root, RootSet
from sightline.workspace.view import Epochs, View
from tests.support.http import ACCEPT, Answer, in_session, initialize
from tests.support.leaks import ledger
from tests.support.sessions import surface

__all__ = ["Application", "Payload", "StandIn", "of_family"]

#: Distinct arguments, so that calls do not join each other's computation.
Place = dict[str, Any]


class Payload(Struct):
    text: str
    summary: str = ""


class HoverArguments(Struct):
    uri: str
    position: dict[str, int]


@dataclass
class StandIn:
    """A tool that runs ``work`` and returns its text."""

    work: Callable[[Progress, int], Any]
    info: Any = INFO
    arguments: type[HoverArguments] = HoverArguments
    started: int = 0
    stopped: int = 0

    def ask(self, view: View, arguments: HoverArguments) -> Question[HoverArguments]:
        return Question(arguments, (arguments.uri, arguments.position["line"]))

    async def answer(self, desk: Desk, question: Question[HoverArguments]) -> Whole:
        self.started += 1
        try:
            text = await self.work(desk.progress, question.arguments.position["line"])
        except asyncio.CancelledError:
            self.stopped += 1
            raise
        return Whole(Payload(text))


@dataclass
class Application:
    """``HttpApp`` and a client of it, without a connection."""

    tool: StandIn
    folder: Path
    settings: Settings = field(default_factory=Settings)
    clock: Callable[[], float] = time.monotonic
    bugs: list[BaseException] = field(default_factory=list)
    #: When each part of a body was handed over, by the event loop's clock.
    deliveries: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        tokens = TokenFile(self.folder / "tokens.json")
        self.token = ledger.secret(tokens.provision()[0])
        view = View(Gate(RootSet.of([Root("/ws", "/ws")])), Epochs(1, 1, 1, 1), "roots")

        async def begin() -> View:
            return view

        def desk(view: View, progress: Progress) -> Desk:
            return Desk(view, None, progress)  # type: ignore[arg-type]

        def surprised(path: str) -> None:
            raise AssertionError(path)

        engines = Engines(begin, desk, lambda uri: "same", surprised, lambda uri: "the stand-in")
        self.calls = Calls([self.tool], engines, self.settings, self.clock, self.bugs.append)
        self.runner = Runner(self.calls)
        self.app = HttpApp(self.surface(), self.runner, tokens, self.settings, Log(), self.clock)

    def surface(self) -> Surface:
        return surface()._replace(options_for=lambda client: ClientOptions())

    async def post(
        self,
        message: dict[str, Any] | bytes,
        *,
        headers: Mapping[str, str] | None = None,
        version: str = "1.1",
        pieces: Callable[[], Awaitable[Piece | None]] | None = None,
    ) -> Answer:
        """One request; what was sent back, with the size of each part."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        sent = {
            "host": "localhost",
            "authorization": f"Bearer {self.token}",
            "content-type": "application/json",
            "accept": ACCEPT,
        } | dict(headers or {})
        named = {name.encode(): value.encode() for name, value in sent.items()}
        head = Head(b"POST", b"/mcp", version, named)
        line = FakeLine(body, self.deliveries, pieces)
        if pieces is None:
            outcome = self.app.take(head, body)
            await (line.reply(outcome) if isinstance(outcome, Reply) else outcome(line))
        else:
            await self.app.read_and_take(head, line)
        answer = line.answer()
        ledger.hear("http application", answer.body)
        return answer

    async def open(self) -> str:
        """A session that is ready."""
        answer = await self.post(initialize())
        session = ledger.secret(answer.headers["mcp-session-id"])
        done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert (await self.post(done, headers=in_session(session))).status == 202
        return session

    async def call(
        self, session: str, id: int | str, *, token: str | None = None, version: str = "1.1"
    ) -> Answer:
        """Calls the stand-in; the line of the position tells calls apart."""
        line = id if isinstance(id, int) else 0
        arguments = {"uri": "file:///ws/a", "position": {"line": line, "character": 0}}
        params: dict[str, Any] = {"name": self.tool.info.name, "arguments": arguments}
        if token is not None:
            params["_meta"] = {"progressToken": token}
        message = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
        return await self.post(message, headers=in_session(session), version=version)

    async def notify(self, session: str, method: str, params: dict[str, Any]) -> int:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        return (await self.post(message, headers=in_session(session))).status


class FakeLine:
    """Takes what is sent, and gives a body in pieces where a test wants that."""

    def __init__(
        self,
        body: bytes,
        deliveries: list[float],
        pieces: Callable[[], Awaitable[Piece | None]] | None = None,
    ) -> None:
        self._body = body
        self._pieces = pieces
        self._status = 0
        self._headers: tuple[Header, ...] = ()
        self._parts: list[bytes] = []
        self._ended = False
        self._deliveries = deliveries

    async def receive(self) -> Piece | None:
        return Piece(self._body, ended=True) if self._pieces is None else await self._pieces()

    async def reply(self, reply: Reply) -> None:
        assert not self._status
        self._status, self._headers = reply.status, reply.headers
        self._deliver(reply.body, ends=True)

    async def begin_stream(self, headers: tuple[Header, ...]) -> None:
        assert not self._status
        self._status, self._headers = 200, headers

    async def stream(self, data: bytes, *, ends: bool) -> None:
        assert self._status and not self._ended
        self._deliver(data, ends=ends)

    def answer(self) -> Answer:
        assert self._ended
        named = {name.decode(): value.decode() for name, value in self._headers}
        return Answer(self._status, named, b"".join(self._parts))

    def _deliver(self, data: bytes, *, ends: bool) -> None:
        self._parts.append(data)
        self._ended = ends
        self._deliveries.append(asyncio.get_running_loop().time())


def of_family(tool: StandIn, family: str) -> StandIn:
    """The stand-in as a tool of another family, with that family's limits and words."""
    tool.info = msgspec.structs.replace(tool.info, family=family)
    return tool
