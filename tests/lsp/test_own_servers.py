"""Servers that only a user's configuration names: they are asked as the built-in ones are."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Workspace
from tests.support import fake_server
from tests.support.program import run
from tests.support.stdio import StdioServer

_PULL = "textDocument/diagnostic"
_SPAN = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 5}}


def _capabilities(**members: Any) -> dict[str, Any]:
    result = {"capabilities": members, "serverInfo": {"name": "lunar", "version": "1"}}
    return {"result": result}


@pytest.fixture
def lua(home: Path, workspace: Workspace) -> Callable[..., Path]:
    """A root of Lua, whose server a user's entry of four lines names; it follows a script."""

    def make(script: dict[str, Any]) -> Path:
        programs = home / "programs"
        programs.mkdir()
        (programs / "script.json").write_text(json.dumps(script))
        command = [sys.executable, fake_server.__file__, str(programs / "script.json")]
        config = home / ".config/sightline"
        config.mkdir(parents=True)
        (config / "sightline.toml").write_text(
            '[languages.lua]\ntitle = "Lua"\nextensions = [".lua"]\n\n'
            f'[servers.lunar]\nlanguages = ["lua"]\ncommand = {json.dumps(command)}\n'
            'found = "path"\nneeds_trust = false\n'
        )
        return workspace({"a.lua": "local a\n", "b.lua": "local b\n", "c.lua": "local c\n"})

    return make


@pytest.mark.requirement("GW-7.7-groups")
def test_a_server_with_document_pull_only_is_swept(
    home: Path, lua: Callable[..., Path], stdio: Callable[..., StdioServer]
) -> None:
    provider = {"interFileDependencies": False, "workspaceDiagnostics": False}
    script: dict[str, Any] = {"initialize": [_capabilities(diagnosticProvider=provider)]}
    root = lua(script)
    answers = []
    for name in ("a", "b", "c"):
        items = [] if name == "c" else [{"range": _SPAN, "message": f"{name} is unused"}]
        params = {"textDocument": {"uri": (root / f"{name}.lua").as_uri()}}
        answers.append({"params": params, "result": {"kind": "full", "items": items}})
    (home / "programs/script.json").write_text(json.dumps(script | {_PULL: answers}))
    server = stdio(str(root))
    server.initialize()
    found = server.call("vscode.lsp.diagnostics.workspace", {})["result"]["structuredContent"]
    assert [item["uri"].rpartition("/")[2] for item in found["items"]] == ["a.lua", "b.lua"]
    assert found["items"][0]["diagnostics"][0]["message"] == "a is unused"
    assert found["summary"].startswith("Returned diagnostics for 2 files.")
    assert "Not checked" not in found["summary"]


def test_a_server_without_diagnostics_is_no_empty_answer(
    home: Path, lua: Callable[..., Path]
) -> None:
    root = lua({"initialize": [_capabilities()]})
    for tool, arguments in (
        ("vscode.lsp.diagnostics.workspace", {}),
        ("vscode.lsp.diagnostics.document", {"uri": (root / "a.lua").as_uri()}),
    ):
        done = run(home, "call", tool, json.dumps(arguments), "--root", root)
        assert done.returncode == 6, done
        error = json.loads(done.stderr)
        assert error["data"]["code"] == "MCP_LSP_GATEWAY/PROVIDER_UNAVAILABLE"
        assert "lunar" in error["message"]
