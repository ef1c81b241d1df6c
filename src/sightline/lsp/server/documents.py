"""The documents a server has open, kept equal to what calls have read from disk.

A document is opened with the text of the call that needs it. When its file changes it is closed
again, so that the server's memory never hides the disk. The least recently used are closed first.
Documents that must stay open for the server to know its project are held: they are shown anew when
their file changes. So are scripts that it would not take for its own otherwise.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, NamedTuple

from sightline.contract.source import SourceFile
from sightline.contract.uris import uri_of
from sightline.lsp.wire.client import Client

__all__ = ["Documents"]

MAX_OPEN = 64


class _Shown(NamedTuple):
    version: int
    since: float


class Documents:
    def __init__(
        self,
        client: Client,
        *,
        reopens: bool = False,
        overtake: Callable[[str], None] = lambda uri: None,
        is_used: Callable[[str], bool] = lambda uri: False,
    ) -> None:
        self._client = client
        #: Whether somebody waits for an answer about a document, which stays open then.
        self._is_used = is_used
        #: Told of every document of which there will be no older version any more.
        self._overtake = overtake
        #: A changed document is closed and opened: the server would go on with what it made of the
        #: includes before, and publish that.
        self._reopens = reopens
        #: The server takes changes by range, as it says when it is initialized. One that does may
        #: get a whole text wrong.
        self.incremental = False
        #: URI -> version and text, least recently used first.
        self._open: OrderedDict[str, tuple[int, str]] = OrderedDict()
        self._held: set[str] = set()
        self._besides: set[str] = set()
        self._versions = 0
        #: Those that were shown and not said to be taken in; and whether the server says that of
        #: any, as far as that is known.
        self._unseen: dict[str, _Shown] = {}
        self._tells: bool | None = None
        self._has_closed = False

    def __contains__(self, uri: str) -> bool:
        return uri in self._open

    def has(self, file: SourceFile) -> bool:
        """Whether a file is open with exactly this text."""
        known = self._open.get(file.uri)
        return known is not None and known[1] == file.text

    def version_of(self, uri: str) -> int | None:
        """The version in which a document is open."""
        known = self._open.get(uri)
        return known[0] if known is not None else None

    def show(self, file: SourceFile, language: str) -> int:
        """Makes the server see ``file`` with exactly this text; its version."""
        known = self._open.get(file.uri)
        if known is not None:
            self._open.move_to_end(file.uri)
            version, text = known
            if text == file.text:
                return version
        self._versions += 1
        self._open[file.uri] = (self._versions, file.text)
        self._unseen[file.uri] = _Shown(self._versions, time.monotonic())
        self._overtake(file.uri)
        if known is not None and self._reopens:
            self.close_once(file.uri)
            self._announce(file.uri, language, file.text)
        elif known is None:
            self._announce(file.uri, language, file.text)
            self._trim()
        else:
            change: dict[str, Any] = {"text": file.text}
            if self.incremental:
                change["range"] = _whole(known[1])
            self._client.notify(
                "textDocument/didChange",
                {
                    "textDocument": {"uri": file.uri, "version": self._versions},
                    "contentChanges": [change],
                },
            )
        return self._versions

    def close_others(self, keeps: Callable[[str], bool]) -> None:
        """Closes every document but those to keep and those that are held."""
        for uri in [uri for uri in self._free() if not keeps(uri)]:
            self._close(uri)

    def hold(self, files: Iterable[tuple[SourceFile, str]]) -> None:
        """Keeps exactly these documents open, whatever else comes and goes."""
        wanted = {file.uri: (file, language) for file, language in files}
        self._held = set(wanted)
        for file, language in wanted.values():
            self.show(file, language)
        self._trim()

    def hold_besides(self, files: Iterable[tuple[SourceFile, str]]) -> None:
        """The same of these, besides; those that were held so and are no more are closed."""
        wanted = {file.uri: (file, language) for file, language in files}
        gone, self._besides = self._besides - wanted.keys(), set(wanted)
        for file, language in wanted.values():
            self.show(file, language)
        for uri in gone & self._open.keys() - self._held:
            self._close(uri)
        self._trim()

    def changed(self, uri: str, read: Callable[[], tuple[SourceFile, str] | None]) -> None:
        """The file of a document has changed: it is closed, or shown anew if it is held."""
        if uri not in self._open:
            return
        fresh = read() if self._holds(uri) else None
        if fresh is not None:
            self.show(*fresh)
        else:
            self._held.discard(uri)
            self._besides.discard(uri)
            self._close(uri)

    def reveal(self, file: SourceFile, language: str) -> None:
        """Makes the server read a file again that it would not notice by itself.

        Some servers compare the modification time and think they know the file already, others
        notice nothing at all. Opening and closing it tells them otherwise.
        """
        self.show(file, language)
        if not self._holds(file.uri):
            self._close(file.uri)

    def show_once(self, uri: str, file: SourceFile, language: str) -> None:
        """Opens the text under a name that was never used before. ``close_once`` ends it."""
        self._versions += 1
        self._announce(uri, language, file.text)

    def close_once(self, uri: str) -> None:
        self._has_closed = True
        self._client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def seen(self, uri: str, version: int | None) -> None:
        """The server says that it has taken in a version of a document. One that says so of none,
        though none was closed, of which it may speak, too, never will.
        """
        shown = self._unseen.get(uri)
        if shown is None:
            return
        if shown.version == version:
            del self._unseen[uri]
            self._tells = True
            self._trim()
        elif version is None and self._tells is None and not self._has_closed:
            self._tells = False
            self._overtake(uri)

    def unseen_for(self) -> float:
        """For how many seconds the server has not said to have taken in a document."""
        if self._tells is False or not self._unseen:
            return 0.0
        return time.monotonic() - min(shown.since for shown in self._unseen.values())

    def unseen_but(self, path: str | None) -> tuple[str, int] | tuple[()]:
        """A document, and its version, that the server was shown and has not said to have taken in:
        any but that of a file that is asked about.

        Until then what it holds may be in no answer, neither as it is kept in an index nor as it is
        open.
        """
        if self._tells is False or not self._unseen:
            return ()
        own = uri_of(path) if path is not None else ""
        return next(((uri, at.version) for uri, at in self._unseen.items() if uri != own), ())

    def _announce(self, uri: str, language: str, text: str) -> None:
        document = {"uri": uri, "languageId": language, "version": self._versions, "text": text}
        self._client.notify("textDocument/didOpen", {"textDocument": document})

    def _trim(self) -> None:
        if len(self._open) <= MAX_OPEN:
            return
        held = sum(uri in self._open for uri in self._held | self._besides)
        over = max(0, len(self._open) - held - MAX_OPEN)
        # What the server is about to read is waited for; but there is an end to that, too.
        waits = self._unseen if self._tells and over < MAX_OPEN else {}
        free = (uri for uri in self._free() if uri not in waits and not self._is_used(uri))
        for uri in list(islice(free, over)):
            self._close(uri)

    def _holds(self, uri: str) -> bool:
        return uri in self._held or uri in self._besides

    def _free(self) -> list[str]:
        return [uri for uri in self._open if not self._holds(uri)]

    def _close(self, uri: str) -> None:
        del self._open[uri]
        self._unseen.pop(uri, None)
        self._overtake(uri)
        self.close_once(uri)


def _whole(text: str) -> dict[str, Any]:
    """The range of a whole document, in lines and UTF-16 units."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    end = {"line": len(lines) - 1, "character": len(lines[-1].encode("utf-16-le")) // 2}
    return {"start": {"line": 0, "character": 0}, "end": end}
