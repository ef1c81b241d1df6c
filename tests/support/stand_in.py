"""The whole application without sockets or language servers: one tool that tests control.

The stand-in takes the place of ``vscode.lsp.hover`` (or of an index tool, for progress), runs
through the real calls, runner, session and HTTP application, and waits where a test wants it to.
"""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from msgspec import Struct

from sightline.calls.calls import Calls, Engines
from sightline.contract.settings import Settings
from sightline.protocol.surface import ClientOptions, Surface
from sightline.server.http import HttpApp
from sightline.server.http_exchange import Receive, Sender
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
    """``HttpApp`` and a client of it that speaks ASGI."""

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
        receive: Receive | None = None,
    ) -> Answer:
        """One request; what was sent back, with the size of each part."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        sent = {
            "host": "localhost",
            "authorization": f"Bearer {self.token}",
            "content-type": "application/json",
            "accept": ACCEPT,
        } | dict(headers or {})
        scope = {
            "type": "http",
            "http_version": version,
            "method": "POST",
            "raw_path": b"/mcp",
            "headers": [(k.encode(), v.encode()) for k, v in sent.items()],
        }
        parts: list[Any] = []

        async def whole() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(event: Any) -> None:
            parts.append(event)
            if event["type"] == "http.response.body":
                self.deliveries.append(asyncio.get_running_loop().time())

        deliver: Sender = send
        await self.app(scope, receive or whole, deliver)
        head, *rest = parts
        assert [part["more_body"] for part in rest] == [True] * (len(rest) - 1) + [False]
        named = {name.decode(): value.decode() for name, value in head["headers"]}
        content = b"".join(part["body"] for part in rest)
        ledger.hear("asgi", content)
        return Answer(head["status"], named, content)

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


def of_family(tool: StandIn, family: str) -> StandIn:
    """The stand-in as a tool of another family, with that family's limits and words."""
    tool.info = replace(tool.info, family=family)
    return tool
