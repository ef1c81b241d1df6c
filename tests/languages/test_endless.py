"""An include of what a process has open keeps nobody waiting but is said."""

import os
from pathlib import Path

import pytest

from sightline.contract.failures import Unavailable
from tests.languages.samples import only
from tests.support.engine import Engine, engine
from tests.support.files import write_files

FILES = {
    "b.c": "int kept(void) { return 1; }\n",
    "u.c": "int kept(void);\nint used(void) { return kept(); }\n",
}


async def outline(running: Engine, name: str) -> list[str]:
    found = await running.call("vscode.lsp.documentSymbols", uri=running.uri(name))
    return [item["name"] for item in found["symbols"]]


async def test_the_others_are_answered(tmp_path: Path) -> None:
    text = '#include "/dev/stdin"\nint a(void);\n'
    root = write_files(tmp_path / "ws", FILES | {"a.c": '#include "x.h"\n', "x.h": text})
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        assert await outline(running, "b.c") == ["kept"]
        for name in ("a.c", "x.h"):
            with pytest.raises(Unavailable, match="no file"):
                await outline(running, name)
        place = {"uri": running.uri("b.c"), "position": {"line": 0, "character": 5}}
        found = await running.call("vscode.lsp.references", **place, includeDeclaration=False)
        assert [item["uri"].rpartition("/")[2] for item in found["items"]] == ["u.c"]
        note = "2 files include what is no file (stdin), such as a pipe, and are not read."
        assert note in found["summary"]
        swept = await running.call("vscode.lsp.diagnostics.workspace")
        assert note in swept["summary"]


async def test_a_pipe_outside_that_goes_and_an_include_that_comes(tmp_path: Path) -> None:
    text = '#include "../pipe.h"\nint a(void);\n'
    root = write_files(tmp_path / "ws", FILES | {"a.c": text})
    os.mkfifo(tmp_path / "pipe.h")
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        with pytest.raises(Unavailable, match="no file"):
            await outline(running, "a.c")
        (tmp_path / "pipe.h").unlink()
        assert await outline(running, "a.c") == ["a"]
        write_files(root, {"b.c": '#include "/dev/stdin"\n' + FILES["b.c"]})
        assert await outline(running, "u.c") == ["kept", "used"]
        with pytest.raises(Unavailable, match="no file"):
            await outline(running, "b.c")
        write_files(root, {"b.c": FILES["b.c"]})
        assert await outline(running, "b.c") == ["kept"]


async def test_an_include_that_comes_where_flags_are_the_projects(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", FILES | {"compile_flags.txt": "-DX\n", "a.c": "int a;\n"})
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        assert await outline(running, "a.c") == ["a"]
        write_files(root, {"a.c": '#include "/dev/stdin"\nint a;\n'})
        assert await outline(running, "b.c") == ["kept"]
        with pytest.raises(Unavailable, match="no file"):
            await outline(running, "a.c")
