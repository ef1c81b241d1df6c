"""What makes a server see an edit, and how it is known that it did: one rule per server.

    told      the protocol's notification is enough; the next answer is from the new state
    rescan    a file that comes or goes makes the server look for its files again, and it says when
              it has; until then it answers from the old list
    reload    a changed file is opened and stays open for a while, because opening and closing it at
              once may cancel each other out; a file that comes or goes needs the server's own
              command to load its projects anew
    quiesce   a changed file is opened and closed; one that comes or goes needs the server's own
              command, after which it works on and says when it is quiet
    reindex   a source that changed inside a function, or has new ones, is opened and waited for;
              anything else needs a new start
    reveal    a changed file is opened and closed; one that comes or goes needs a new start
    restart   the server notices nothing: it starts over

A change elsewhere, in another root or around this one, is of a file that the server may have read
and that is not opened for it: where telling is not enough it loads its projects again or starts
over.

``changed`` is called when a call begins and only sends. ``settle`` is awaited before the next
question and returns when every change is in the server's answers.
"""

import asyncio
import contextlib
import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import msgspec
from msgspec import Struct

from sightline.contract.source import SourceFile
from sightline.contract.uris import is_under, uri_of
from sightline.lsp.c.compile_database import Database
from sightline.lsp.c.directives import spelled
from sightline.lsp.registry import ServerSpec
from sightline.lsp.server.documents import Documents
from sightline.lsp.server.published import Overtaken, Published
from sightline.lsp.server.readiness import Readiness, until
from sightline.lsp.shell import leads_out
from sightline.lsp.wire.client import Client
from sightline.workspace.changes import Change, Kind

__all__ = ["Connection", "Read", "Settler"]

#: More changes than this at once are not told one by one.
_MANY = 200
#: So many are shown between two questions; fewer than stay open, so that none is closed unseen.
_MANY_SHOWN = 32
_RESCAN_BEGINS = "Searching for source files"

#: A file of the server's languages as it is on disk now, with its language id; else ``None``.
Read = Callable[[str], tuple[SourceFile, str] | None]


class Connection(Struct, frozen=True, kw_only=True):
    """One running server, as far as changes are concerned."""

    spec: ServerSpec
    client: Client
    documents: Documents
    published: Published
    readiness: Readiness
    read: Read
    #: Whether a path is of the server's concern: a file of its languages in its project.
    is_own: Callable[[str], bool]
    #: Whether a path is a file outside the project folder that the server depends on.
    is_used: Callable[[str], bool]
    #: Any file of the project, for servers that must be shown one.
    some_file: Callable[[], str | None]
    #: The folder of its project.
    folder: str = ""
    #: The compilation database, where the server has such a thing.
    database: Database = Database()
    #: Whether scripts of the project take in what lies outside of it.
    leads_out: bool = False


