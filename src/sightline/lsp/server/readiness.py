"""When a server's answers are complete: one explicit rule per server.

``answers-block``: the server waits by itself instead of answering from a part; it is ready at once.
``documents``: it answers from the document alone. The other rules wait for a signal the server
sends when its project is loaded. Without the signal the server is never ready, and callers are told
so: a partial answer never leaves this program. A server may also be ready and say that it lacks
something of the project; that is kept here too, and its answers are passed on with a word about it.
"""

import asyncio
import re
from typing import Any

import msgspec

from sightline.lsp.files.reading import table
from sightline.lsp.registry import ServerSpec
from sightline.lsp.shortcomings import Shortcoming
from sightline.lsp.wire.client import Client

__all__ = ["Readiness"]


_MAX_WORDS = 20_000
_SOMETHING = "{} could not load everything; something may be missing."


class Readiness:
    """The signal of one running server. It can be awaited again after ``again``."""

    def __init__(self, name: str, spec: ServerSpec) -> None:
        self._name = name
        self._spec = spec
        self._signal = asyncio.Event()
        self._titles: dict[Any, str] = {}
        #: The server says that it could not load the project: its answers are from a part.
        self.broken = False
        #: What it said about that which it lacks: for people, never for a client.
        self.words = ""
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
            health = status.get("health")
            self.broken = health == "error"
            poor = health in ("warning", "error")
            self.words = (str(status.get("message") or "") or str(health)) if poor else ""
            if status.get("quiescent") is True:
                self._signal.set()
        elif self._spec.troubles and method == "window/logMessage":
            self._complained(str(msgspec.json.decode(params).get("message", "")))
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

    @property
    def shortcomings(self) -> list[Shortcoming]:
        """What the server lacks, by its own words."""
        troubles = [each for each in self._spec.troubles if re.search(each.says, self.words)]
        if self.words and not troubles:
            return [Shortcoming(_SOMETHING.format(self._name))]
        return [Shortcoming(each.means, each.fix) for each in troubles if self.words]

    @property
    def blind(self) -> bool:
        """Whether there is code of which the server knows nothing."""
        return any(each.blind and re.search(each.says, self.words) for each in self._spec.troubles)

    async def wait(self, client: Client) -> None:
        """Returns when the server is ready; raises when it ends before."""
        await until(self._signal, client)

    def _complained(self, message: str) -> None:
        known = any(re.search(each.says, message) for each in self._spec.troubles)
        if known and message not in self.words and len(self.words) < _MAX_WORDS:
            self.words += f"{message[:_MAX_WORDS]}\n"

    def _progress(self, params: dict[str, Any]) -> None:
        token, value = params.get("token"), table(params, "value")
        if not isinstance(token, str | int):
            return  # nothing that the protocol knows
        if value.get("kind") == "begin":
            self._titles[token] = str(value.get("title", ""))
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
