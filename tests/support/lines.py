"""The lines of a program's log, as a thread reads them, and waiting for one of them.

A line that a program has written may not have been read yet, so nothing here can be looked at in
passing: ``until`` waits for a line, ``whole`` for the end, and only ``so_far``, for the message of
a failure, takes what is there. ``server.log.until('"event":"call"')`` returns that line.
"""

import threading

from tests.support.watching import HANG_S

__all__ = ["Lines"]


class Lines:
    def __init__(self) -> None:
        self._lines: list[str] = []
        self._ended = False
        self._more = threading.Condition()

    def add(self, line: str) -> None:
        with self._more:
            self._lines.append(line)
            self._more.notify_all()

    def end(self) -> None:
        """There will be no more: the program has closed its log."""
        with self._more:
            self._ended = True
            self._more.notify_all()

    def until(self, text: str, seconds: float = HANG_S) -> str:
        """The first line with this text, as soon as it is there."""
        with self._more:
            self._more.wait_for(lambda: self._ended or self._with(text), seconds)
            found = self._with(text)
            assert found, f"no line with {text!r} in:\n{''.join(self._lines)}"
            return found[0]

    def whole(self, seconds: float = HANG_S) -> str:
        """Everything, once the program has ended: what is not in it was never said."""
        with self._more:
            assert self._more.wait_for(lambda: self._ended, seconds), "the program has not ended"
            return "".join(self._lines)

    def so_far(self) -> str:
        with self._more:
            return "".join(self._lines)

    def _with(self, text: str) -> list[str]:
        return [line for line in self._lines if text in line]
