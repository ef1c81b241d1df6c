"""A running ``sightline stdio`` that tests talk to line by line."""

import contextlib
import json
import select
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.http import initialize, marked
from tests.support.leaks import ledger
from tests.support.lines import Lines
from tests.support.program import command, environment
from tests.support.watching import HANG_S

__all__ = ["StdioServer"]


@dataclass
class StdioServer:
    process: subprocess.Popen[bytes]
    _buffer: bytes = b""
    _ids: int = 0
    notifications: list[Any] = field(default_factory=list)
    log: Lines = field(default_factory=Lines)
    _reader: threading.Thread | None = None

    @classmethod
    def start(
        cls,
        arguments: list[str],
        home: Path,
        extra: Mapping[str, str] | None = None,
        *,
        program: tuple[str, ...] = (),
    ) -> "StdioServer":
        """``program`` runs in place of the installed ``sightline`` command."""
        process = subprocess.Popen(
            [*(program or command()), "stdio", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(home, extra),
            cwd=home,
        )
        server = cls(process)
        server._reader = threading.Thread(target=server._read_log, daemon=True)
        server._reader.start()
        return server

    def send(self, message: bytes | dict[str, Any]) -> None:
        self.write(marked(message) + b"\n")

    def write(self, data: bytes) -> None:
        """Bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def receive(self, seconds: float = HANG_S) -> Any:
        """The next message."""
        return json.loads(self.receive_line(seconds))

    def receive_line(self, seconds: float = HANG_S) -> bytes:
        assert self.process.stdout is not None
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], seconds)
            assert ready, "no answer in time"
            chunk = self.process.stdout.read1(65_536)  # type: ignore[attr-defined]
            assert chunk, "the server closed its output"
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        ledger.hear("answer", line)
        return line

    def close_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def rest(self) -> list[Any]:
        """Every message until the server closes its output, after its input was closed."""
        assert self.process.stdout is not None
        self._buffer += self.process.stdout.read()
        found, self._buffer = self._buffer, b""
        ledger.hear("answer", found)
        assert not found or found.endswith(b"\n")
        return [json.loads(line) for line in found.splitlines()]

    def answer_to(self, id: int | str, seconds: float = HANG_S) -> Any:
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
        answer = self.request("initialize", initialize(revision=revision)["params"])
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
            self.process.wait(HANG_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError("the server did not end at the end of its input") from None
        finally:
            assert self._reader is not None
            self._reader.join(HANG_S)
            self.process.stdout.close()
            self.process.stderr.close()

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        with contextlib.suppress(ValueError):
            for line in self.process.stderr:
                text = line.decode(errors="replace")
                ledger.hear("log", text)
                self.log.add(text)
        self.log.end()
