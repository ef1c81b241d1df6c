"""A progress bar on a terminal, and nothing at all when nobody watches."""

import sys
import time
from typing import TextIO

__all__ = ["Bar"]

_WIDTH = 30
_INTERVAL_S = 0.1


class Bar:
    """Takes a tool's progress and draws it in place."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._shown = False
        self._drawn = 0.0

    def __call__(
        self, message: str, *, phase: str, done: int | None = None, total: int | None = None
    ) -> None:
        now = time.monotonic()
        if not self._stream.isatty() or now - self._drawn < _INTERVAL_S:
            return
        self._drawn = now
        self._shown = True
        self._stream.write(f"\r\x1b[K{draw(message, phase, done, total)}")
        self._stream.flush()

    def clear(self) -> None:
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def draw(message: str, phase: str, done: int | None, total: int | None) -> str:
    """One line of progress.

    >>> draw("indexed 5 of 10 files", "index", 5, 10)
    'index [###############               ] 5/10'
    """
    if not total:
        return f"{phase}: {message}"
    filled = _WIDTH * min(done or 0, total) // total
    return f"{phase} [{'#' * filled}{' ' * (_WIDTH - filled)}] {done}/{total}"
