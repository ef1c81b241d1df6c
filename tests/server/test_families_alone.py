"""A family that is not served costs nothing: without ``lsp`` no language server starts."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.http import HttpServer
from tests.support.program import run
from tests.support.stdio import StdioServer


def _servers(home: Path) -> list[str]:
    (report,) = json.loads(run(home, "status", "--json").stdout)
    return [row["name"] for row in report["servers"]]


@pytest.mark.parametrize("families", ["index", "context", "index,context"])
def test_no_language_server_starts_over_stdio(
    home: Path, sample: Path, stdio: Callable[..., StdioServer], families: str
) -> None:
    server = stdio(str(sample), "--tools", families)
    server.initialize()
    if "index" in families:
        server.call("index_build", {})
        assert server.call("search", {"query": "area"})["result"]["structuredContent"]["items"]
    assert server.request("tools/list")["result"]["tools"]
    assert _servers(home) == []


def test_no_language_server_starts_over_http(
    home: Path, sample: Path, serve: Callable[..., HttpServer]
) -> None:
    server = serve(sample, "--tools", "index")
    server.call("index_build", {})
    assert server.call("search", {"query": "area"})["result"]["structuredContent"]["items"]
    assert _servers(home) == []


def test_with_the_family_it_starts_ahead(
    home: Path, sample: Path, stdio: Callable[..., StdioServer]
) -> None:
    server = stdio(str(sample), "--tools", "lsp")
    server.initialize()
    assert _servers(home) == ["ty"]
