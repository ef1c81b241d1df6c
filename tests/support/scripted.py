"""One script, two sources: a language server and a window that answer the same.

A script says per kind of question what each asking gets, the last entry repeated. Behind the
headless source it is followed by a scripted language server, behind the editor source by a
scripted window; in front of both stands the real program, asked over HTTP.
"""

import os
import queue
import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.editor import EditorChild, Message, ScriptedEditor
from tests.support.fake_server import logged
from tests.support.http import HttpServer
from tests.support.program import run
from tests.support.scripted_home import install
from tests.support.watching import HANG_S

__all__ = ["KINDS", "Late", "Scripted", "ScriptedServer", "ScriptedWindow", "SOURCES"]

#: Each kind of question, as a language server knows it.
KINDS = {
    "definition": "textDocument/definition",
    "references": "textDocument/references",
    "hover": "textDocument/hover",
    "documentSymbols": "textDocument/documentSymbol",
    "workspaceSymbols": "workspace/symbol",
    "documentDiagnostics": "textDocument/diagnostic",
}
#: The member of the window's answer that holds what was found.
_MEMBERS = {
    "definition": "locations",
    "references": "locations",
    "hover": "contents",
    "documentSymbols": "symbols",
    "workspaceSymbols": "symbols",
    "documentDiagnostics": "diagnostics",
}
_BOUND = 200
_PING = {"jsonrpc": "2.0", "id": 0, "method": "ping"}


class Late(NamedTuple):
    """An answer that is kept back until ``release``."""

    found: list[Any]


Answer = Callable[[Message], Any]
Script = Mapping[str, Sequence[list[Any] | Late]]


