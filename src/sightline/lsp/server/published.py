"""Diagnostics that a server sends by itself, matched to the document they were made for.

A list counts for a question only if it carries the version that was shown, or if its document was
opened under a name of its own, so that there can be no other version. For a version that is closed,
or shown anew, none will come: whoever waits for it is told. So is whoever waits for a list that
came and cannot be read.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from sightline.contract.uris import respelled
from sightline.lsp.wire import messages
from sightline.lsp.wire.client import Illegible, ServerGone
from sightline.lsp.wire.illegible import UNREADABLE, members, read

__all__ = ["Overtaken", "Published"]

_decode = msgspec.json.Decoder(messages.PublishDiagnostics).decode
#: Lists of documents that nobody asked about lately are forgotten.
_MAX_KEPT = 1_024

Items = list[messages.LspDiagnostic]


class _Unread(NamedTuple):
    """A list that cannot be read."""

    uri: str
    version: int | None


Came = messages.PublishDiagnostics | _Unread


class Overtaken(Exception):
    """The document is not open any more in the version that somebody waits for."""


class _Wait(NamedTuple):
    uri: str
    version: int | None
    future: asyncio.Future[Came]


class Published:
    def __init__(self, is_open: Callable[[str], bool]) -> None:
        #: Of an open document something will be said, and is kept, whatever is said of others.
        self._is_open = is_open
        self._latest: OrderedDict[str, Came] = OrderedDict()
        self._waits: list[_Wait] = []

    def notified(self, params: msgspec.Raw) -> tuple[str, int | None] | None:
        """A ``textDocument/publishDiagnostics`` notification; the document, and its version."""
        try:
            message = _decode(params)
        except UNREADABLE:
            return self.misheard(bytes(params))
        return self._came(message)

    def misheard(self, params: bytes) -> tuple[str, int | None] | None:
        """One that cannot be read; its document and version, if at least these can be."""
        named = members(params)
        uri: str | None = read(named.get("uri"), str)
        if uri is not None:
            return self._came(_Unread(uri, read(named.get("version"), int | None)))
        for wait in self._waits:  # it may have been for anybody
            if not wait.future.done():
                wait.future.set_exception(Illegible())
        return None

    def _came(self, message: Came) -> tuple[str, int | None]:
        uri = respelled(message.uri)
        self._latest[uri] = message
        self._latest.move_to_end(uri)
        if len(self._latest) > _MAX_KEPT:
            closed = (each for each in self._latest if not self._is_open(each))
            self._latest.pop(next(closed, uri))
        for wait in self._waits:
            if wait.uri == uri and _fits(message, wait.version) and not wait.future.done():
                wait.future.set_result(message)
        return uri, message.version

    def last(self, uri: str) -> Items | None:
        """The last list for a document, whichever version it was made for, if it can be read."""
        latest = self._latest.get(uri)
        if isinstance(latest, _Unread):
            return None
        return latest.diagnostics if latest is not None else []

    async def of(self, uri: str, version: int | None) -> Items:
        """The list made for this version, as soon as it is there."""
        came = await self.taken_in(uri, version)
        if isinstance(came, _Unread):
            raise Illegible
        return came.diagnostics

    async def taken_in(self, uri: str, version: int | None) -> Came:
        """Returns when there is a list for this version, readable or not, or raises ``Overtaken``.
        Raises ``Illegible`` when one came of which nobody knows whose it is.
        """
        latest = self._latest.get(uri)
        if latest is not None and _fits(latest, version):
            return latest
        if version is not None and not self._is_open(uri):
            raise Overtaken
        wait = _Wait(uri, version, asyncio.get_running_loop().create_future())
        self._waits.append(wait)
        try:
            return await wait.future
        finally:
            self._waits.remove(wait)

    def overtake(self, uri: str) -> None:
        """A document is closed, or shown anew: nothing will be said of older versions."""
        for wait in self._waits:
            if wait.uri == uri and wait.version is not None and not wait.future.done():
                wait.future.set_exception(Overtaken())

    def forget(self, uri: str) -> None:
        self._latest.pop(uri, None)

    def ended(self, gone: ServerGone) -> None:
        """The server is gone: nobody waits any longer."""
        for wait in self._waits:
            if not wait.future.done():
                wait.future.set_exception(gone)


def _fits(message: Came, version: int | None) -> bool:
    return version is None or message.version == version
