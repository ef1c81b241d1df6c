"""Messages: good ones, good ones with damage, and garbage. The seed decides everything."""

import json
import random
from typing import Any

__all__ = ["MARK", "Generator"]

#: Planted in every place but the id of a request, which is the one thing that is repeated.
MARK = "PLANTED-fuzz-91c4d2"

_METHODS = [
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "tools/call",
    "tools/call",
    "notifications/initialized",
    "notifications/cancelled",
    "$/cancelRequest",
    "server/discover",
    "resources/list",
    "",
    " ",
    MARK,
]
_TOOLS = [
    "vscode.lsp.definition",
    "vscode.lsp.references",
    "vscode.lsp.hover",
    "vscode.lsp.documentSymbols",
    "vscode.lsp.workspaceSymbols",
    "vscode.lsp.diagnostics.document",
    "vscode.lsp.diagnostics.workspace",
    "vscode_lsp_hover",
    MARK,
]
_ARGUMENTS = ["uri", "position", "includeDeclaration", "pageSize", "cursor", "query", "extra", MARK]
_IDS: list[Any] = [0, 1, 2, 3, "1", "2", "a", -1, 1.5, 1e21, 2**60, "é", "x" * 256]
_BAD_IDS: list[Any] = [None, True, "", [], {}, "x" * 257, int("9" * 300)]
_TOKENS: list[Any] = ["t", 1, 2**70, True, None, [], 1.5]
_TEXTS = [
    "",
    " ",
    "x",
    "name",
    "file:///etc/passwd",
    f"file:///{MARK}/x.py",
    "http://example.com",
    "é😀\u2028\u0000",
    '"\\',
    "2025-11-25",
    "2024-11-05",
    MARK,
    MARK * 50,
    "x" * 2_000,
]
_NUMBERS: list[Any] = [0, 1, -1, 200, 201, 2**31, 2**53 + 1, 10**30, -(10**400), 0.5, 1e300, -0.0]
_SPLINTERS = [
    b"{", b"}", b"[", b"]", b'"', b",", b":", b"\\", b"\\u", b"\\ud800", b"null", b"NaN", b"1e999",
    b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\0", b"\n", b"\r\n", b"-", b"0x1", b"'",
    b"//", b"9" * 400, b"9" * 5_000, b"[" * 70, b'{"a":' * 70, b'"id":1,', b'"jsonrpc":"2.0",',
]  # fmt: skip


class Generator:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def message(self) -> bytes:
        """The next message."""
        kind = self.random.random()
        if kind < 0.45:
            return json.dumps(self.envelope()).encode()
        if kind < 0.6:
            return json.dumps(self.damaged(self.envelope())).encode()
        if kind < 0.9:
            return self.broken(json.dumps(self.envelope()).encode())
        return self.garbage()

    def envelope(self) -> dict[str, Any]:
        """Something a client could say."""
        pick, choose = self.random.random(), self.random.choice
        if pick < 0.05:
            return {"jsonrpc": "2.0", "id": choose(_IDS), "result": self.value(2)}
        if pick < 0.07:
            error = {"code": choose(_NUMBERS), "message": choose(_TEXTS)}
            return {"jsonrpc": "2.0", "id": choose(_IDS), "error": error}
        method = choose(_METHODS)
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if not (method.startswith(("notifications/", "$/")) and self.random.random() < 0.9):
            message["id"] = choose(_IDS) if self.random.random() < 0.95 else choose(_BAD_IDS)
        if self.random.random() < 0.9:
            message["params"] = self.params(method)
        return message

    def params(self, method: str) -> Any:
        choose = self.random.choice
        if self.random.random() < 0.05:
            return self.value(2)
        match method:
            case "initialize":
                return {
                    "protocolVersion": choose(_TEXTS),
                    "capabilities": {},
                    "clientInfo": {"name": choose(_TEXTS), "version": "1"},
                }
            case "tools/call":
                return self.call()
            case "notifications/cancelled":
                return {"requestId": choose(_IDS + _BAD_IDS), "reason": MARK}
            case "$/cancelRequest":
                return {"id": choose(_IDS + _BAD_IDS)}
            case _:
                return {"cursor": choose([None, "", MARK, 5])} if self.random.random() < 0.3 else {}

    def call(self) -> dict[str, Any]:
        choose = self.random.choice
        position = {"line": choose(_NUMBERS), "character": choose(_NUMBERS)}
        good: dict[str, Any] = {
            "uri": choose(_TEXTS),
            "position": position,
            "includeDeclaration": choose([True, False, MARK]),
            "pageSize": choose(_NUMBERS),
            "cursor": choose([None, MARK, "eyJ2IjoyfQ"]),
            "query": choose(_TEXTS),
            "extra": MARK,
            MARK: 1,
        }
        names = self.random.sample(_ARGUMENTS, self.random.randrange(4))
        arguments = {name: good[name] for name in names}
        params: dict[str, Any] = {"name": choose(_TOOLS), "arguments": arguments}
        if self.random.random() < 0.3:
            params["_meta"] = {"progressToken": choose(_TOKENS), "note": MARK}
        return params

    def value(self, depth: int) -> Any:
        """Any JSON."""
        pick, choose = self.random.random(), self.random.choice
        if depth == 0 or pick < 0.5:
            return choose([None, True, False, choose(_NUMBERS), choose(_TEXTS)])
        size = self.random.randrange(4)
        if pick < 0.75:
            return [self.value(depth - 1) for _ in range(size)]
        return {choose(_TEXTS): self.value(depth - 1) for _ in range(size)}

    def damaged(self, value: Any) -> Any:
        """The same message with one thing in it that is something else."""
        if isinstance(value, dict) and value and self.random.random() < 0.8:
            key = self.random.choice(list(value))
            pick = self.random.random()
            if pick < 0.25:
                return {name: item for name, item in value.items() if name != key}
            if pick < 0.4:
                return value | {self.random.choice(_TEXTS): self.value(1)}
            return value | {key: self.damaged(value[key])}
        return self.value(2)

    def broken(self, body: bytes) -> bytes:
        """The same bytes with up to three of them lost, doubled, swapped or replaced."""
        data = bytearray(body)
        for _ in range(self.random.randrange(1, 4)):
            place = self.random.randrange(len(data) + 1)
            match self.random.randrange(5):
                case 0:
                    del data[place : place + self.random.randrange(1, 9)]
                case 1:
                    data[place:place] = self.random.choice(_SPLINTERS)
                case 2:
                    data[place:place] = data[: self.random.randrange(1, 40)]
                case 3 if place < len(data):
                    data[place] ^= 1 << self.random.randrange(8)
                case _:
                    del data[place:]
        return bytes(data)

    def garbage(self) -> bytes:
        pick = self.random.randrange(5)
        if pick == 0:
            return self.random.randbytes(self.random.randrange(64))
        if pick == 1:
            return b"".join(self.random.choices(_SPLINTERS, k=self.random.randrange(12)))
        if pick == 2:
            return json.dumps(self.value(3)).encode()
        if pick == 3:
            return json.dumps([self.envelope() for _ in range(self.random.randrange(3))]).encode()
        depth = self.random.choice([10, 63, 64, 65, 200, 3_000])
        return b'{"jsonrpc":"2.0","id":1,"method":"ping","params":%b%b}' % (
            b"[" * depth,
            b"]" * depth,
        )
