"""The editor's side of the bridge, played by a test against a real child process.

``EditorChild`` is the child and the wire. ``ScriptedEditor`` answers as a test tells it to, for
what a real window cannot be made to do. ``ServersEditor`` answers from real language servers, so
that tests written for the headless source run unchanged against the editor source.
"""

import asyncio
import contextlib
import json
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from sightline.contract.failures import Failure, NotReady, Unavailable
from sightline.contract.source import RawDiagnostic, RawSymbol
from sightline.contract.values import Hover, Location, Position
from sightline.lsp.install.store import Store
from sightline.lsp.pool import Pool
from sightline.lsp.registry import builtin
from sightline.lsp.start.launcher import Launcher
from sightline.workspace.changes import Change
from sightline.workspace.roots import open_root
from sightline.workspace.view import View
from sightline.workspace.workspace import Workspace
from tests.support.engine import INSTALLED
from tests.support.http import HttpServer, free_port
from tests.support.program import command, environment
from tests.support.watching import HANG_S

__all__ = ["TOKEN", "EditorChild", "Fails", "ScriptedEditor", "ServersEditor", "hello"]

TOKEN = "editor-test-token-0123456789abcdefghijklmn"

Message = dict[str, Any]


def hello(folders: Sequence[Path], port: int, **more: Any) -> Message:
    """A good first message, except for what is replaced."""
    settings = {"port": port} | more.pop("settings", {})
    return {
        "type": "hello",
        "bridge": 1,
        "tokens": [TOKEN],
        "roots": [str(folder) for folder in folders],
        "trusted": True,
        "settings": settings,
        "editor": "a test",
        "identity": "1",
    } | more