class Settler(Struct, eq=False):
    """The changes a running server still has to take in."""

    connection: Connection
    #: It must start over; whoever owns the server does that.
    must_restart: bool = False
    #: Something changed elsewhere. Nothing is done until somebody asks: roots may have nothing to
    #: do with each other.
    elsewhere: bool = False
    _rescan: bool = False
    _reload: bool = False
    #: Documents whose published diagnostics say that they were taken in.
    _awaited: dict[str, int] = {}
    #: Documents that were shown since the last question.
    _shown: list[str] = []
    _log: Callable[[str], None] | None = None

    @property
    def pending(self) -> bool:
        return self._rescan or self._reload or bool(self._shown) or bool(self._awaited)

    def changed(
        self, changes: Sequence[Change], told: Sequence[Change], folders: Sequence[Change] = ()
    ) -> None:
        """Sends what can be sent. ``told`` are the changes the server is notified of, as well as
        ``folders`` that came or went.
        """
        spec, connection = self.connection.spec, self.connection
        for change in changes:
            connection.documents.changed(uri_of(change.path), partial(connection.read, change.path))
        starts_over = _end_matcher(spec.restart_on)
        if any(starts_over(change.path) for change in changes) or any(
            starts_over(_from(connection.folder, change.path)) for change in folders
        ):
            self.must_restart = True
            return
        if told or folders:
            events = [
                {"uri": uri_of(change.path), "type": change.kind} for change in (*folders, *told)
            ]
            connection.client.notify("workspace/didChangeWatchedFiles", {"changes": events})
        own = [change for change in changes if connection.is_own(change.path)]
        if own:
            _RULES[spec.after_change](self, own)
        if any(connection.is_used(change.path) for change in changes):
            self.elsewhere = True

    def catch_up(self) -> None:
        """Does what a change elsewhere makes necessary, before the next question."""
        if self.elsewhere:
            self.elsewhere = False
            _RULES_ELSEWHERE[self.connection.spec.after_change](self)

    def notified(self, method: str, params: msgspec.Raw) -> None:
        """Every notification of the server passes here."""
        if self._log is not None and method == "window/logMessage":
            self._log(str(msgspec.json.decode(params).get("message", "")))

    async def settle(self) -> None:
        """Returns when nothing is pending."""
        while self.pending:
            if self._rescan:
                self._rescan = False
                await self._rescanned()
            elif self._reload:
                self._reload = False
                await self._reloaded()
            elif self._shown:
                await self._seen(self._shown)
            else:
                uri, version = self._awaited.popitem()
                with contextlib.suppress(Overtaken):  # shown anew, which is awaited then, or closed
                    await self.connection.published.taken_in(uri, version)

    # The rules

    def _tell(self, changes: Sequence[Change]) -> None:
        for change in changes:
            if change.disguised and self.connection.spec.trusts_times:
                self.must_restart = True
            elif change.disguised:
                self._reveal(change)

    def _tell_and_rescan(self, changes: Sequence[Change]) -> None:
        self._rescan = self._rescan or any(change.kind != Kind.CHANGED for change in changes)

    def _show_or_reload(self, changes: Sequence[Change]) -> None:
        files = self._changed_files(changes)
        if files is None or len(files) + len(self._shown) > _MANY_SHOWN:
            self._reload = True
            return
        for file, language in files:
            self.connection.documents.show(file, language)
            self._shown.append(file.uri)

    def _reveal_or_reload(self, changes: Sequence[Change]) -> None:
        files = self._changed_files(changes)
        if files is None or len(files) > _MANY:
            self._reload = True
            return
        for file, language in files:
            self.connection.documents.reveal(file, language)

    def _reveal_or_restart(self, changes: Sequence[Change]) -> None:
        # It prefers what it read first: a new file would come last, which it may not after a start.
        files = self._changed_files(changes)
        if files is None or len(files) > _MANY or any(self._leads_out(f) for f, _ in files):
            self.must_restart = True
            return
        for file, language in files:
            self.connection.documents.reveal(file, language)

    def _leads_out(self, file: SourceFile) -> bool:
        """Whether a script takes in, or may have taken in, what would be kept."""
        return self.connection.leads_out or leads_out(file.text, file.path, self.connection.folder)

    def _show_or_restart(self, changes: Sequence[Change]) -> None:
        files = self._changed_files(changes)
        many = files is None or len(files) + len(self._awaited) > _MANY_SHOWN
        if files is None or many or any(self._needs_start(f) for f, _ in files):
            self.must_restart = True
            return
        for file, language in files:
            self._awaited[file.uri] = self.connection.documents.show(file, language)

    def _needs_start(self, file: SourceFile) -> bool:
        """Whether a changed file is not in the database, includes what its flags are not for, was
        the only one with an include, or lacks something of what it said outside its function
        bodies: what was there, or was brought in, would be kept.
        """
        database = self.connection.database
        if file.path not in database.units:
            return True
        includes, before = spelled(file.text), database.files.get(file.path, frozenset())
        if not before <= includes and database.only_one_with(file.path, before - includes):
            return True
        if database.would_lead_nowhere(file.path, includes - before):
            return True  # it would be read for ever
        if not database.can_be_taken_in(file.path, file.text):
            return True
        if database.includes is None:
            return False
        if database.missing and includes != before:
            return True  # what is missing may be another header now
        return not includes <= database.includes

    def _start_over(self, changes: Sequence[Change] = ()) -> None:
        self.must_restart = True

    def _load_anew(self) -> None:
        self._reload = True

    def _do_nothing(self) -> None:
        """It was told."""

    def _changed_files(self, changes: Sequence[Change]) -> list[tuple[SourceFile, str]] | None:
        """The files, if every one of them was there before and can be read."""
        files = [self.connection.read(change.path) for change in changes]
        known = [file for file in files if file is not None]
        same = all(change.kind == Kind.CHANGED for change in changes)
        return known if same and len(known) == len(changes) else None

    def _reveal(self, change: Change) -> None:
        file = self.connection.read(change.path)
        if file is not None:
            self.connection.documents.reveal(*file)

    # What is awaited

    async def _rescanned(self) -> None:
        """An event that surely makes the server look for its files, then its words in order."""
        path = self.connection.some_file()
        file = self.connection.read(path) if path is not None else None
        if path is None or file is None:
            return  # there is no file left that anybody could ask about
        heard = _InOrder(f"for path '{path}'", _RESCAN_BEGINS, self.connection.spec.ready_signal)
        self._log = heard.hear
        try:
            self.connection.documents.show(*file)
            event = {"uri": file[0].uri, "type": Kind.CREATED}
            self.connection.client.notify("workspace/didChangeWatchedFiles", {"changes": [event]})
            await until(heard.all, self.connection.client)
        finally:
            self._log = None

    async def _seen(self, uris: list[str]) -> None:
        """The answer to any question shows that what was opened before it has been taken in."""
        seen = len(uris)
        params = {"textDocument": {"uri": uris[-1]}}
        await self.connection.client.request("textDocument/documentSymbol", params, Any)
        del uris[:seen]

    async def _reloaded(self) -> None:
        client, spec = self.connection.client, self.connection.spec
        if spec.after_change == "quiesce":
            self.connection.readiness.again()
            await client.request(spec.reload_command, None, Any)
            await self.connection.readiness.wait(client)
        else:
            command = {"command": spec.reload_command, "arguments": []}
            await client.request("workspace/executeCommand", command, Any)


