"""A bare client of a language server: the least that can be put between a question and ty.

It frames messages, waits for the answer with its id and parses it, in one thread without an event
loop. What Sightline adds is measured against this.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench import bridge

__all__ = ["BareClient", "BridgedClient"]


class BareClient:
    def __init__(
        self,
        command: list[str],
        root: Path,
        options: dict[str, Any],
        *,
        environment: Mapping[str, str] | None = None,
        settings: Mapping[str, Any] | None = None,
        capabilities: Mapping[str, Any] | None = None,
        language: str = "python",
    ) -> None:
        self._settings = settings or {}
        self._language = language
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=root,
            env=environment or {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"},
        )
        self._ids = 0
        self._open: set[str] = set()
        folder = {"uri": root.as_uri(), "name": root.name}
        self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": folder["uri"],
                "workspaceFolders": [folder],
                "capabilities": capabilities or {"general": {"positionEncodings": ["utf-16"]}},
                "initializationOptions": options,
            },
        )
        self.notify("initialized", {})
        if settings:
            self.notify("workspace/didChangeConfiguration", {"settings": settings})

    @property
    def pid(self) -> int:
        return self._process.pid

    def open(self, file: Path) -> str:
        """The document's address, once the server was shown it."""
        uri = file.as_uri()
        if uri not in self._open:
            self._open.add(uri)
            text = file.read_text(encoding="utf-8")
            document = {"uri": uri, "languageId": self._language, "version": 1, "text": text}
            self.notify("textDocument/didOpen", {"textDocument": document})
        return uri

    def symbols(self, file: Path) -> list[dict[str, Any]]:
        params = {"textDocument": {"uri": self.open(file)}}
        return self.request("textDocument/documentSymbol", params) or []

    def hover(self, file: Path, place: dict[str, int]) -> Any:
        params = {"textDocument": {"uri": self.open(file)}, "position": place}
        return self.request("textDocument/hover", params)

    def references(self, file: Path, line: int, character: int) -> list[dict[str, Any]]:
        uri = self.open(file)
        found: list[dict[str, Any]] = self.request(
            "textDocument/references",
            {
                "textDocument": {"uri": uri},
                "position": {"line": line, "character": character},
                "context": {"includeDeclaration": True},
            },
        )
        return found or []

    def request(self, method: str, params: Any) -> Any:
        self._ids += 1
        self._send({"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params})
        while True:
            message = self._read()
            if "method" in message and "id" in message:
                result = self._configured(message)
                self._send({"jsonrpc": "2.0", "id": message["id"], "result": result})
            elif message.get("id") == self._ids:
                return message.get("result")

    def _configured(self, message: Any) -> Any:
        """The settings a server asks for; nothing for every other request of it."""
        if message["method"] != "workspace/configuration":
            return None
        found: list[Any] = []
        for item in message["params"]["items"]:
            value: Any = self._settings
            for part in (item.get("section") or "").split("."):
                value = value.get(part) if part and isinstance(value, Mapping) else value
            found.append(value)
        return found

    def notify(self, method: str, params: Any) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def close(self) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def _send(self, message: Any) -> None:
        assert self._process.stdin
        body = json.dumps(message).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._process.stdin.flush()

    def _read(self) -> Any:
        assert self._process.stdout
        length = 0
        while (line := self._process.stdout.readline()) != b"\r\n":
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return json.loads(self._process.stdout.read(length))


class BridgedClient(BareClient):
    """The same client behind a process that only passes messages on (see bridge.py)."""

    def __init__(
        self, command: list[str], root: Path, options: dict[str, Any], **rest: Any
    ) -> None:
        relay = [sys.executable, "-I", "-S", bridge.__file__]
        super().__init__([*relay, *command], root, options, **rest)

    def close(self) -> None:
        """Its server ends with its input."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _send(self, message: Any) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _read(self) -> Any:
        assert self._process.stdout
        return json.loads(self._process.stdout.readline())
