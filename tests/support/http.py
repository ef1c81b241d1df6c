"""A running ``sightline serve`` and a raw HTTP client that can also misbehave."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from tests.support.leaks import BODY, ledger
from tests.support.lines import Lines
from tests.support.program import command, environment
from tests.support.watching import HANG_S
from tests.support.wire import Answer, Wire

__all__ = ["ACCEPT", "REVISION", "Answer", "HttpServer", "free_port"]

ACCEPT = "application/json, text/event-stream"
REVISION = "2025-11-25"
#: The ports that were given last. A test that is over needs none.
_held: deque[socket.socket] = deque()
_MAX_HELD = 64


def free_port() -> int:
    """A port that nobody else is given meanwhile, and that a server may still listen at.

    A socket stays bound to it without listening, so that the kernel gives it to no other test that
    asks for any port; a server may bind it too, since both say that addresses may be used again.
    """
    probe = socket.socket()
    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    probe.bind(("127.0.0.1", 0))
    _held.append(probe)
    if len(_held) > _MAX_HELD:
        _held.popleft().close()
    port: int = probe.getsockname()[1]
    return port


def marked(message: bytes | dict[str, Any]) -> bytes:
    """A message as bytes, with the planted mark in the ``_meta`` of its params."""
    if isinstance(message, bytes):
        return message
    params = message.get("params")
    if isinstance(params, dict) and "_meta" not in params:
        message = message | {"params": params | {"_meta": {"note": BODY}}}
    return json.dumps(message).encode()


@dataclass
class HttpServer:
    process: subprocess.Popen[bytes]
    port: int
    home: Path
    log: Lines = field(default_factory=Lines)
    session: str | None = None
    _reader: threading.Thread | None = None

    @classmethod
    def start(
        cls,
        arguments: list[str],
        home: Path,
        extra: Mapping[str, str] | None = None,
        *,
        program: tuple[str, ...] = (),
    ) -> "HttpServer":
        """``program`` runs in place of the installed ``sightline`` command."""
        port = free_port()
        process = subprocess.Popen(
            [*(program or command()), "serve", "--port", str(port), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment(home, extra),
            cwd=home,
        )
        server = cls(process, port, home)
        ready = threading.Event()
        server._reader = threading.Thread(target=server._read_log, args=(ready,), daemon=True)
        server._reader.start()
        if not ready.wait(HANG_S) or process.poll() is not None:
            process.kill()
            raise AssertionError("the server did not start:\n" + server.log.so_far())
        ledger.secret(server.token)
        return server

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    @property
    def token_file(self) -> Path:
        return self.home / ".local/share/sightline/tokens.json"

    @property
    def token(self) -> str:
        token: str = json.loads(self.token_file.read_text(encoding="utf-8"))[0]
        return token

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Asks the server to stop and returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(HANG_S)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)
            raise AssertionError("the server did not stop by itself")
        assert self.process.stderr is not None and self._reader is not None
        self._reader.join(HANG_S)
        self.process.stderr.close()
        return self.process.returncode

    # Requests

    def connect(self, *, seconds: float = HANG_S) -> Wire:
        """A raw connection."""
        return Wire(self.port, seconds=seconds)

    def raw(self, data: bytes) -> bytes:
        """Sends bytes and returns everything that comes back until the server closes."""
        with self.connect() as wire:
            wire.send(data)
            wire.half_close()
            return wire.rest()

    def encode(
        self,
        body: bytes | dict[str, Any],
        *,
        method: str = "POST",
        path: str = "/mcp",
        version: str = "1.1",
        drop: tuple[str, ...] = (),
        headers: dict[str, str] | None = None,
        close: bool = True,
    ) -> bytes:
        """A request with good headers, except those replaced or dropped."""
        content = marked(body)
        sent = {
            "host": f"127.0.0.1:{self.port}",
            "authorization": f"Bearer {self.token}",
            "content-type": "application/json",
            "accept": ACCEPT,
            "content-length": str(len(content)),
        }
        sent |= ({"connection": "close"} if close else {}) | (headers or {})
        lines = [f"{method} {path} HTTP/{version}"]
        lines += [f"{name}: {value}" for name, value in sent.items() if name not in drop]
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + content

    def request(self, body: bytes | dict[str, Any], **options: Any) -> Answer:
        """One request on a connection of its own; ``options`` are those of ``encode``."""
        with self.connect() as wire:
            wire.send(self.encode(body, **options))
            answer = wire.answer()
            assert wire.closed()
            return answer

    def initialize(self, client: str = "tests") -> str:
        """Opens a session, ready for calls, and returns its id."""
        answer = self.request(initialize(client))
        assert answer.status == 200, answer
        session = ledger.secret(answer.headers["mcp-session-id"])
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
                text = line.decode(errors="replace")
                ledger.hear("log", text)
                self.log.add(text)
                if b"/mcp" in line:
                    ready.set()
        self.log.end()
        ready.set()


def initialize(client: str = "tests", revision: str = REVISION) -> dict[str, Any]:
    """The first message of a conversation."""
    params = {
        "protocolVersion": revision,
        "capabilities": {},
        "clientInfo": {"name": client, "version": "1"},
    }
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


def in_session(session: str) -> dict[str, str]:
    """The headers of a message inside a session."""
    return {"mcp-session-id": session, "mcp-protocol-version": REVISION}


def alive(pid: int) -> bool:
    """Whether a process exists and is not a zombie."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    os.kill(pid, number)
