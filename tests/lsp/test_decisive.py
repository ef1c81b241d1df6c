"""Who answers may change while Sightline runs: the same question is not answered from before."""

import shutil
from pathlib import Path
from typing import Any

from sightline.workspace.trust import TrustStore
from tests.languages.samples import only
from tests.support.engine import INSTALLED, Engine, engine, fake_registry
from tests.support.files import write_files

FILES = {"a.py": "def target(): ...\n", "s.sh": "target() { :; }\n"}
PLACE = {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 10}}


async def said(running: Engine) -> str:
    answer: Any = await running.call("vscode.lsp.workspaceSymbols", query="target")
    return str(answer["summary"])


async def test_trust_that_is_given_and_taken_back(tmp_path: Path) -> None:
    root, file = write_files(tmp_path / "ws", FILES), tmp_path / "trusted"
    found = {
        "name": "target",
        "kind": 12,
        "location": {"uri": f"{root.as_uri()}/a.py", "range": PLACE},
    }
    script = {
        "initialize": [{"result": {"capabilities": {"workspaceSymbolProvider": True}}}],
        "workspace/symbol": [{"result": [found]}],
    }
    registry, store = (
        fake_registry(tmp_path / "fake", script, "bash", needs_trust=True),
        TrustStore(file),
    )
    async with engine(
        root, cache=tmp_path, registry=registry, trusted=store.trusts, decisive=(str(file),)
    ) as running:
        without, with_it = await said(running), "Returned 2 workspace symbols."
        assert without == "Returned 1 workspace symbol. No language server for Python."
        store.add(str(root.resolve()))
        assert await said(running) == with_it
        store.remove(str(root.resolve()))
        assert await said(running) == without


async def test_a_server_that_is_installed_meanwhile(tmp_path: Path) -> None:
    root, servers = (
        write_files(tmp_path / "ws", FILES | {"use.py": "x = 1\n"}),
        tmp_path / "servers",
    )
    servers.mkdir(mode=0o700)
    async with engine(
        root,
        cache=tmp_path,
        registry=only("ty", "bash"),
        servers=servers,
        decisive=(str(servers),),
    ) as running:
        assert await said(running) == "Returned 1 workspace symbol. No language server for Bash."
        shutil.copytree(INSTALLED / "bash", tmp_path / "new", symlinks=True)
        (tmp_path / "new").rename(servers / "bash")
        assert await said(running) == "Returned 2 workspace symbols."
