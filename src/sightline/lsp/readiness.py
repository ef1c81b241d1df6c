"""When a server's answers are complete: one explicit rule per server.

``answers-block``: the server waits by itself instead of answering from a part; it is ready at once.
The other rules wait for a signal the server sends when its project is loaded. Without the signal
the server is never ready, and callers are told so: a partial answer never leaves this program.
"""

import asyncio
import re
from typing import Any

import msgspec

from sightline.lsp.client import Client
from sightline.lsp.registry import ServerSpec

__all__ = ["Readiness"]


class Readiness:
    def __init__(self, spec: ServerSpec) -> None:
        self._spec = spec
        self._signal = asyncio.Event()
        self._titles: dict[Any, str] = {}
        if spec.readiness == "answers-block":
            self._signal.set()

    def notified(self, method: str, params: msgspec.Raw) -> None:
        """Every notification of the server passes here."""
        if self._signal.is_set():
            return
        rule = self._spec.readiness
        if rule == "log" and method == "window/logMessage":
            message = msgspec.json.decode(params).get("message", "")
            if re.search(self._spec.ready_signal, str(message)):
                self._signal.set()
        elif rule == "progress" and method == "$/progress":
            self._progress(msgspec.json.decode(params))
        elif (
            rule == "status"
            and method == "experimental/serverStatus"
            and msgspec.json.decode(params).get("quiescent") is True
        ):
            self._signal.set()

    async def wait(self, client: Client) -> None:
        """Returns when the server is ready; raises when it ends before."""
        waits = {asyncio.create_task(e.wait()) for e in (self._signal, client.ended)}
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        if client.gone is not None:
            raise client.gone

    def _progress(self, params: dict[str, Any]) -> None:
        token, value = params.get("token"), params.get("value") or {}
        if value.get("kind") == "begin":
            self._titles[token] = str(value.get("title", ""))
        elif value.get("kind") == "end":
            title = self._titles.pop(token, "")
            if re.search(self._spec.ready_signal, f"{token} {title}"):
                self._signal.set()
