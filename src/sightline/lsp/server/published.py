"""Diagnostics that a server sends by itself, matched to the document they were made for.

A list counts for a question only if it carries the version that was shown, or if its document was
opened under a name of its own, so that there can be no other version.
"""

import asyncio
from collections import OrderedDict
from typing import NamedTuple

import msgspec

from sightline.lsp.wire import messages
from sightline.lsp.wire.client import ServerGone

__all__ = ["Published"]

_decode = msgspec.json.Decoder(messages.PublishDiagnostics).decode
#: Lists of documents that nobody asked about lately are forgotten.
_MAX_KEPT = 1_024

Items = list[messages.LspDiagnostic]


class _Wait(NamedTuple):
    uri: str
    version: int | None
    future: asyncio.Future[Items]


class Published:
    def __init__(self) -> None:
        self._latest: OrderedDict[str, messages.PublishDiagnostics] = OrderedDict()
        self._waits: list[_Wait] = []

    def notified(self, params: msgspec.Raw) -> None:
        """A ``textDocument/publishDiagnostics`` notification."""
        try:
            message = _decode(params)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return  # it cannot be read, so nobody is told; whoever waits for it goes on waiting
        self._latest[message.uri] = message
        self._latest.move_to_end(message.uri)
        while len(self._latest) > _MAX_KEPT:
            self._latest.popitem(last=False)
        for wait in self._waits:
            if _fits(message, wait.uri, wait.version) and not wait.future.done():
                wait.future.set_result(message.diagnostics)

    async def of(self, uri: str, version: int | None) -> Items:
        """The list made for this version, as soon as it is there."""
        latest = self._latest.get(uri)
        if latest is not None and _fits(latest, uri, version):
            return latest.diagnostics
        wait = _Wait(uri, version, asyncio.get_running_loop().create_future())
        self._waits.append(wait)
        try:
            return await wait.future
        finally:
            self._waits.remove(wait)

    def forget(self, uri: str) -> None:
        self._latest.pop(uri, None)

    def ended(self, gone: ServerGone) -> None:
        """The server is gone: nobody waits any longer."""
        for wait in self._waits:
            if not wait.future.done():
                wait.future.set_exception(gone)


def _fits(message: messages.PublishDiagnostics, uri: str, version: int | None) -> bool:
    return message.uri == uri and (version is None or message.version == version)
