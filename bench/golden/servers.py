"""Servers that Sightline does not ask, as witnesses: pyright for Python, tsserver for TypeScript.

Both are asked by the least of a client, with every file of the language open.
"""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.bare import BareClient
from bench.golden.pins import ROOT
from bench.golden.sample import Question, files_of

__all__ = ["node", "pyright", "tsserver"]

Place = tuple[str, int, int]
_SERVERS = ROOT / ".cache/share/sightline/servers"
#: pyright reads files that are not open, too; more than this many take it too long.
_MOST_OPEN = 400


def node() -> str:
    found = shutil.which("node")
    if found is None:
        raise SystemExit("Node is needed on the PATH to ask other indexers: install nodejs")
    return found


def pyright(root: Path, questions: Sequence[Question]) -> list[set[Place]]:
    (program,) = _SERVERS.glob("pyright/*/node_modules/pyright/dist/pyright-langserver.js")
    python = root / ".venv/bin/python"
    settings = {
        "python": {
            "pythonPath": str(python if python.exists() else "/nonexistent/python"),
            "analysis": {
                "autoSearchPaths": True,
                "diagnosticMode": "openFilesOnly",
                "extraPaths": [str(folder) for folder in sorted(root.glob("packages/*/src"))],
                "useLibraryCodeForTypes": True,
            },
        }
    }
    client = BareClient(
        [node(), str(program), "--stdio"],
        root,
        {},
        settings=settings,
        capabilities={"workspace": {"configuration": True, "workspaceFolders": True}},
        environment={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"},
    )
    try:
        for path in files_of(root, "python")[:_MOST_OPEN]:
            client.open(root / path)
        found: list[set[Place]] = [set() for _ in questions]
        # Twice, because the first answers come before it has found every file of the folder.
        for places, each in [*zip(found, questions, strict=True)] * 2:
            answer = client.references(root / each.path, each.line - 1, each.column)
            places.update({_place(root, item) for item in answer} - {("", 0, 0)})
        return found
    finally:
        client.close()


def _place(root: Path, item: dict[str, Any]) -> Place:
    prefix, start = root.as_uri() + "/", item["range"]["start"]
    if not item["uri"].startswith(prefix) or "/.venv/" in item["uri"]:
        return "", 0, 0
    path = item["uri"].removeprefix(prefix)
    return path, start["line"] + 1, start["character"]


def tsserver(root: Path, questions: Sequence[Question]) -> list[set[Place]]:
    (program,) = _SERVERS.glob("vtsls/*/node_modules/typescript/lib/tsserver.js")
    process = subprocess.Popen(
        [node(), str(program), "--disableAutomaticTypingAcquisition"],
        cwd=root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    client = _TsServer(process)
    try:
        for language in ("typescript", "javascript"):
            for path in files_of(root, language):
                client.send("open", {"file": str(root / path)})
        return [client.references(root, each) for each in questions]
    finally:
        process.kill()
        process.communicate()


class _TsServer:
    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._number = 0

    def references(self, root: Path, question: Question) -> set[Place]:
        given = {"line": question.line, "offset": question.column + 1}
        body = self.ask("references", {"file": str(root / question.path), **given})
        found = set()
        for item in (body or {}).get("refs", ()):
            file = Path(item["file"]).resolve()
            if file.is_relative_to(root):
                start = item["start"]
                path = file.relative_to(root).as_posix()
                found.add((path, start["line"], start["offset"] - 1))
        return found

    def ask(self, command: str, arguments: dict[str, Any]) -> Any:
        number = self.send(command, arguments)
        while True:
            message = self._read()
            if message.get("type") == "response" and message.get("request_seq") == number:
                return message.get("body")

    def send(self, command: str, arguments: dict[str, Any]) -> int:
        assert self._process.stdin
        self._number += 1
        request = {"seq": self._number, "type": "request", "command": command}
        self._process.stdin.write(json.dumps(request | {"arguments": arguments}).encode() + b"\n")
        self._process.stdin.flush()
        return self._number

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout
        length = 0
        while (line := self._process.stdout.readline()).strip():
            length = int(line.partition(b":")[2])
        read: dict[str, Any] = json.loads(self._process.stdout.read(length))
        return read
