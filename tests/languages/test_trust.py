"""No code of a workspace runs before its user trusted it, whatever is asked."""

import contextlib
import json
import os
import sys
from pathlib import Path

import pytest

from sightline.contract.failures import Failure
from tests.languages.everything import ask_everything
from tests.languages.hostile import Hostile
from tests.languages.samples import ON_PATH, SERVERS, needs, only
from tests.languages.test_untouched import snapshot
from tests.support import fake_server
from tests.support.engine import engine
from tests.support.files import write_files
from tests.support.program import run

NAMES = sorted({name for name, _ in SERVERS})


@pytest.fixture
def hostile(tmp_path: Path) -> Hostile:
    return Hostile(tmp_path / "ws", tmp_path / "outside")


def test_the_traps_work(hostile: Hostile) -> None:
    """A check that cannot fail proves nothing."""
    os.spawnv(os.P_WAIT, str(hostile.root / ".venv/bin/python"), ["python"])
    os.spawnvpe(os.P_WAIT, "git", ["git", "-C", str(hostile.root), "status"], dict(os.environ))
    node = ["node", "-e", "require('evil-plugin')"]
    os.spawnvpe(
        os.P_WAIT, "node", node, {**os.environ, "NODE_PATH": f"{hostile.root}/node_modules"}
    )
    sprung = set(hostile.sprung)
    assert {"venv-bin-python", "hooks-fsmonitor", "node_modules-evil-plugin-index.js"} <= sprung


@pytest.mark.parametrize("server", NAMES)
async def test_no_call_springs_a_trap(server: str, hostile: Hostile, tmp_path: Path) -> None:
    environment = {"PATH": f"{hostile.path}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    cache = tmp_path / "cache"
    cache.mkdir()
    before = snapshot(hostile.root)
    async with engine(
        hostile.root, cache=cache, registry=only(server), environment=environment
    ) as running:
        outcomes = await ask_everything(running, hostile.root, depth=1)
    assert outcomes["answered"] > 3
    assert hostile.sprung == []
    assert not list(cache.rglob("sprung-*"))
    assert snapshot(hostile.root) == before


#: A file of every language, in a folder of the repository.
PART = {
    "main.py": "x = 1\n",
    "main.ts": "export const x = 1\n",
    "main.c": "int x;\n",
    "main.sh": "x=1\n",
    "main.yaml": "x: 1\n",
    "main.json": "{}\n",
    "main.css": "a { color: red }\n",
    "main.html": "<p></p>\n",
    "main.go": "package main\n",
    "main.php": "<?php\n",
}


@pytest.mark.parametrize("server", [*NAMES, "gopls", "intelephense"])
async def test_none_springs_around_a_part_of_a_repository(
    server: str, hostile: Hostile, tmp_path: Path
) -> None:
    """What starts a client may put the programs of all folders above on the search path."""
    part = write_files(hostile.root / "packages/part", PART)
    environment = {"PATH": f"{hostile.path}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    cache = tmp_path / "cache"
    cache.mkdir()
    async with engine(part, cache=cache, registry=only(server), environment=environment) as running:
        for name in PART:
            with contextlib.suppress(Failure):
                await running.call("vscode.lsp.documentSymbols", uri=running.uri(name))
    assert hostile.sprung == []
    assert not list(cache.rglob("sprung-*"))


@pytest.mark.parametrize("server", ON_PATH)
async def test_no_server_of_the_user_springs_a_trap(
    server: str, hostile: Hostile, tmp_path: Path
) -> None:
    """They may refuse a project that asks for another toolchain, or wait for trust."""
    needs(server)
    environment = {"PATH": f"{hostile.path}:{os.environ['PATH']}", "HOME": os.environ["HOME"]}
    cache = tmp_path / "cache"
    cache.mkdir()
    async with engine(
        hostile.root, cache=cache, registry=only(server), environment=environment
    ) as running:
        await ask_everything(running, hostile.root, depth=1)
    assert hostile.sprung == []


def test_no_command_springs_a_trap(hostile: Hostile, installed: Path) -> None:
    """From inside the repository, with its folders first on the search path."""
    path = {"PATH": f"{hostile.path}:{os.environ['PATH']}"}
    doctor = run(installed, "doctor", "--json", cwd=hostile.root, extra=path, timeout=200)
    found = {finding["subject"]: finding for finding in json.loads(doctor.stdout)["findings"]}
    assert found[f"Python in {hostile.root}"]["detail"].startswith("ty ")
    assert found[f"TypeScript in {hostile.root}"]["detail"].startswith("tsgo ")
    asked = json.dumps({"query": "area"})
    done = run(
        installed, "call", "vscode.lsp.workspaceSymbols", asked, cwd=hostile.root, extra=path
    )
    assert {"main.py", "main.ts", "main.c", "area.sh"} <= {
        item["location"]["uri"].rpartition("/")[2] for item in json.loads(done.stdout)["items"]
    }
    listed = run(installed, "servers", "list", "--json", cwd=hostile.root, extra=path)
    assert {row["name"] for row in json.loads(listed.stdout)} >= {"ty", "tsgo", "clangd"}
    assert hostile.sprung == []


def test_a_server_that_runs_code_of_the_workspace_waits_for_trust(
    home: Path, tmp_path: Path
) -> None:
    root = tmp_path / "ws"
    (root / "src").mkdir(parents=True)
    (root / "Cargo.toml").write_text('[package]\nname = "x"\nversion = "0.1.0"\n')
    (root / "src/main.rs").write_text("fn main() {}\n")
    tools = tmp_path / "tools"
    tools.mkdir()
    script = tools / "script.json"
    status = ["experimental/serverStatus", {"quiescent": True, "health": "ok"}]
    ready = {"capabilities": {}, "serverInfo": {"name": "fake", "version": "9"}}
    actions = {
        "initialize": [{"notify": [status], "result": ready}],
        "textDocument/documentSymbol": [{"result": []}],
    }
    script.write_text(json.dumps(actions))
    program = tools / "rust-analyzer"
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{fake_server.__file__}' '{script}'\n")
    program.chmod(0o755)
    path = {"PATH": f"{tools}:/usr/bin:/bin"}
    asked = json.dumps({"uri": (root / "src/main.rs").as_uri()})
    question = ("call", "vscode.lsp.documentSymbols", asked, "--root", root)
    refused = run(home, *question, extra=path)
    assert refused.returncode == 6
    assert "run sightline trust" in refused.stderr
    assert f"sightline trust {root}" in run(home, "doctor", root, extra=path).stdout
    assert not script.with_suffix(".log").exists(), "it was started"
    assert run(home, "trust", root).returncode == 0
    allowed = run(home, *question, extra=path)
    assert (allowed.returncode, json.loads(allowed.stdout)["symbols"]) == (0, [])
    assert run(home, "untrust", root).returncode == 0
    assert run(home, *question, extra=path).returncode == 6
