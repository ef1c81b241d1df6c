"""The two servers that are compared, started with the same payload and asked the same way."""

import contextlib
import http.client
import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.load import Load, Outcome
from tests.support.http import ACCEPT, HttpServer, free_port, in_session
from tests.support.program import command, environment

__all__ = ["BRANCHES", "Pair", "Side", "ask", "pair", "place"]

#: Definitions of one name, and uses of it on a page: both make an answer of about 5 KB.
BRANCHES = 38
_USES = 1_000
_START_S = 30
_REPOSITORY = Path(__file__).parent.parent


@dataclass(frozen=True)
class Side:
    """One running server."""

    name: str
    pid: int
    port: int
    headers: dict[str, str]

    def load(
        self, message: str, *, connections: int, requests: int, first_line: int = 100
    ) -> Outcome:
        """Puts a load on the server from another process."""
        load = Load(self.port, self.headers, message, connections, requests, first_line)
        done = subprocess.run(
            [sys.executable, "-m", "bench.load"],
            input=json.dumps(asdict(load)),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            cwd=_REPOSITORY,
        )
        return Outcome(**json.loads(done.stdout))


@dataclass(frozen=True)
class Pair:
    ours: Side
    theirs: Side
    #: The language server behind ours.
    language_server: int
    root: Path
    home: Path
    #: What the SDK's server is given: our tools and our payload.
    content: Path
    payload_bytes: int


@contextlib.contextmanager
def pair() -> Iterator[Pair]:
    """Both servers on one workspace, with an answer of ours as the payload of theirs."""
    with (
        tempfile.TemporaryDirectory(prefix="sightline-bench-") as folder,
        contextlib.ExitStack() as stack,
    ):
        home = Path(folder) / "home"
        home.mkdir()
        root = Path(folder) / "ws"
        root.mkdir()
        _write(root)
        server = stack.enter_context(HttpServer.start([str(root)], home))
        definition = server.call("vscode.lsp.definition", place(root))["result"]
        assert len(definition["structuredContent"]["locations"]) == BRANCHES + 1
        assert server.session is not None
        listed = server.say(
            {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, server.session
        ).json["result"]
        payload = definition["structuredContent"]
        content = Path(folder) / "content.json"
        content.write_text(json.dumps({"tools": listed["tools"], "payload": payload}))
        ours = Side(
            "Sightline",
            server.process.pid,
            server.port,
            _headers(server.session) | {"authorization": f"Bearer {server.token}"},
        )
        theirs = stack.enter_context(_sdk(content))
        size = len(json.dumps(payload, separators=(",", ":")))
        yield Pair(ours, theirs, _language_server(server.process.pid), root, home, content, size)


def place(root: Path, line: int | str = 5) -> dict[str, Any]:
    return {
        "uri": (root / "uses.py").as_uri(),
        "position": {"line": line, "character": 10},
    }


def ask(method: str, params: dict[str, Any] | None = None) -> str:
    """A message for a load, with ``@ID`` in place of its id."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": "@ID", "method": method}
    if params is not None:
        message["params"] = params
    text = json.dumps(message, separators=(",", ":"))
    return text.replace('"@ID"', "@ID").replace('"@LINE"', "@LINE")


def stdio_commands(pair: Pair) -> dict[str, list[str]]:
    """How each side is started over standard input and output."""
    sdk = [sys.executable, "-m", "bench.sdk_server", str(pair.content), "stdio"]
    return {"Sightline": command("stdio", pair.root), "SDK": sdk}


def stdio_process(argv: list[str], home: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(home),
        cwd=_REPOSITORY,
    )


def _write(root: Path) -> None:
    lines = ["import sys", "", "name = sys.argv[0]"]
    for number in range(BRANCHES):
        word = "if" if number == 0 else "elif"
        lines += [
            f'{word} name == "{number}":',
            "    def chosen() -> int:",
            f"        return {number}",
        ]
    lines += ["else:", "    def chosen() -> int:", "        return -1"]
    (root / "choices.py").write_text("\n".join(lines) + "\n")
    uses = ["from choices import chosen", "", *["print(1, chosen())" for _ in range(_USES)]]
    (root / "uses.py").write_text("\n".join(uses) + "\n")


def _headers(session: str) -> dict[str, str]:
    return {"content-type": "application/json", "accept": ACCEPT} | in_session(session)


@contextlib.contextmanager
def _sdk(content: Path) -> Iterator[Side]:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.sdk_server", str(content), "http", str(port)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=_REPOSITORY,
    )
    try:
        _wait_for(port)
        yield Side("SDK", process.pid, port, _headers(_initialize(port)))
    finally:
        process.terminate()
        process.wait(10)


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + _START_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _initialize(port: int) -> str:
    """Opens a session with the SDK's server and returns its id."""
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    }
    opening = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    headers = {"content-type": "application/json", "accept": ACCEPT}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_START_S)
    with contextlib.closing(connection):
        connection.request("POST", "/mcp", json.dumps(opening), headers)
        answer = connection.getresponse()
        answer.read()
        session = answer.headers["mcp-session-id"]
        ready = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})
        connection.request("POST", "/mcp", ready, headers | in_session(session))
        done = connection.getresponse()
        done.read()
        assert (answer.status, done.status) == (200, 202)
        return session


def _language_server(parent: int) -> int:
    """The process id of the one language server below Sightline."""
    below = _children(parent)
    while len(below) == 1 and (next_below := _children(below[0])):
        below = next_below
    assert len(below) == 1
    return below[0]


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += map(int, (task / "children").read_text().split())
    return found
