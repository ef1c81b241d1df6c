"""The index tools through everything: HTTP, stdio and both command lines give the same bytes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.http import HttpServer
from tests.support.program import run
from tests.support.stdio import StdioServer

QUESTION = {"query": "area of a rectangle", "pageSize": 2}


def payload(answer: dict[str, Any]) -> Any:
    """What a result says, once as structured content and once as text."""
    result = answer["result"]
    assert result["isError"] is False
    (content,) = result["content"]
    assert json.loads(content["text"]) == result["structuredContent"]
    return result["structuredContent"]


@pytest.mark.requirement("ST-5.1-json-text", "ST-5.1-not-an-error")
def test_one_answer_on_every_way_in(
    serve: Callable[..., HttpServer], stdio: Callable[..., StdioServer], home: Path, sample: Path
) -> None:
    http = serve(sample)
    built = payload(http.call("index_build", {}))
    assert built["summary"].startswith("Indexed 2 files")
    over_http = payload(http.call("search", QUESTION))
    first = over_http["items"][0]
    assert (first["path"], first["name"], first["kind"]) == ("shapes.py", "area", "function")
    assert first["position"] == {"line": 0, "character": 4}

    line = stdio(sample)
    line.initialize()
    assert payload(line.call("search", QUESTION)) == over_http

    by_call = run(home, "call", "search", json.dumps(QUESTION), "--root", sample)
    assert (by_call.returncode, by_call.stderr) == (0, "")
    command = ("index", "search", QUESTION["query"], "--page-size", "2", "--json", "--root", sample)
    by_command = run(home, *command)  # type: ignore[arg-type]
    assert by_command.stdout == by_call.stdout
    assert json.loads(by_call.stdout) == over_http


def test_no_index_is_said_on_every_way_in(
    stdio: Callable[..., StdioServer], home: Path, sample: Path
) -> None:
    line = stdio(sample)
    line.initialize()
    result = line.call("search", QUESTION)["result"]
    assert result["isError"] is True and "structuredContent" not in result
    error = json.loads(result["content"][0]["text"])
    assert error["code"] == "NO_INDEX" and "index_build" in error["message"]
    assert error["details"] == {"building": False, "filesIndexed": 0, "filesTotal": 0}
    by_command = run(home, "index", "search", "area", "--root", sample, "--json")
    assert by_command.returncode == 4 and by_command.stdout == ""
    assert json.loads(by_command.stderr)["code"] == "NO_INDEX"
    for_people = run(home, "index", "search", "area", "--root", sample)
    assert for_people.returncode == 4 and "sightline index build" in for_people.stderr