@dataclass
class EditorChild(HttpServer):
    """``sightline serve --source editor`` with a test at the other end of its pipes."""

    received: "queue.Queue[Message]" = field(default_factory=queue.Queue)
    seen: list[Message] = field(default_factory=list)
    answer: Callable[[Message], None] = lambda question: None
    tokens: list[str] = field(default_factory=lambda: [TOKEN])
    _writing: Any = field(default_factory=threading.Lock)
    _threads: list[threading.Thread] = field(default_factory=list)

    @classmethod
    def spawn(cls, arguments: Sequence[str], home: Path, port: int = 0) -> "EditorChild":
        process = subprocess.Popen(
            command("serve", "--source", "editor", *arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(home),
            cwd=home,
        )
        child = cls(process, port or free_port(), home)
        for work in (child._read, lambda: child._read_log(threading.Event())):
            thread = threading.Thread(target=work, daemon=True)
            thread.start()
            child._threads.append(thread)
        return child

    @property
    def token(self) -> str:
        return self.tokens[0]

    def tell(self, message: Message | bytes) -> None:
        """One message of the bridge."""
        line = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
        assert self.process.stdin is not None
        with self._writing, contextlib.suppress(BrokenPipeError, ValueError):
            self.process.stdin.write(line)
            self.process.stdin.flush()

    def next(self, *types: str) -> Message:
        """The next message that is no question, which must be of one of these types."""
        message = self.received.get(timeout=HANG_S)
        assert message["type"] in types, message
        return message

    def ended(self) -> int:
        """Closes the child's input; its exit code."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        return self.process.wait(HANG_S)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ends the child as an editor does, by closing its input; its exit code."""
        del number  # an editor sends no signal
        assert self.process.stdin and self.process.stdout
        with contextlib.suppress(BrokenPipeError, ValueError):
            self.process.stdin.close()
        try:
            self.process.wait(HANG_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)
            raise AssertionError("the child did not end with its input") from None
        finally:
            for thread in self._threads:
                thread.join(HANG_S)
            self.process.stdout.close()
            assert self.process.stderr is not None
            self.process.stderr.close()
        return self.process.returncode

    def _read(self) -> None:
        assert self.process.stdout is not None
        with contextlib.suppress(ValueError):
            for line in self.process.stdout:
                message = json.loads(line)
                self.seen.append(message)
                if message["type"] in ("question", "cancel"):
                    self.answer(message)
                else:
                    self.received.put(message)
        self.received.put({"type": "end"})


class Fails(Exception):
    """What a scripted answer raises to fail the question."""

    def __init__(self, kind: str, reason: str = "") -> None:
        super().__init__(reason)
        self.message = {"type": "failed", "kind": kind, "reason": reason}


Script = Callable[[Message], Any]


@dataclass
class ScriptedEditor:
    """A window that answers each kind of question as it is told."""

    child: EditorChild
    script: dict[str, Script] = field(default_factory=dict)
    questions: list[Message] = field(default_factory=list)
    cancelled: "queue.Queue[int]" = field(default_factory=queue.Queue)
    _heard: threading.Condition = field(default_factory=threading.Condition)

    @classmethod
    def start(
        cls,
        root: Path,
        home: Path,
        script: dict[str, Script] | None = None,
        arguments: Sequence[str] = (),
        **more: Any,
    ) -> "ScriptedEditor":
        child = EditorChild.spawn(arguments, home)
        editor = cls(child, dict(script or {}))
        child.answer = editor._answer
        roots = more.pop("roots", [root])
        child.tell(hello(roots, child.port, **more))
        child.next("welcome")
        child.next("ready")
        return editor

    def said(self, ask: str) -> list[Message]:
        return [question for question in self.questions if question["ask"] == ask]

    def until_said(self, ask: str) -> Message:
        """The first question of this kind, as soon as it is there."""
        with self._heard:
            assert self._heard.wait_for(lambda: self.said(ask), HANG_S), f"nobody asked for {ask}"
            return self.said(ask)[0]

    def once(self, tool: str, **arguments: Any) -> Any:
        """One call of ``vscode.lsp.TOOL``, not repeated: its payload, or its error object."""
        child = self.child
        child.session = child.session or child.initialize()
        params = {"name": f"vscode.lsp.{tool}", "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = child.say(message, child.session).json
        return answer["error"] if "error" in answer else answer["result"]["structuredContent"]

    def call(self, tool: str, **arguments: Any) -> Any:
        """Like ``once``, but waits while the error is retryable."""
        answer = self.child.call(f"vscode.lsp.{tool}", arguments)
        return answer["error"] if "error" in answer else answer["result"]["structuredContent"]

    def _answer(self, message: Message) -> None:
        if message["type"] == "cancel":
            self.cancelled.put(message["id"])
            return
        with self._heard:
            self.questions.append(message)
            self._heard.notify_all()
        defaults: dict[str, Script] = {
            "sync": lambda _: {"documents": []},
            "unwatched": lambda question: {"uris": []},
            "prepare": lambda _: {"language": "python", "loaded": True},
        }
        script = self.script.get(message["ask"]) or defaults.get(message["ask"])
        if script is None:
            self.child.tell({"type": "failed", "id": message["id"], "kind": "internal"})
            return
        try:
            result = script(message)
        except Fails as failed:
            self.child.tell(failed.message | {"id": message["id"]})
            return
        if result is not NotImplemented:  # a question that is never answered
            self.child.tell({"type": "answer", "id": message["id"], "result": result})


class ServersEditor:
    """A window whose language extensions are real language servers. Nothing in it is unsaved."""

    def __init__(self, roots: Sequence[Path], cache: Path) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.child: EditorChild | None = None
        self._tasks: dict[int, asyncio.Task[None]] = {}
        asyncio.run_coroutine_threadsafe(self._build(roots, cache), self._loop).result(HANG_S)

    async def _build(self, roots: Sequence[Path], cache: Path) -> None:
        self.workspace = Workspace([open_root(str(root), home=None) for root in roots])
        self.workspace.listen(self._announce)
        registry = builtin()
        launcher = Launcher({"PATH": "/usr/bin:/bin"}, cache, Store(INSTALLED), registry)
        self.pool = Pool(self.workspace, registry, launcher)

    def attach(self, child: EditorChild) -> None:
        self.child = child
        child.answer = self._take

    def close(self) -> None:
        async def close() -> None:
            for task in self._tasks.values():
                task.cancel()
            await self.pool.close()
            self.workspace.close()

        asyncio.run_coroutine_threadsafe(close(), self._loop).result(HANG_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(HANG_S)
        self._loop.close()

    def _take(self, message: Message) -> None:
        def begin() -> None:
            if message["type"] == "cancel":
                task = self._tasks.get(message["id"])
                if task is not None:
                    task.cancel()
                return
            task = self._loop.create_task(self._answer(message))
            self._tasks[message["id"]] = task
            task.add_done_callback(lambda _: self._tasks.pop(message["id"], None))

        self._loop.call_soon_threadsafe(begin)

    def _announce(self, changes: Sequence[Change]) -> None:
        now = int(time.time() * 1000) + 1
        rows = [{"uri": Path(path).as_uri(), "kind": kind, "at": now} for path, kind, _ in changes]
        self._say({"type": "files", "changes": rows})

    def _say(self, message: Message) -> None:
        assert self.child is not None
        self.child.tell(message)

    async def _answer(self, question: Message) -> None:
        try:
            result = await self._ask(question)
        except Failure as failure:
            kind = "notReady" if isinstance(failure, NotReady) else "unavailable"
            reason = failure.waiting_for if isinstance(failure, NotReady) else failure.advice
            failed = {"type": "failed", "id": question["id"], "kind": kind, "reason": reason}
            self._say(failed)
            return
        encoded = msgspec.to_builtins(result)
        self._say({"type": "answer", "id": question["id"], "result": encoded})

    async def _ask(self, question: Message) -> Any:
        view = await self.workspace.begin()
        ask = question["ask"]
        told = {"language": "python", "loaded": True}
        if ask == "sync":
            return {"documents": []}
        if ask == "unwatched":
            return {"uris": []}
        if ask == "prepare":
            return told | {"extension": await self._extension(view, question["uris"])}
        if ask == "workspaceSymbols":
            symbols = (await self.pool.workspace_symbols(question["query"])).items
            return {"symbols": [_workspace_symbol(symbol) for symbol in symbols]}
        if ask == "workspaceDiagnostics":
            files = (await self.pool.workspace_diagnostics(lambda done, all_: None)).items
            rows = [{"uri": u, "diagnostics": list(map(_diagnostic, d))} for u, d in files.items()]
            return {"files": rows, "shown": len(files)}
        file = view.document(question["uri"])
        if ask == "documentSymbols":
            return told | {"symbols": [_symbol(s) for s in await self.pool.document_symbols(file)]}
        if ask == "documentDiagnostics":
            found = await self.pool.document_diagnostics(file)
            return told | {"diagnostics": [_diagnostic(item) for item in found]}
        position = Position(**question["position"])
        if ask == "hover":
            return told | _hover(await self.pool.hover(file, position))
        locations: Sequence[Location]
        if ask == "definition":
            locations = (await self.pool.definition(file, position)).items
        else:
            asked = self.pool.references(file, position, include_declaration=True)
            locations = (await asked).items
        return told | {"locations": list(locations)}

    async def _extension(self, view: View, uris: Sequence[str]) -> str:
        """Whether there is a server for these documents."""
        try:
            for uri in uris:
                await self.pool.document_symbols(view.document(uri))
        except Unavailable:
            return "none"
        return "active"


def _hover(hover: Hover | None) -> Message:
    if hover is None:
        return {"contents": []}
    found: Message = msgspec.to_builtins(hover)
    return found


def _symbol(symbol: RawSymbol) -> Message:
    row: Message = {
        "name": symbol.name,
        "kind": symbol.kind,
        "range": symbol.range,
        "selectionRange": symbol.selection,
        "children": [_symbol(child) for child in symbol.children],
    }
    if isinstance(symbol.container, str):
        row["containerName"] = symbol.container
    return row


def _workspace_symbol(symbol: Any) -> Message:
    row: Message = {
        "name": symbol.name,
        "kind": symbol.kind,
        "range": symbol.location.range,
        "uri": symbol.location.uri,
    }
    if isinstance(symbol.container, str):
        row["containerName"] = symbol.container
    return row


def _diagnostic(item: RawDiagnostic) -> Message:
    found: Message = msgspec.to_builtins(item)
    return found
