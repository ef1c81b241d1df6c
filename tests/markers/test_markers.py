"""Every marker file, three ways: over HTTP, over stdio and from the command line.

The three answers must be the same bytes. ``pytest tests/markers --update-markers`` writes what
came out into the files; the diff is then what changed.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.markers.archive import Archive, masked, shown
from tests.support.http import HttpServer
from tests.support.program import run
from tests.support.stdio import StdioServer

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*/*.txt"))

Ask = Callable[[str, dict[str, Any]], Any]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_marker(
    file: Path,
    tmp_path: Path,
    installed: Path,
    serve: Callable[..., HttpServer],
    stdio: Callable[..., StdioServer],
    request: pytest.FixtureRequest,
) -> None:
    archive = Archive.read(file.read_text(encoding="utf-8"))
    root = tmp_path / "root"
    root.mkdir()
    archive.write_to(root)
    if any(not call.tool.startswith(("vscode.", "context.")) for call in archive.calls):
        # One index for all three ways, so that what a build reports is the same in each.
        assert run(installed, "index", "build", root).returncode == 0
    client = stdio(root)
    client.initialize()
    ways: dict[str, Ask] = {"http": serve(root).call, "stdio": client.call}
    ways["command line"] = lambda tool, arguments: command(installed, root, tool, arguments)
    by_way = {name: play(archive, root, ask) for name, ask in ways.items()}
    # Compared as text, members in their order: the same bytes, not only the same values.
    assert len({json.dumps(answers) for answers in by_way.values()}) == 1, by_way
    answers = [masked(answer, root) for answer in by_way["http"]]
    if request.config.getoption("--update-markers"):
        file.write_text(archive.rewritten([shown(a) for a in answers]), encoding="utf-8")
        return
    assert answers == [json.loads(call.expected) for call in archive.calls]


def play(archive: Archive, root: Path, ask: Ask) -> list[Any]:
    """The payload or error of every call, in order."""
    answers: list[Any] = []
    before: dict[str, Any] = {}
    for call in archive.calls:
        answer = ask(call.tool, archive.resolve(call.arguments, root, before))
        before = outcome(answer)
        answers.append(before)
    return answers


def outcome(answer: dict[str, Any]) -> dict[str, Any]:
    """What a client learns from an answer."""
    if "error" in answer:
        error = answer["error"]
        return {"error": {key: error[key] for key in ("code", "message", "data") if key in error}}
    result = answer["result"]
    if result.get("isError"):
        failed: dict[str, Any] = {"isError": json.loads(result["content"][0]["text"])}
        return failed
    payload: dict[str, Any] = result["structuredContent"]
    return payload


def command(home: Path, root: Path, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The same call from the command line, in the shape of a JSON-RPC answer."""
    done = run(home, "call", tool, json.dumps(arguments), "--root", root, "--envelope")
    if done.returncode == 0:
        return {"result": json.loads(done.stdout)}
    error = json.loads(done.stderr)
    if isinstance(error["code"], int):
        return {"error": error}
    return {"result": {"isError": True, "content": [{"text": json.dumps(error)}]}}
