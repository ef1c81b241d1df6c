"""A running ``sightline stdio`` that tests talk to line by line."""

import contextlib
import json
import select
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.program import command, environment

__all__ = ["StdioServer"]

_ANSWER_S = 20


@dataclass
class StdioServer:
    process: subprocess.Popen[bytes]
    _buffer: bytes = b""
    _ids: int = 0
    notifications: list[Any] = field(default_factory=list)

    @classmethod
    def start(
        cls, arguments: list[str], home: Path, *, program: tuple[str, ...] = ()
    ) -> "StdioServer":
        """``program`` runs in place of the installed ``sightline`` command."""
        process = subprocess.Popen(
            [*(program or command()), "stdio", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(home),
            cwd=home,
        )
        return cls(process)

    def send(self, message: bytes | dict[str, Any]) -> None:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(body + b"\n")
        self.process.stdin.flush()

    def receive(self, seconds: float = _ANSWER_S) -> Any:
        """The next message."""
        return json.loads(self.receive_line(seconds))

    def receive_line(self, seconds: float = _ANSWER_S) -> bytes:
        assert self.process.stdout is not None
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], seconds)
            assert ready, "no answer in time"
            chunk = self.process.stdout.read1(65_536)  # type: ignore[attr-defined]
            assert chunk, "the server closed its output"
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def answer_to(self, id: int | str, seconds: float = _ANSWER_S) -> Any:
        """The answer with this id; notifications on the way are kept."""
        while True:
            message = self.receive(seconds)
            if "id" in message and message["id"] == id:
                return message
            self.notifications.append(message)

    def request(self, method: str, params: dict[str, Any] | None = None) -> Any:
        self._ids += 1
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": self._ids, "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)
        return self.answer_to(self._ids)

    def initialize(self, revision: str = "2025-11-25") -> Any:
        answer = self.request(
            "initialize",
            {
                "protocolVersion": revision,
                "capabilities": {},
                "clientInfo": {"name": "tests", "version": "1"},
            },
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """A tool call; the JSON-RPC answer. Waits while retryable."""
        for _ in range(60):
            answer = self.request("tools/call", {"name": tool, "arguments": arguments})
            error = answer.get("error", {})
            if not error.get("data", {}).get("details", {}).get("retryable"):
                break
        return answer

    def stop(self) -> None:
        """Closes the input; the server must end by itself."""
        assert self.process.stdin and self.process.stdout and self.process.stderr
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError("the server did not end at the end of its input") from None
        finally:
            self.process.stdout.close()
            self.process.stderr.close()
