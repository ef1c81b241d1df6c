"""A running ``sightline serve`` and a raw HTTP client that can also misbehave."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from tests.support.program import command, environment

__all__ = ["ACCEPT", "Answer", "HttpServer", "free_port"]

ACCEPT = "application/json, text/event-stream"
REVISION = "2025-11-25"
_START_S = 20
_ANSWER_S = 20


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class HttpServer:
    process: subprocess.Popen[bytes]
    port: int
    home: Path
    log: list[str] = field(default_factory=list)
    session: str | None = None

    @classmethod
    def start(
        cls, arguments: list[str], home: Path, *, program: tuple[str, ...] = ()
    ) -> "HttpServer":
        """``program`` runs in place of the installed ``sightline`` command."""
        port = free_port()
        process = subprocess.Popen(
            [*(program or command()), "serve", "--port", str(port), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment(home),
            cwd=home,
        )
        server = cls(process, port, home)
        ready = threading.Event()
        threading.Thread(target=server._read_log, args=(ready,), daemon=True).start()
        if not ready.wait(_START_S):
            process.kill()
            raise AssertionError("the server did not start:\n" + "".join(server.log))
        return server

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    @property
    def token(self) -> str:
        file = self.home / ".local/share/sightline/tokens.json"
        token: str = json.loads(file.read_text(encoding="utf-8"))[0]
        return token

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)
            raise AssertionError("the server did not stop by itself")
        assert self.process.stderr is not None
        self.process.stderr.close()

    # Requests

    def raw(self, data: bytes, *, keep: bool = False) -> bytes:
        """Sends bytes and returns everything that comes back until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=_ANSWER_S) as connection:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.sendall(data)
                if not keep:
                    connection.shutdown(socket.SHUT_WR)
            received = b""
            with contextlib.suppress(ConnectionResetError):
                while chunk := connection.recv(65_536):
                    received += chunk
            return received

    def request(
        self,
        body: bytes | dict[str, Any],
        *,
        method: str = "POST",
        path: str = "/mcp",
        drop: tuple[str, ...] = (),
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """One request with good headers, except those replaced or dropped."""
        data = self.encode(body, method=method, path=path, drop=drop, headers=headers)
        return parse(self.raw(data, keep=True))

    def encode(
        self,
        body: bytes | dict[str, Any],
        *,
        method: str = "POST",
        path: str = "/mcp",
        drop: tuple[str, ...] = (),
        headers: dict[str, str] | None = None,
    ) -> bytes:
        """The bytes of one request."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {
            "host": f"127.0.0.1:{self.port}",
            "authorization": f"Bearer {self.token}",
            "content-type": "application/json",
            "accept": ACCEPT,
            "content-length": str(len(content)),
            "connection": "close",
        }
        sent |= headers or {}
        lines = [f"{method} {path} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in sent.items() if name not in drop]
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + content

    def initialize(self) -> str:
        """Opens a session, ready for calls, and returns its id."""
        answer = self.request(
            {
                "jsonrpc": "2.0",
                "id": 0,
                "method": "initialize",
                "params": {
                    "protocolVersion": REVISION,
                    "capabilities": {},
                    "clientInfo": {"name": "tests", "version": "1"},
                },
            }
        )
        assert answer.status == 200, answer
        session = answer.headers["mcp-session-id"]
        done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert self.say(done, session).status == 202
        return session

    def say(self, message: bytes | dict[str, Any], session: str) -> Answer:
        """One message inside a session."""
        return self.request(message, headers=in_session(session))

    def call(self, tool: str, arguments: dict[str, Any], *, id: int | str = 1) -> Any:
        """A tool call in a session of its own; the JSON-RPC answer. Waits while retryable."""
        self.session = self.session or self.initialize()
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
        for _ in range(60):
            answer = self.say(message, self.session).json
            error = answer.get("error", {})
            if not error.get("data", {}).get("details", {}).get("retryable"):
                break
        return answer

    def _read_log(self, ready: threading.Event) -> None:
        assert self.process.stderr is not None
        with contextlib.suppress(ValueError):
            for line in self.process.stderr:
                self.log.append(line.decode(errors="replace"))
                if b"/mcp" in line:
                    ready.set()


def in_session(session: str) -> dict[str, str]:
    """The headers of a message inside a session."""
    return {"mcp-session-id": session, "mcp-protocol-version": REVISION}


def parse(data: bytes) -> Answer:
    """An HTTP response, taken apart by hand so that nothing is repaired."""
    head, _, body = data.partition(b"\r\n\r\n")
    status_line, *lines = head.decode("latin-1").split("\r\n")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    if headers.get("transfer-encoding") == "chunked":
        body = dechunk(body)
    return Answer(int(status_line.split(" ")[1]), headers, body)


def dechunk(body: bytes) -> bytes:
    whole = b""
    while body:
        size, _, rest = body.partition(b"\r\n")
        length = int(size, 16)
        whole += rest[:length]
        body = rest[length + 2 :] if length else b""
    return whole


def alive(pid: int) -> bool:
    """Whether a process exists and is not a zombie."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    os.kill(pid, number)
