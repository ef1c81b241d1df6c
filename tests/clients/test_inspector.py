"""MCP Inspector in its command mode: over stdio, and over HTTP with the token."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.clients.installed import QUIET, path_with
from tests.support.http import HttpServer
from tests.support.program import command, environment

pytestmark = [pytest.mark.client, pytest.mark.slow]

Inspect = Callable[..., Any]


@pytest.fixture
def inspect(home: Path, sample: Path, tmp_path: Path) -> Inspect:
    path = path_with(tmp_path / "bin", "mcp-inspector")

    def run(*words: str) -> Any:
        done = subprocess.run(
            ["mcp-inspector", "--cli", *words],
            env=environment(home) | QUIET | {"PATH": path},
            cwd=sample,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    return run


def question(sample: Path) -> list[str]:
    place = json.dumps({"line": 2, "character": 7})
    uri = (sample / "main.py").as_uri()
    asked = ["--tool-arg", f"uri={uri}", "--tool-arg", f"position={place}"]
    return ["tools/call", "--tool-name", "vscode.lsp.definition", *asked]


def test_over_stdio(inspect: Inspect, sample: Path) -> None:
    begin = [*command("stdio", sample), "--method"]
    assert len(inspect(*begin, "tools/list")["tools"]) >= 7
    found = inspect(*begin, *question(sample))["structuredContent"]["locations"]
    assert [location["uri"] for location in found] == [(sample / "shapes.py").as_uri()]


def test_over_http(inspect: Inspect, sample: Path, serve: Callable[..., HttpServer]) -> None:
    server = serve(sample)
    token = f"Authorization: Bearer {server.token}"
    begin = [server.url, "--transport", "http", "--header", token, "--method"]
    assert len(inspect(*begin, "tools/list")["tools"]) >= 7
    found = inspect(*begin, *question(sample))["structuredContent"]["locations"]
    assert [location["uri"] for location in found] == [(sample / "shapes.py").as_uri()]