@dataclass
class Scripted(ABC):
    """A running program whose source follows a script."""

    server: HttpServer
    root: Path

    def once(self, tool: str, **arguments: Any) -> Any:
        """One call of ``vscode.lsp.TOOL``: its payload, or its error object."""
        return _outcome(self._say(tool, arguments))

    def call(self, tool: str, **arguments: Any) -> Any:
        """Like ``once``, but waits while the error is retryable."""
        return _outcome(self.server.call(f"vscode.lsp.{tool}", arguments))

    def until_asked(self, kind: str, tool: str, **arguments: Any) -> Any:
        """The outcome of the call during which the source was asked."""
        before = self.asked(kind)
        for _ in range(_BOUND):
            outcome = self.once(tool, **arguments)
            if self.asked(kind) > before:
                return outcome
        raise AssertionError(f"nobody was ever asked for {kind}")

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """The program does not run meanwhile, as if it were busy."""
        os.kill(self.server.process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.server.process.pid, signal.SIGCONT)

    def in_background(self, tool: str, **arguments: Any) -> tuple[threading.Thread, list[Any]]:
        """A call that is under way, and where its outcome will be."""
        self.server.session = self.server.session or self.server.initialize()
        outcomes: list[Any] = []
        asking = threading.Thread(target=lambda: outcomes.append(self.once(tool, **arguments)))
        asking.start()
        return asking, outcomes

    def _say(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        self.server.session = self.server.session or self.server.initialize()
        params = {"name": f"vscode.lsp.{tool}", "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return self.server.say(message, self.server.session).json

    # What each source does in its own way

    @abstractmethod
    def asked(self, kind: str) -> int:
        """How often the source was asked this."""

    @abstractmethod
    def release(self) -> None:
        """The one answer that was kept back arrives."""

    @abstractmethod
    def edit(self, name: str, text: str) -> None:
        """Changes a document."""

    @abstractmethod
    def rotate(self) -> tuple[str, str]:
        """Changes the token: the one before and the one after."""

    @abstractmethod
    def until_warned(self, text: str) -> None:
        """Returns when this was said about a setting at the start."""


@dataclass
class ScriptedServer(Scripted):
    """The headless source: a real child that speaks the Language Server Protocol."""

    folder: Path = Path()

    @classmethod
    @contextmanager
    def start(
        cls, root: Path, home: Path, script: Script, settings: Mapping[str, Any]
    ) -> Iterator["ScriptedServer"]:
        go = home / "programs/go"
        actions = {
            KINDS[kind]: [_action(kind, entry, go) for entry in entries]
            for kind, entries in script.items()
        }
        folder = install(home, actions)
        flags = [f"--set={name}={value}" for name, value in settings.items()]
        server = HttpServer.start([*flags, "--tools", "lsp", str(root)], home)
        try:
            yield cls(server, root, folder)
        finally:
            (folder / "go").touch()
            server.stop()

    def asked(self, kind: str) -> int:
        return sum(message.get("method") == KINDS[kind] for message in logged(self.folder))

    def release(self) -> None:
        (self.folder / "go").touch()

    def edit(self, name: str, text: str) -> None:
        (self.root / name).write_text(text)

    def rotate(self) -> tuple[str, str]:
        before = self.server.token
        run(self.server.home, "token", "rotate")
        return before, self.server.token

    def until_warned(self, text: str) -> None:
        self.server.log.until(text)


@dataclass
class ScriptedWindow(Scripted):
    """The editor source: the other end of the bridge."""

    window: ScriptedEditor = field(kw_only=True)
    documents: list[Message]
    held: "queue.Queue[Message]"

    @classmethod
    @contextmanager
    def start(
        cls, root: Path, home: Path, script: Script, settings: Mapping[str, Any]
    ) -> Iterator["ScriptedWindow"]:
        turns: dict[str, int] = {}
        documents: list[Message] = []
        held: queue.Queue[Message] = queue.Queue()

        def sync(_: Message) -> Any:
            told = {"documents": list(documents)}
            documents.clear()
            return told

        def answer(question: Message) -> Any:
            kind = question["ask"]
            turn = turns[kind] = turns.get(kind, -1) + 1
            entry = script[kind][min(turn, len(script[kind]) - 1)]
            found = entry.found if isinstance(entry, Late) else entry
            result = {"language": "python", "loaded": True, _MEMBERS[kind]: found}
            if isinstance(entry, Late):
                held.put({"type": "answer", "id": question["id"], "result": result})
                return NotImplemented
            return result

        answers: dict[str, Answer] = dict.fromkeys(script, answer)
        answers["sync"] = sync
        window = ScriptedEditor.start(root, home, answers, settings=dict(settings))
        try:
            yield cls(window.child, root, documents, held, window=window)
        finally:
            window.child.stop()

    def asked(self, kind: str) -> int:
        return len(self.window.said(kind))

    def release(self) -> None:
        self._child.tell(self.held.get(timeout=HANG_S))

    def edit(self, name: str, text: str) -> None:
        """In the window, unsaved."""
        uri = (self.root / name).as_uri()
        self.documents.append({"uri": uri, "open": True, "dirty": True, "digest": "", "text": text})
        self._child.tell({"type": "text", "uri": uri})

    def rotate(self) -> tuple[str, str]:
        before, after = self._child.token, "rotated-token-0123456789abcdefghijklmnopqr"
        self._child.tell({"type": "tokens", "tokens": [after]})
        self._child.tokens = [after]
        while self.server.request(_PING).status == 401:  # until it has read the message
            pass
        return before, after

    def until_warned(self, text: str) -> None:
        (ready,) = (message for message in self._child.seen if message["type"] == "ready")
        assert text in "\n".join(ready["warnings"])

    @property
    def _child(self) -> EditorChild:
        return self.window.child


SOURCES: dict[str, type[ScriptedServer] | type[ScriptedWindow]] = {
    "headless": ScriptedServer,
    "editor": ScriptedWindow,
}


def _outcome(answer: Any) -> Any:
    return answer["error"] if "error" in answer else answer["result"]["structuredContent"]


def _action(kind: str, entry: list[Any] | Late, go: Path) -> Message:
    found = entry.found if isinstance(entry, Late) else entry
    result: Any = found
    if kind == "hover":
        result = {"contents": found[0]}
    elif kind == "documentDiagnostics":
        result = {"kind": "full", "items": found}
    elif kind == "workspaceSymbols":
        result = [
            {"name": s["name"], "kind": s["kind"], "location": {k: s[k] for k in ("uri", "range")}}
            for s in found
        ]
    return {"result": result} | ({"after": str(go)} if isinstance(entry, Late) else {})
