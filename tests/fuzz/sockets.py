"""Messages and broken HTTP over real connections to a live server.

Connections are kept while the server keeps them. A server that answers outside the grammar, stays
silent, dies or logs a bug fails the run.
"""

import json
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from tests.fuzz.generate import MARK, Generator
from tests.fuzz.grammar import OutOfContract, check_answer, check_refusal
from tests.support.http import ACCEPT, REVISION, HttpServer
from tests.support.wire import Answer, Wire

__all__ = ["Sockets"]

_ODD: dict[str, list[str]] = {
    "host": ["example.com", "", "localhost:x", MARK, "127.0.0.1"],
    "origin": ["null", "http://localhost", MARK, ""],
    "authorization": ["", "Bearer", f"Bearer {MARK}", "Basic x"],
    "content-type": ["text/plain", "application/json; charset=utf-16", "", MARK],
    "accept": ["*/*", "", MARK, "application/json"],
    "mcp-session-id": ["", "x", MARK, "é"],
    "mcp-protocol-version": ["", "2025-06-18", MARK, REVISION],
    "content-length": ["0", "5", "-1", "x", "99999999", "1000"],
    "transfer-encoding": ["chunked", "gzip", "x"],
    "expect": ["100-continue", "x"],
    "connection": ["close", "keep-alive", "upgrade", MARK],
    "upgrade": ["websocket", "h2c"],
    "x-any": ["a" * 100, "a" * 20_000, "é", "\x00"],
}
_TARGETS = ["/mcp", "/mcp?x", "/", "/mcp/", f"/{MARK}", "*", "http://localhost/mcp", "x", "/%zz"]
_METHODS = ["POST", "GET", "DELETE", "OPTIONS", "HEAD", "PUT", "FOO", "CONNECT", ""]
_SECONDS = 30.0
#: Connections on which the server may rightly wait for more are looked at again much later.
_PENDING = 64
#: Headers after which a client and a server may disagree about where a request ends.
_FRAMING = {"content-length", "transfer-encoding", "expect", "connection", "upgrade"}


@dataclass
class Sockets:
    server: HttpServer
    seed: int
    counts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.generator = Generator(self.seed + 1)
        self._token = self.server.token
        self._session = self.server.initialize()
        self._wire: Wire | None = None
        self._pending: deque[tuple[Wire, bytes]] = deque()

    def run(self, messages: int) -> None:
        for number in range(messages):
            data, certain = self._request()
            try:
                if certain:
                    self._ask(data)
                else:
                    self._try(data)
            except (AssertionError, OSError, ValueError, KeyError) as error:
                raise OutOfContract(
                    f"seed {self.seed}, request {number}: {error!r}: {data[:2_000]!r}"
                ) from error
        while self._pending:
            self._settle(*self._pending.popleft())
        self._drop()
        assert self.server.process.poll() is None, "the server died"
        self.server.stop()
        assert '"event":"bug"' not in (log := self.server.log.whole()), log[-3_000:]

    def _request(self) -> tuple[bytes, bool]:
        """The next request, and whether it is certain where it ends."""
        random = self.generator.random
        body = self.generator.message()
        headers = {
            "host": "localhost",
            "authorization": f"Bearer {self._token}",
            "content-type": "application/json",
            "accept": ACCEPT,
            "content-length": str(len(body)),
            "mcp-session-id": self._session,
            "mcp-protocol-version": REVISION,
        }
        method, target, certain = "POST", "/mcp", True
        if random.random() < 0.1:
            del headers["mcp-session-id"]
        if random.random() < 0.25:
            name = random.choice(list(_ODD))
            headers[name] = random.choice(_ODD[name])
            certain = name not in _FRAMING
        if random.random() < 0.05:
            name = random.choice(list(headers))
            del headers[name]
            certain = certain and name not in _FRAMING
        if random.random() < 0.05:
            target = random.choice(_TARGETS)
        if random.random() < 0.05:
            method = random.choice(_METHODS)
        if headers.get("transfer-encoding") == "chunked":
            headers.pop("content-length", None)
            body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n"
        lines = [f"{method} {target} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        data = "\r\n".join([*lines, "", ""]).encode("latin-1") + body
        if random.random() < 0.05:
            return self.generator.broken(data), False
        return data, certain

    def _ask(self, data: bytes) -> None:
        """A request that must be answered. The connection is kept as long as the server does."""
        wire = self._wire or self.server.connect(seconds=_SECONDS)
        self._wire = wire
        wire.send(data)
        answer = wire.answer()
        self._judge(answer)
        if answer.headers.get("connection") == "close":
            assert wire.closed(), "more than one answer"
            self._drop()

    def _try(self, data: bytes) -> None:
        """A request that the server may have to wait for. Whatever it says must be right."""
        wire = self.server.connect(seconds=_SECONDS)
        wire.send(data)
        self._pending.append((wire, data))
        if len(self._pending) > _PENDING:
            self._settle(*self._pending.popleft())

    def _settle(self, wire: Wire, data: bytes) -> None:
        for answer in answers(wire.so_far()):
            self._judge(answer)
        wire.__exit__(None, None, None)

    def _judge(self, answer: Answer) -> None:
        self.counts[str(answer.status)] = self.counts.get(str(answer.status), 0) + 1
        if answer.status != 200:
            check_refusal(answer.status, answer.headers, answer.body)
        elif answer.headers["content-type"] == "application/json":
            check_answer(answer.body)
        else:
            for event in answer.events:
                check_answer(json.dumps(event).encode())

    def _drop(self) -> None:
        if self._wire is not None:
            self._wire.__exit__(None, None, None)
            self._wire = None


def answers(data: bytes) -> list[Any]:
    """Every response in a stream, which must consist of nothing else."""
    found: list[Answer] = []
    while data:
        head, blank, rest = data.partition(b"\r\n\r\n")
        if not blank:
            raise OutOfContract(f"half a response: {data[:200]!r}")  # responses are small
        status, *lines = head.decode("latin-1").split("\r\n")
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        number = int(status.split(" ")[1])
        size = 0 if number == 100 else int(headers["content-length"])
        if len(rest) < size:
            raise OutOfContract(f"half a body: {data[:200]!r}")
        if number != 100:
            found.append(Answer(number, headers, rest[:size]))
        data = rest[size:]
    return found
