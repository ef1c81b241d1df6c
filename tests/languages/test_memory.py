"""A server takes no more memory than it may, however a project makes it, and is not tried for ever.

The kernel refuses it more. After the second time the refusal is stable, and names the file that is
probably the cause, until the project changes.
"""

import asyncio
import os
import resource
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from sightline.contract.failures import Unavailable
from sightline.contract.settings import Settings
from tests.languages.samples import only
from tests.support.engine import Engine, engine
from tests.support.files import write_files

LIMIT_MB = 256


class Case(NamedTuple):
    server: str
    files: dict[str, str]
    #: The file that makes the server take more than it may.
    name: str
    make: Callable[[Path], None]


def lines(line: str, megabytes: int) -> Callable[[Path], None]:
    """So many megabytes of declarations, each with a number."""

    def write(path: Path) -> None:
        count = (megabytes << 20) // len(line % (10**6, 10**6))
        with path.open("w") as file:
            file.writelines(line % (number, number) for number in range(count))

    return write


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2 << 30)


CASES = {
    "tsgo, data of two gigabytes": Case(
        "tsgo",
        {
            "a.ts": 'import b from "./b.json";\nexport const one = b;\n',
            "tsconfig.json": '{"compilerOptions": {"resolveJsonModule": true}}\n',
        },
        "b.json",
        sparse,
    ),
    "tsgo, a long module": Case(
        "tsgo",
        {"a.ts": 'import { f1 } from "./b";\nexport const one = f1;\n'},
        "b.ts",
        lines("export function f%d(a: number): number { return a + %d; }\n", 12),
    ),
    "ty, a long module": Case(
        "ty",
        {"a.py": "from b import f1\none = f1(1)\n"},
        "b.py",
        lines("def f%d(a: int) -> int:\n    return a + %d\n", 12),
    ),
    "clangd, a long header": Case(
        "clangd",
        {"a.c": '#include "b.inc"\nint one;\n'},
        "b.inc",
        lines("int f%d(int a) { return a + %d; }\n", 16),
    ),
}


def resident(pid: int) -> int:
    """What one process takes. What it forks when it crashes shares all of that with it."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


class Watch(NamedTuple):
    """What each process of a program's servers takes."""

    peaks: dict[int, int]

    @classmethod
    @asynccontextmanager
    async def over(cls, running: Engine) -> AsyncIterator["Watch"]:
        watch = cls({})

        async def look() -> None:
            while True:
                for row in running.program.pool.status():
                    if row.pid is not None:
                        peak = max(resident(row.pid), watch.peaks.get(row.pid, 0))
                        watch.peaks[row.pid] = peak
                await asyncio.sleep(0.01)

        looking = asyncio.create_task(look())
        try:
            yield watch
        finally:
            looking.cancel()


@pytest.mark.parametrize("name", CASES)
async def test_what_a_project_makes_large(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    root = write_files(tmp_path / "ws", case.files)
    case.make(root / case.name)
    settings = Settings(server_memory_mb=LIMIT_MB)
    asked = next(iter(case.files))
    async with (
        engine(root, cache=tmp_path, registry=only(case.server), settings=settings) as running,
        Watch.over(running) as watch,
    ):
        with pytest.raises(Unavailable) as caught:
            await running.call("vscode.lsp.diagnostics.document", uri=running.uri(asked))
        assert not caught.value.retryable
        size = (root / case.name).stat().st_size >> 20
        assert str(caught.value) == (
            f"{case.server} used more than 256 MiB of memory (the setting server_memory_mb); "
            f"{case.name} has {size:,} MiB; remove it: rm {root}/{case.name}, or raise the setting"
        )
        for query in ("one", "two"):  # the same is said at once, and nothing is started for it
            with pytest.raises(Unavailable, match="used more than 256 MiB"):
                await running.once("vscode.lsp.workspaceSymbols", query=query)
        assert len(watch.peaks) == 2
        assert max(watch.peaks.values()) <= (LIMIT_MB << 20) * 1.1
        write_files(root, {"unrelated.txt": "x"})
        with pytest.raises(Unavailable, match="used more than 256 MiB"):
            await running.once("vscode.lsp.documentSymbols", uri=running.uri(asked))
        write_files(root, {case.name: ""})
        found = await running.call("vscode.lsp.documentSymbols", uri=running.uri(asked))
        assert "one" in [item["name"] for item in found["symbols"]]


async def test_a_server_that_runs_on_node(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", {"b.json": "[" + '{"a": [0]},' * 900_000 + "0]"})
    settings = Settings(server_memory_mb=256)
    async with (
        engine(root, cache=tmp_path, registry=only("json"), settings=settings) as running,
        Watch.over(running) as watch,
    ):
        with pytest.raises(Unavailable, match=r"json used more than 256 MiB .* b\.json has 9 MiB"):
            await running.call("vscode.lsp.documentSymbols", uri=running.uri("b.json"))
        assert len(watch.peaks) == 2
        assert max(watch.peaks.values()) <= (256 << 20) * 1.1


SMALL = {
    "ty": ("a.py", "one = 1\n"),
    "pyright": ("a.py", "one = 1\n"),
    "tsgo": ("a.ts", "export const one = 1;\n"),
    "clangd": ("a.c", "int one;\n"),
    "bash": ("a.sh", "one() { :; }\n"),
    "json": ("a.json", '{"one": 1}\n'),
    "yaml": ("a.yaml", "one: 1\n"),
    "css": ("a.css", ".one { color: red }\n"),
    "html": ("a.html", "<one></one>\n"),
}


@pytest.mark.parametrize("server", SMALL)
async def test_the_smallest_setting_is_enough_to_start(tmp_path: Path, server: str) -> None:
    """What runtimes reserve, up to 22 GB, does not count."""
    name, text = SMALL[server]
    root = write_files(tmp_path / "ws", {name: text})
    settings = Settings(server_memory_mb=256)
    async with engine(root, cache=tmp_path, registry=only(server), settings=settings) as running:
        found = await running.call("vscode.lsp.documentSymbols", uri=running.uri(name))
        assert "one" in found["symbols"][0]["name"]
        (pid,) = [row.pid for row in running.program.pool.status() if row.pid is not None]
        assert resource.prlimit(pid, resource.RLIMIT_DATA) == (256 << 20, 256 << 20)
