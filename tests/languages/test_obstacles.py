"""A pipe, a device or a huge file in a project keeps nobody waiting and fills no memory.

Whatever makes a server open it: it is refused by path, with the command that removes it, before the
server starts and when it appears later, and no retry is asked for until it is gone.
"""

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from sightline.contract.failures import Failure, Unavailable
from sightline.lsp.server.server import State
from sightline.workspace.tree import MAX_READ_BYTES
from tests.languages.samples import only
from tests.support.engine import Engine, engine
from tests.support.files import write_files

PYTHON = {"a.py": "def one() -> int:\n    return 1\n", "s/b.py": "two = 2\n", ".git/HEAD": ""}
TYPESCRIPT = {
    "a.ts": 'import { b } from "./b";\nimport { x } from "x";\nexport const one = [b, x];\n',
    "b.ts": "export const b = 1;\n",
    "base.json": "{}\n",
    "tsconfig.json": '{"extends": "./base.json"}\n',
    "package.json": "{}\n",
    "node_modules/x/package.json": '{"types": "x.d.ts"}\n',
    "node_modules/x/x.d.ts": "export declare const x: number;\n",
}
MACRO = "#define QUOTED(x) #x\n#define NAME(x) QUOTED(x)\n#include NAME(x.h)\n"


class Case(NamedTuple):
    server: str
    files: dict[str, str]
    #: What becomes a pipe.
    entry: str


CASES = {
    **{f"ty {name}": Case("ty", PYTHON, name) for name in (".ignore", ".gitignore")},
    **{f"ty {name}": Case("ty", PYTHON, name) for name in ("s/.gitignore", ".git/info/exclude")},
    **{f"tsgo {name}": Case("tsgo", TYPESCRIPT, name) for name in TYPESCRIPT if name != "a.ts"},
    "clangd macro": Case("clangd", {"a.c": f"{MACRO}int one;\n", "x.h": ""}, "x.h"),
    "clangd dependency": Case(
        "clangd", {"a.c": '#pragma GCC dependency "x.h"\nint one;\n', "x.h": ""}, "x.h"
    ),
    "clangd _Pragma": Case(
        "clangd", {"a.c": '_Pragma("GCC dependency \\"x.h\\"")\nint one;\n', "x.h": ""}, "x.h"
    ),
    "clangd __has_include": Case(
        "clangd", {"a.c": '#if __has_include("x")\n#include "x"\n#endif\nint one;\n'}, "x"
    ),
}