@cache
def _end_matcher(patterns: tuple[str, ...]) -> Callable[[str], object]:
    """Whether a path ends as one of the patterns says; a star stands for a part of one name.

    A folder's path ends with a slash and begins with a dot for the project, and so do patterns
    that are for folders: they stand for the whole path, and a star for no hidden folder. All
    folders elsewhere are called ``../``.
    """
    if not patterns:
        return lambda path: False
    ends = [
        re.escape(pattern).replace(r"\*", r"(?!\.)[^/]*")
        if pattern.endswith("/")
        else ".*/" + re.escape(pattern).replace(r"\*", "[^/]*")
        for pattern in patterns
    ]
    return re.compile("|".join(ends), re.DOTALL).fullmatch


def _from(folder: str, path: str) -> str:
    """What a folder is called in patterns."""
    return f".{path[len(folder) :]}/" if is_under(path, folder) else "../"


class _InOrder:
    """Log messages that must come one after the other: two texts, then a pattern."""

    def __init__(self, first: str, second: str, pattern: str) -> None:
        self._expected = [re.escape(first), re.escape(second), pattern]
        self.all = asyncio.Event()

    def hear(self, message: str) -> None:
        if self._expected and re.search(self._expected[0], message):
            self._expected.pop(0)
            if not self._expected:
                self.all.set()


_RULES: dict[str, Callable[[Settler, Sequence[Change]], None]] = {
    "told": Settler._tell,
    "rescan": Settler._tell_and_rescan,
    "reload": Settler._show_or_reload,
    "quiesce": Settler._reveal_or_reload,
    "reindex": Settler._show_or_restart,
    "reveal": Settler._reveal_or_restart,
    "restart": Settler._start_over,
}
_RULES_ELSEWHERE: dict[str, Callable[[Settler], None]] = {
    "told": Settler._do_nothing,
    "rescan": Settler._start_over,  # of what it takes for a library it takes notice after seconds
    "reload": Settler._load_anew,
    "quiesce": Settler._load_anew,
    "reindex": Settler._start_over,
    "reveal": Settler._start_over,
    "restart": Settler._start_over,
}
