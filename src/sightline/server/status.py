"""What a running program tells its own user about itself, over a local socket.

The socket lies in a private folder (0700) with mode 0600, so only the user who started the program
can connect. Whoever connects gets one line of JSON and the end of the stream; nothing is read.
There are no contents in it: names, states, sizes and times only.
"""

import asyncio
import contextlib
import json
import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sightline.calls.calls import Record

__all__ = ["CallLog", "StatusSocket", "read_all"]

_RECENT = 50
_READ_S = 2.0
_LONGEST_PATH = 100


class CallLog:
    """The last calls and how often each outcome came."""

    def __init__(self) -> None:
        self._recent: deque[tuple[float, Record]] = deque(maxlen=_RECENT)
        self._outcomes: Counter[str] = Counter()

    def add(self, record: Record) -> None:
        self._recent.append((time.time(), record))
        self._outcomes[record.outcome] += 1

    def report(self) -> dict[str, Any]:
        recent = [
            {
                "at": round(at, 3),
                "tool": record.tool,
                "outcome": record.outcome,
                "ms": round(record.milliseconds, 1),
                "bytes": record.size,
            }
            for at, record in self._recent
        ]
        return {"outcomes": dict(self._outcomes), "recent": recent}


class StatusSocket:
    def __init__(self, folder: Path, report: Callable[[], dict[str, Any]]) -> None:
        self.path = folder / f"{os.getpid()}.sock"
        self._report = report
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Begins to listen. A program that cannot be asked for its status still does its work."""
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
        before = os.umask(0o177)
        try:
            with _short(self.path) as path:
                self._server = await asyncio.start_unix_server(self._answer, path)
        except OSError:
            return
        finally:
            os.umask(before)

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
            with contextlib.suppress(FileNotFoundError):
                self.path.unlink()

    async def _answer(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            writer.write(json.dumps(self._report()).encode() + b"\n")
            await writer.drain()
            writer.close()
            await writer.wait_closed()


@contextlib.contextmanager
def _short(path: Path) -> Iterator[str]:
    """A spelling of a socket's path that the system takes: it allows about a hundred bytes."""
    if len(os.fsencode(path)) < _LONGEST_PATH or not os.path.isdir("/proc/self/fd"):
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


async def read_all(folder: Path) -> list[dict[str, Any]]:
    """The status of every running program of this user; sockets nobody answers are removed."""
    found: list[dict[str, Any]] = []
    for path in sorted(folder.glob("*.sock")):  # noqa: ASYNC240 - a handful of names, once
        try:
            async with asyncio.timeout(_READ_S):
                with _short(path) as short:
                    reader, writer = await asyncio.open_unix_connection(short, limit=1 << 22)
                found.append(json.loads(await reader.readline()))
                writer.close()
        except (ConnectionError, FileNotFoundError):
            with contextlib.suppress(OSError):
                path.unlink()
        except (TimeoutError, ValueError):
            continue
    return found
