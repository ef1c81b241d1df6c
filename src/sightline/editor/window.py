"""What the child knows of the editor's window, and the one place where its events arrive.

Texts of unsaved documents are fetched when a call begins, not while somebody types. The workspace
stays the owner of epochs: this module only tells it what it learned.
"""

import asyncio
import hashlib
import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sightline.contract.failures import Failure, UriInvalid
from sightline.contract.uris import is_under, path_of, uri_of
from sightline.editor import messages as m
from sightline.editor.announcements import Announcements
from sightline.editor.bridge import Bridge
from sightline.workspace.changes import Change, Kind
from sightline.workspace.gate import Gate
from sightline.workspace.roots import BadRoot, Root, open_root
from sightline.workspace.workspace import Workspace

__all__ = ["Document", "Window", "roots_of", "text_digest"]


class Document(NamedTuple):
    """A document that is open in the window, by the real path of its file."""

    dirty: bool
    digest: str
    text: str | None


class Window:
    def __init__(
        self,
        bridge: Bridge,
        workspace: Workspace,
        hello: m.Hello,
        *,
        clock: Callable[[], float],
        tokens: Callable[[list[str]], None],
        leave: Callable[[], None],
        roots: Callable[[Sequence[str]], list[Root]],
    ) -> None:
        self.bridge = bridge
        self.workspace = workspace
        self.editor = m.reason(hello.editor)
        self.identity = hello.identity
        self.accept_unproven = hello.acceptUnproven
        self.announcements = Announcements(clock)
        #: Rises with everything that can make an answer under way belong to another state.
        self.changes = 0
        #: What ``changes`` was when the window was last caught up with.
        self.synced = 0
        self.documents: dict[str, Document] = {}
        #: Files changed on disk since the editor last agreed with the disk about them.
        self.behind: set[str] = set()
        #: Files that came and that a language server may not know yet, and since when.
        self.created: dict[str, float] = {}
        self._clock = clock
        self._tokens = tokens
        self._leave = leave
        self._roots = roots
        self._sync: asyncio.Task[None] | None = None
        #: Set when the text of a document changed.
        self.news = asyncio.Event()
        workspace.listen(self._changed_on_disk)

    async def sync(self) -> None:
        """Catches up with everything the window did before this moment."""
        # Never cancelled with its caller: what it brings is told once.
        self._sync = asyncio.create_task(self._catch_up(), name="sync with the editor")
        await asyncio.shield(self._sync)

    async def next_text(self, seconds: float) -> None:
        """Returns when the text of a document changed since ``news`` was cleared, or late."""
        try:
            async with asyncio.timeout(seconds):
                await self.news.wait()
        except TimeoutError:
            return

    def event(self, message: m.FromEditor) -> None:
        """Something happened in the window."""
        match message:
            case m.TextChanged():
                self.changes += 1
                self.news.set()
            case m.FilesAnnounced():
                self._files(message)
            case m.DiagnosticsChanged(uris=uris):
                if any(self._inside(uri) is not None for uri in uris):
                    self.workspace.diagnostics_changed()
            case m.Folders(roots=paths):
                self.changes += 1
                roots = self._roots(paths)
                self.workspace.follow(roots)
                if not roots:
                    self._leave()
            case m.Trust(trusted=trusted):
                if not trusted:
                    self._leave()
            case m.Tokens(tokens=tokens):
                self._tokens(tokens)
            case m.Restarted(identity=identity):
                self.changes += 1
                self.identity = identity
                self.workspace.source_changed()
            case _:
                pass  # answers never come here

    def uri(self, path: str) -> str:
        """How the window spells a file: below the folder as it was opened there, not its target."""
        root = self.workspace.roots.containing(path)
        return uri_of(path if root is None else root.given + path[len(root.real) :])

    def agrees(self, path: str) -> bool:
        """Whether the window's text of a saved document is the one on disk."""
        document = self.documents.get(path)
        if document is None or document.dirty:
            return True
        try:
            return text_digest(self.workspace.read(uri_of(path)).text) == document.digest
        except Failure:
            return True  # gone or not text: nobody will be shown it

    async def _catch_up(self) -> None:
        answer = await self.bridge.ask("sync", m.SyncAnswer)
        self.synced = self.changes  # the answer came after every event that it contains
        gate = Gate(self.workspace.roots)
        for document in answer.documents:
            self._note(gate, document)
        self.workspace.hold({path: d.text for path, d in self.documents.items() if d.dirty})

    def _note(self, gate: Gate, document: m.OpenDocument) -> None:
        try:
            path = gate.admit(document.uri).path
        except Failure:
            return  # outside the roots, or not on disk: nobody can ask about it
        if document.open:
            self.documents[path] = Document(document.dirty, document.digest, document.text)
        else:
            self.documents.pop(path, None)

    def _files(self, message: m.FilesAnnounced) -> None:
        for change in message.changes:
            path = self._inside(change.uri)
            if path is not None:
                self.changes += 1
                self.announcements.told(path, change.kind, change.at)

    def _inside(self, uri: str) -> str | None:
        """The real path of a file of the roots, by text: it need not exist any more."""
        try:
            path = path_of(uri).rstrip("/")
        except UriInvalid:
            return None
        for root in self.workspace.roots.roots:
            if is_under(path, root.given):
                return root.real + path[len(root.given) :]
            if is_under(path, root.real):
                return path
        return None

    def _changed_on_disk(self, changes: Sequence[Change]) -> None:
        self.announcements.expect(changes)
        for path, kind, _ in changes:
            if path in self.documents:
                self.behind.add(path)
            if kind == Kind.CREATED:
                self.created[path] = self._clock()
            elif kind == Kind.DELETED:
                self.created.pop(path, None)
                self.behind.discard(path)


def roots_of(paths: Sequence[str], more: Sequence[str], home: str) -> list[Root]:
    """The window's folders and the additional ones. What cannot be a root is not one."""
    roots: list[Root] = []
    for path in [*paths, *more]:
        try:
            if os.path.isabs(path):
                roots.append(open_root(path, home=home))
        except BadRoot:
            continue
    return roots


def text_digest(text: str) -> str:
    """What ``OpenDocument.digest`` holds."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()
