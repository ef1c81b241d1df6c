"""A load generator in a process of its own: some connections, each asking one thing at a time.

    python -m bench.load < CONFIG-JSON      prints one JSON object

Requests differ in their id and perhaps in a line, which have fixed widths, so that a good answer
has a fixed length. Anything else than that answer is counted as an error.
"""

import asyncio
import json
import sys
import time
from dataclasses import asdict, dataclass
from typing import cast

import uvloop

__all__ = ["Load", "Outcome"]

_FIRST_ID = 10_000_000
_LIMIT_S = 60.0


@dataclass(frozen=True)
class Load:
    port: int
    headers: dict[str, str]
    #: The message with ``@ID`` for its id and, where questions must differ, ``@LINE``.
    message: str
    connections: int
    requests: int
    #: The first line to ask about. Lines have three digits.
    first_line: int = 100


@dataclass(frozen=True)
class Outcome:
    requests: int
    errors: int
    seconds: float
    p50_ms: float
    p99_ms: float
    max_ms: float
    #: Connections that were open at the same time.
    connected: int
    answer_bytes: int


class Run:
    def __init__(self, load: Load) -> None:
        self.load = load
        self.left = load.requests
        self.next_id = _FIRST_ID
        self.times: list[float] = []
        self.errors = 0
        self.size = 0
        self.open = 0
        self.most_open = 0
        self.all_open = asyncio.Event()
        self.done = asyncio.Event()
        self.line = load.first_line
        body = len(_filled(load.message, _FIRST_ID, self.line))
        head = [f"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{load.port}\r\n"]
        head += [f"{name}: {value}\r\n" for name, value in load.headers.items()]
        head += [f"content-length: {body}\r\n\r\n"]
        self._template = "".join(head) + load.message

    def request(self) -> bytes | None:
        """The next request, or ``None`` when enough were made."""
        if self.left == 0:
            return None
        self.left -= 1
        self.next_id += 1
        self.line += 1
        return _filled(self._template, self.next_id, self.line - 1).encode()

    def answered(self, seconds: float, head: bytes, body: bytes) -> None:
        self.times.append(seconds)
        good = head.startswith(b"HTTP/1.1 200") and b'"result"' in body[:200]
        self.size = self.size or len(body)
        self.errors += not good or len(body) != self.size
        if len(self.times) == self.load.requests:
            self.done.set()


def _filled(text: str, id: int, line: int) -> str:
    return text.replace("@ID", str(id)).replace("@LINE", str(line))


class Connection(asyncio.Protocol):
    def __init__(self, run: Run) -> None:
        self._run = run
        self._buffer = b""
        self._needed = 0
        self._sent = 0.0
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is not registered as one
        self._run.open += 1
        self._run.most_open = max(self._run.most_open, self._run.open)
        if self._run.open == self._run.load.connections:
            self._run.all_open.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._run.open -= 1

    def ask(self) -> None:
        request = self._run.request()
        if request is not None and self._transport is not None:
            self._sent = time.perf_counter()
            self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, end, body = self._buffer.partition(b"\r\n\r\n")
        if not end:
            return
        if not self._needed:
            lower = head.lower()
            start = lower.index(b"content-length:") + len(b"content-length:")
            self._needed = int(lower[start:].split(b"\r\n", 1)[0])
        if len(body) >= self._needed:
            self._buffer, self._needed = b"", 0
            self._run.answered(time.perf_counter() - self._sent, head, body)
            self.ask()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


async def drive(load: Load) -> Outcome:
    run = Run(load)
    loop = asyncio.get_running_loop()
    connections: list[Connection] = []
    async with asyncio.timeout(_LIMIT_S):
        for _ in range(load.connections):
            _, made = await loop.create_connection(lambda: Connection(run), "127.0.0.1", load.port)
            connections.append(made)
        await run.all_open.wait()
        began = time.perf_counter()
        for connection in connections:
            connection.ask()
        await run.done.wait()
    took = time.perf_counter() - began
    still_open = run.open
    for connection in connections:
        connection.close()
    times = sorted(run.times)
    return Outcome(
        requests=len(times),
        errors=run.errors,
        seconds=took,
        p50_ms=times[len(times) // 2] * 1000,
        p99_ms=times[int(len(times) * 0.99)] * 1000,
        max_ms=times[-1] * 1000,
        connected=min(run.most_open, still_open),
        answer_bytes=run.size,
    )


if __name__ == "__main__":
    chosen = Load(**json.load(sys.stdin))
    print(json.dumps(asdict(uvloop.run(drive(chosen)))))
