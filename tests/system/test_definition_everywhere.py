"""One tool through everything: HTTP, stdio and the command line give the same answer."""

import json
from collections.abc import Callable
from pathlib import Path

from tests.support.http import HttpServer
from tests.support.program import run
from tests.support.stdio import StdioServer

TOOL = "vscode.lsp.definition"


def arguments(sample: Path) -> dict[str, object]:
    uri = (sample / "main.py").as_uri()
    return {"uri": uri, "position": {"line": 2, "character": 7}}


def expected(sample: Path) -> dict[str, object]:
    span = {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 8}}
    location = {"uri": (sample / "shapes.py").as_uri(), "range": span}
    return {"locations": [location], "summary": "Found 1 definition."}


def test_over_http(serve: Callable[..., HttpServer], sample: Path) -> None:
    answer = serve(sample).call(TOOL, arguments(sample))
    assert answer["result"] == {
        "isError": False,
        "structuredContent": expected(sample),
        "content": [],
    }


def test_over_stdio(stdio: Callable[..., StdioServer], sample: Path) -> None:
    server = stdio(sample)
    server.initialize()
    answer = server.call(TOOL, arguments(sample))
    assert answer["result"]["structuredContent"] == expected(sample)


def test_from_the_command_line(home: Path, sample: Path) -> None:
    done = run(home, "call", TOOL, json.dumps(arguments(sample)), "--root", sample)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == expected(sample)
    assert done.stdout.count("\n") == 1
