"""What a running program tells its own user about itself, over a local socket.

Whoever connects gets one line of JSON and the end of the stream; nothing is read. There are no
contents in it: names, states, sizes and times only.
"""

import asyncio
import json
import os
import time
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sightline.calls.calls import Record
from sightline.server.private_socket import PrivateSocket, short

__all__ = ["CallLog", "StatusSocket", "read_all"]

_RECENT = 50
_READ_S = 2.0


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


class StatusSocket(PrivateSocket):
    def __init__(self, folder: Path, report: Callable[[], dict[str, Any]]) -> None:
        super().__init__(folder / f"{os.getpid()}.sock", self._tell)
        self._report = report

    async def _tell(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(json.dumps(self._report()).encode() + b"\n")


async def read_all(folder: Path) -> list[dict[str, Any]]:
    """The status of every running program of this user; sockets nobody answers are removed."""
    found: list[dict[str, Any]] = []
    for path in sorted(folder.glob("*.sock")):  # noqa: ASYNC240 - a handful of names, once
        try:
            async with asyncio.timeout(_READ_S):
                with short(path) as name:
                    reader, writer = await asyncio.open_unix_connection(name, limit=1 << 22)
                found.append(json.loads(await reader.readline()))
                writer.close()
        except (ConnectionError, FileNotFoundError):
            for left in (path, path.with_suffix(".roots")):
                left.unlink(missing_ok=True)
        except (TimeoutError, ValueError):
            continue
    return found
