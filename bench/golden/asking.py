"""Asks Sightline the questions of a code base, over stdio, in one session."""

import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.golden.pins import ROOT
from bench.golden.sample import Question
from tests.support.stdio import StdioServer

__all__ = ["Answer", "Place", "ask"]

_PAGE = 200
Place = tuple[str, int, int]


class Answer(NamedTuple):
    #: Lines from 1, columns from 0.
    places: frozenset[Place]
    summary: str
    #: The error, where there was no answer.
    refused: str
    milliseconds: float


def ask(root: Path, questions: Sequence[Question]) -> list[Answer]:
    with tempfile.TemporaryDirectory() as home:
        installed = {"XDG_DATA_HOME": str(ROOT / ".cache/share")}
        server = StdioServer.start([str(root), "--tools", "lsp"], Path(home), installed)
        server.initialize()
        try:
            return [_asked(server, root, question) for question in questions]
        finally:
            server.stop()


def _asked(server: StdioServer, root: Path, question: Question) -> Answer:
    given: dict[str, Any] = {
        "uri": (root / question.path).as_uri(),
        "position": {"line": question.line - 1, "character": question.column},
        "includeDeclaration": True,
        "pageSize": _PAGE,
    }
    begun = time.perf_counter()
    places: set[Place] = set()
    first = 0.0
    while True:
        message = server.call("vscode.lsp.references", given)
        first = first or (time.perf_counter() - begun) * 1000
        content = message.get("result", {}).get("structuredContent")
        if content is None:
            error = message.get("error", {})
            code = error.get("data", {}).get("code", "")
            return Answer(frozenset(), "", str(code or json.dumps(message)), first)
        for item in content["items"]:
            start = item["range"]["start"]
            path = item["uri"].removeprefix(root.as_uri() + "/")
            places.add((path, start["line"] + 1, start["character"]))
        if content["nextCursor"] is None:
            return Answer(frozenset(places), content["summary"], "", first)
        given["cursor"] = content["nextCursor"]
