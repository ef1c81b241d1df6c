"""A name that no tool has: which one was probably meant, as a client is told."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.leaks import OUTSIDE
from tests.support.stdio import StdioServer


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("serch", "search"),
        ("hover", "vscode.lsp.hover"),
        ("vscode_lsp_hover", "vscode.lsp.hover"),
        ("mcp__sightline__vscode_lsp_documentSymbols", "vscode.lsp.documentSymbols"),
        ("find_references", "vscode.lsp.references"),
        ("goto_definition", "vscode.lsp.definition"),
        ("list_caches", "context.list_caches"),
        ("diagnostics.workspaces", "vscode.lsp.diagnostics.workspace"),
        ("SEARCH", "search"),
        ("vscode.lsp.rename", None),
        ("zzz", None),
        ("", None),
        (f"{OUTSIDE}search", "search"),
    ],
)
def test_the_tool_that_is_meant(
    stdio: Callable[..., StdioServer], tmp_path: Path, name: str, meant: str | None
) -> None:
    client = stdio(tmp_path)
    client.initialize()
    error = client.call(name, {})["error"]
    hint = (
        f"; did you mean {meant}? tools/list names them all" if meant else "; tools/list names them"
    )
    code = "MCP_LSP_GATEWAY/INVALID_PARAMS"
    assert error["message"] == f"Invalid params: there is no such tool{hint} [{code}]"
    assert (error["code"], error["data"]) == (-32602, {"code": code})


def test_only_what_is_served_is_named(stdio: Callable[..., StdioServer], tmp_path: Path) -> None:
    client = stdio(tmp_path, "--tools", "lsp", "--set", "tool_names=underscore")
    client.initialize()
    assert "did you mean" not in client.call("serch", {})["error"]["message"]
    assert "mean vscode_lsp_hover?" in client.call("vscode.lsp.hover", {})["error"]["message"]
