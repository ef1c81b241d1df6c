"""When a server's answers are complete: one explicit rule per server.

``answers-block``: the server waits by itself instead of answering from a part; it is ready at once.
``documents``: it answers from the document alone. The other rules wait for a signal the server
sends when its project is loaded. Without the signal the server is never ready, and callers are told
so: a partial answer never leaves this program.
"""

import asyncio
import re
from typing import Any

import msgspec

from sightline.lsp.client import Client
from sightline.lsp.registry import ServerSpec

__all__ = ["Readiness"]


class Readiness:
    """The signal of one running server. It can be awaited again after ``again``."""

    def __init__(self, spec: ServerSpec) -> None:
        self._spec = spec
        self._signal = asyncio.Event()
        self._titles: dict[Any, str] = {}
        #: The server says that it could not load the project: its answers are from a part.
        self.broken = False
        #: How many pieces of work it counted before it was ready; loading what it kept is one.
        self.pieces = 0
        if spec.readiness in ("answers-block", "documents"):
            self._signal.set()

    def again(self) -> None:
        """What was said before counts no longer."""
        self._signal.clear()

    def nothing_to_load(self) -> None:
        """There is nothing in the project that the server would load, so it will not say so."""
        self._signal.set()

    def notified(self, method: str, params: msgspec.Raw) -> None:
        """Every notification of the server passes here."""
        rule, signal = self._spec.readiness, self._spec.ready_signal
        if rule == "status" and method == "experimental/serverStatus":
            status = msgspec.json.decode(params)
            self.broken = status.get("health") == "error"
            if status.get("quiescent") is True:
                self._signal.set()
        if self._signal.is_set():
            return
        if rule == "log" and method == "window/logMessage":
            message = msgspec.json.decode(params).get("message", "")
            if re.search(signal, str(message)):
                self._signal.set()
        elif rule == "progress" and method == "$/progress":
            self._progress(msgspec.json.decode(params))
        elif rule == "notification" and method == signal:
            self._signal.set()

    async def wait(self, client: Client) -> None:
        """Returns when the server is ready; raises when it ends before."""
        await until(self._signal, client)

    def _progress(self, params: dict[str, Any]) -> None:
        token, value = params.get("token"), params.get("value") or {}
        if value.get("kind") == "begin":
            self._titles[token] = str(value.get("title", ""))
        elif value.get("kind") == "report":
            counted = re.fullmatch(r"\d{1,9}/(\d{1,9})", str(value.get("message", "")))
            self.pieces = max(self.pieces, int(counted[1]) if counted else 0)
        elif value.get("kind") == "end":
            title = self._titles.pop(token, "")
            if re.search(self._spec.ready_signal, f"{token} {title}"):
                self._signal.set()


async def until(signal: asyncio.Event, client: Client) -> None:
    """Returns at the signal; raises when the server ends before."""
    waits = {asyncio.create_task(e.wait()) for e in (signal, client.ended)}
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
    if client.gone is not None:
        raise client.gone
