"""The log: one JSON object per line, redacted, bounded, on standard error.

Fields are metadata only: names, sizes, codes, milliseconds. No token, session id, body or path
outside the roots is ever passed in; the redaction here is the second line of defence.
"""

import json
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TextIO

from sightline.contract.limits import MAX_LOG_FIELD_CHARS, MAX_LOG_LINE_CHARS

__all__ = ["Log", "redact"]

_SECRET_KEYS = frozenset(
    """
    authorization cookie set-cookie proxy-authorization x-api-key mcp-session-id token tokens
    """.split()
)
_BEARER = re.compile(r"\b(Bearer|MCP-Session-Id:|MCP-Protocol-Version:)\s+\S+", re.IGNORECASE)
_TOKEN_LIKE = re.compile(r"[A-Za-z0-9_-]{32,}")
_ABSOLUTE = re.compile(r"(?<![\w.])(?:file:/*)?/(?:[^\s\"'/:,()]+/)+")
_MASK = "[redacted]"


def redact(text: str) -> str:
    """A text without credentials, long random strings or folders."""
    text = _BEARER.sub(lambda match: f"{match[1]} {_MASK}", text)
    text = _ABSOLUTE.sub("", text)
    return _TOKEN_LIKE.sub(_MASK, text)


class Log:
    """Writes lines. ``debug`` lines only when debugging was asked for."""

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        debug: bool = False,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._stream = stream
        self._debug = debug
        self._now = now

    def debug(self, event: str, **fields: object) -> None:
        if self._debug:
            self._write("debug", event, fields)

    def info(self, event: str, **fields: object) -> None:
        self._write("info", event, fields)

    def warning(self, event: str, **fields: object) -> None:
        self._write("warning", event, fields)

    def bug(self, error: BaseException) -> None:
        """An exception that should not have happened: its type and where, never its text."""
        frames = traceback.extract_tb(error.__traceback__)
        where = " < ".join(
            f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in reversed(frames[-8:])
        )
        self._write("error", "bug", {"type": type(error).__name__, "where": where})

    def unexpected(self, context: Mapping[str, object]) -> None:
        """What went wrong in an event loop where nobody waits for it; the loop's own words would
        show texts, names and folders."""
        error = context.get("exception")
        if isinstance(error, BaseException):
            self.bug(error)
        else:
            self.warning("loop", message=context.get("message"))

    def _write(self, level: str, event: str, fields: dict[str, object]) -> None:
        stamp = self._now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        entry: dict[str, object] = {"ts": stamp, "level": level, "event": event}
        entry |= {key: _clean(key, value) for key, value in fields.items()}
        line = json.dumps(entry, ensure_ascii=True, separators=(",", ":"))
        if len(line) > MAX_LOG_LINE_CHARS:
            line = json.dumps({"ts": stamp, "level": level, "event": event, "cut": True})
        try:
            print(line, file=self._stream or sys.stderr, flush=True)
        except (OSError, ValueError):
            pass  # a log nobody can read must not end the server


def _clean(key: str, value: object) -> object:
    if key.lower() in _SECRET_KEYS:
        return _MASK
    if value is None or isinstance(value, bool | int | float):
        return value
    text = redact(str(value))
    return text if len(text) <= MAX_LOG_FIELD_CHARS else text[: MAX_LOG_FIELD_CHARS - 1] + "…"
