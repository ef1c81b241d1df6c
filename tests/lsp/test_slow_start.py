"""A start that takes long to prepare delays no other."""

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sightline.contract.settings import Settings
from sightline.lsp.c import compile_database
from sightline.lsp.c.compile_database import Database
from sightline.lsp.project.projects import Project
from sightline.lsp.start.preparing import Preparing
from sightline.lsp.start.slots import Slots
from tests.support.engine import Engine, engine, fake_registry
from tests.support.files import write_files
from tests.support.watching import HANG_S

HOVER = {"contents": {"kind": "plaintext", "value": "fine"}}
HERE = {"line": 0, "character": 0}
#: As many as the pool of threads has at most, and some.
MANY = min(32, (os.cpu_count() or 1) + 4) + 2


class Slow:
    """Compilation databases, which take as long as is wanted to be written for one project."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, slow: Path) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.overlaps = 0
        self._slow = str(slow)
        self._write = compile_database.write
        self._one = threading.Lock()
        monkeypatch.setattr(compile_database, "write", self.write)

    def write(self, project: Project, *given: Any, **named: Any) -> Database:
        if project.folder != self._slow:
            return self._write(project, *given, **named)
        self.overlaps += self._one.locked()
        with self._one:
            self.begun.set()
            assert self.go_on.wait(60)
            return self._write(project, *given, **named)


async def hover(running: Engine, root: str) -> str:
    uri = (running.root.parent / root / "a.c").as_uri()
    return str((await running.call("vscode.lsp.hover", uri=uri, position=HERE))["summary"])


@pytest.mark.parametrize("starts_over", [0, MANY])
async def test_a_slow_start_delays_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, starts_over: int
) -> None:
    """Nor do those that were begun in its place, while the thread of the first goes on."""
    roots = [write_files(tmp_path / name, {"a.c": "int x;\n"}) for name in ("one", "two")]
    slow = Slow(monkeypatch, roots[0])
    script = {"textDocument/hover": [{"result": HOVER}]}
    registry = fake_registry(tmp_path / "fake", script, languages=("c",), compile_database=True)
    settings = Settings(request_timeout_ms=20_000)
    async with engine(*roots, cache=tmp_path, registry=registry, settings=settings) as running:
        try:
            first = asyncio.create_task(hover(running, "one"))
            await asyncio.to_thread(slow.begun.wait, 60)
            servers = running.program.pool._fleet.servers
            for _ in range(starts_over):
                servers["fake", str(roots[0])].start_over()
                for _ in range(20):  # it has every turn that it needs to begin
                    await asyncio.sleep(0)
            assert await hover(running, "two") == "Hover available."
            assert not first.done()
        finally:
            slow.go_on.set()
        assert await first == "Hover available."
    assert slow.overlaps == 0


async def test_a_start_that_hangs_does_not_keep_the_program_from_ending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a file system that went away: what it holds is let go of by the end of the process."""
    root = write_files(tmp_path / "one", {"a.c": "int x;\n"})
    slow = Slow(monkeypatch, root)
    registry = fake_registry(tmp_path / "fake", {}, languages=("c",), compile_database=True)
    async with engine(root, cache=tmp_path, registry=registry) as running:
        asking = asyncio.create_task(hover(running, "one"))
        try:
            await asyncio.to_thread(slow.begun.wait, 60)
            asking.cancel()
            async with asyncio.timeout(HANG_S):
                await running.program.pool.close()
            (held,) = tmp_path.rglob(".held")
            assert Slots().take(held.parent) != held.parent, "it may still write there"
        finally:
            slow.go_on.set()


async def test_a_start_for_which_there_is_no_thread_keeps_nobody_waiting() -> None:
    preparing, loop = Preparing(), asyncio.get_running_loop()
    with ThreadPoolExecutor() as ended:
        loop.set_default_executor(ended)
    with pytest.raises(RuntimeError):
        await preparing.of("fake", "/project", int)
    loop.set_default_executor(ThreadPoolExecutor())
    async with asyncio.timeout(HANG_S):
        assert await preparing.of("fake", "/project", int) == 0
        assert await preparing.ended()