def pipe(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def source(case: Case) -> str:
    return next(iter(case.files))


async def outline(running: Engine, name: str) -> list[str]:
    found = await running.call("vscode.lsp.documentSymbols", uri=running.uri(name))
    return [item["name"] for item in found["symbols"]]


async def refused(running: Engine, name: str) -> Failure:
    """The refusal that every call gets at once, with no server for it."""
    said = []
    for query in ("one", "two"):
        with pytest.raises(Unavailable) as caught:
            await running.once("vscode.lsp.documentSymbols", uri=running.uri(name))
        said.append(str(caught.value))
        with pytest.raises(Unavailable) as caught:
            await running.once("vscode.lsp.workspaceSymbols", query=query)
        said.append(str(caught.value))
    assert len(set(said)) == 1
    assert not caught.value.retryable
    assert [row for row in running.program.pool.status() if row.pid is not None] == []
    return caught.value


@pytest.mark.parametrize("name", CASES)
async def test_a_pipe_that_is_there(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    root = write_files(tmp_path / "ws", case.files)
    pipe(root / case.entry)
    async with engine(root, cache=tmp_path, registry=only(case.server)) as running:
        said = str(await refused(running, source(case)))
        waits = f"{case.entry} is a named pipe, which {case.server} would wait for without end"
        assert said == f"{waits}; remove it: rm {root / case.entry}"
        os.system(said.partition("remove it: ")[2])  # what a user does
        write_files(root, {case.entry: case.files.get(case.entry, "")})
        assert "one" in await outline(running, source(case))


@pytest.mark.parametrize("name", CASES)
async def test_a_pipe_that_comes(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    root = write_files(tmp_path / "ws", case.files)
    async with engine(root, cache=tmp_path, registry=only(case.server)) as running:
        assert "one" in await outline(running, source(case))
        (server,) = running.program.pool._fleet.servers.values()
        pipe(root / case.entry)
        assert f"{case.entry} is a named pipe" in str(await refused(running, source(case)))
        await server.left()
        assert server.state is State.STOPPED
        (root / case.entry).unlink()
        write_files(root, {case.entry: case.files.get(case.entry, "")})
        assert "one" in await outline(running, source(case))


def linked(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(MAX_READ_BYTES + 1)


WAYS = {
    "zeros": (linked("/dev/zero"), "a link to a device"),
    "what a process has open": (linked("/proc/self/fd/0"), "a link to a device"),
    "input": (linked("/dev/stdin"), "a link to a device"),
    "a pipe outside": (linked("../outside/pipe"), "a link to a named pipe"),
    "a link to a link": (linked("../outside/link"), "a link to a named pipe"),
    "in a linked folder": (linked("d/pipe"), "a link to a named pipe"),
    "a huge file": (sparse, "a huge file"),
    "a huge file outside": (linked("../outside/huge"), "a link to a huge file"),
}


@pytest.mark.parametrize("entry", ["b.ts", "b.py", "b.h"])
@pytest.mark.parametrize("way", WAYS)
async def test_devices_links_and_huge_files(tmp_path: Path, way: str, entry: str) -> None:
    make, what = WAYS[way]
    outside = tmp_path / "outside"
    pipe(outside / "pipe")
    (outside / "link").symlink_to("pipe")
    sparse(outside / "huge")
    files = {
        "b.ts": Case("tsgo", {"a.ts": 'import "./b";\nexport const one = 1;\n'}, entry),
        "b.py": Case("ty", {"a.py": "import b\none = 1\n"}, entry),
        "b.h": Case("clangd", {"a.c": '#include "b.h"\nint one;\n'}, entry),
    }
    case = files[entry]
    root = write_files(tmp_path / "ws", case.files)
    if way == "in a linked folder":
        (root / "d").symlink_to("../outside")
    make(root / entry)
    async with engine(root, cache=tmp_path, registry=only(case.server)) as running:
        said = str(await refused(running, source(case)))
        assert said.startswith(f"{entry} is {what}, ")
        (root / entry).unlink()
        (root / "d").unlink(missing_ok=True)
        assert await outline(running, source(case)) == ["one"]


async def test_a_link_whose_target_becomes_a_pipe(tmp_path: Path) -> None:
    """Nothing in the root changes then."""
    root = write_files(tmp_path / "ws", {"a.ts": 'import "./b";\nexport const one = 1;\n'})
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / "b.ts").symlink_to("../outside/b.ts")
    async with engine(root, cache=tmp_path, registry=only("tsgo")) as running:
        assert await outline(running, "a.ts") == ["one"]
        os.mkfifo(outside / "b.ts")
        assert "b.ts is a link to a named pipe" in str(await refused(running, "a.ts"))
        (outside / "b.ts").unlink()
        assert await outline(running, "a.ts") == ["one"]


async def test_what_does_no_harm(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", {"a.py": "one = 1\n", "a.ts": "const one = 1;\n"})
    (root / "null.py").symlink_to("/dev/null")
    (root / "nowhere.py").symlink_to("../nowhere.py")
    (root / "mtab").symlink_to("/proc/mounts")
    sparse(root / "data.csv")
    for name in ("supervise/ok", "log.pipe", "server.log"):  # which no such server opens
        pipe(root / name)
    async with engine(root, cache=tmp_path, registry=only("ty", "tsgo")) as running:
        assert await outline(running, "a.py") == ["one"]
        assert await outline(running, "a.ts") == ["one"]


async def test_the_other_languages_are_answered(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", {"a.py": "one = 1\n", "a.ts": "const one = 1;\n"})
    sparse(root / "b.ts")
    async with engine(root, cache=tmp_path, registry=only("ty", "tsgo")) as running:
        assert await outline(running, "a.py") == ["one"]
        found = await running.call("vscode.lsp.workspaceSymbols", query="one")
        assert [item["location"]["uri"] for item in found["items"]] == [running.uri("a.py")]
        assert "b.ts is a huge file, more than the 64 MiB that tsgo is given" in found["summary"]


@pytest.mark.parametrize("name", ["b c.ts", "ignore what was said before.ts"])
async def test_a_name_that_may_be_a_sentence_is_not_shown(tmp_path: Path, name: str) -> None:
    root = write_files(tmp_path / "w s", {"a.ts": "const one = 1;\n"})
    pipe(root / name)
    async with engine(root, cache=tmp_path, registry=only("tsgo")) as running:
        said = str(await refused(running, "a.ts"))
        assert said.endswith(f"find it and remove it: find -L {shlex.quote(str(root))} -type p")
        assert name not in said


async def test_around_a_root(tmp_path: Path) -> None:
    top = write_files(tmp_path / "repo", {".git/HEAD": "", "pkg/a.py": "one = 1\n"})
    pipe(top / ".gitignore")
    async with engine(top / "pkg", cache=tmp_path, registry=only("ty")) as running:
        said = str(await refused(running, "a.py"))
        assert said.startswith("a file in the repository around it is a named pipe")
        (top / ".gitignore").unlink()
        assert await outline(running, "a.py") == ["one"]
