"""Servers that start before the first scan never answer from what they read too early."""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from sightline.contract.failures import NotFound, Unavailable, UriInvalid
from sightline.contract.ticks import TICK_NS
from sightline.contract.values import Location
from sightline.lsp.project.glance import glance
from sightline.lsp.registry import builtin
from sightline.workspace import workspace as module
from sightline.workspace.inotify import Inotify
from sightline.workspace.mounts import Mounts
from sightline.workspace.observers import Observer, Scope, Watcher
from tests.support.engine import Engine, engine, fake_registry, received
from tests.support.processes import left_after
from tests.support.watching import HANG_S

Edit = Callable[[Path], object]


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """The first scan begins when this is set."""
    opened = threading.Event()

    class Late(Watcher):
        def start(self) -> None:
            opened.wait(60)
            super().start()

    def late(top: str, *, notify: bool, scope: Scope) -> Observer:
        return Late(top, Inotify(), Mounts(top), scope=scope)

    monkeypatch.setattr(module, "observe", late)
    return opened


async def names(running: Engine) -> list[str]:
    answer = await running.call("vscode.lsp.workspaceSymbols", query="thing")
    return sorted(symbol["name"] for symbol in answer["items"])


def server(running: Engine) -> tuple[int | None, str]:
    (row,) = running.program.pool.status()
    return row.pid, row.state


async def users(running: Engine) -> list[str]:
    """The files that use what is declared first in ``one.py``."""
    answer = await running.call(
        "vscode.lsp.references",
        uri=running.uri("one.py"),
        position={"line": 0, "character": 4},
        includeDeclaration=True,
    )
    return [item["uri"].rpartition("/")[2] for item in answer["items"]]


async def asked_ahead(running: Engine) -> "asyncio.Task[Sequence[Location]]":
    """The question that is put while the workspace is still being scanned."""
    async with asyncio.timeout(60):
        while not (asked := running.program.pool._head_start._asked):
            await asyncio.sleep(0)
    (early,) = asked.values()
    return early


def project(root: Path) -> None:
    """Files that are older than the grain of the file system's clock."""
    root.mkdir(exist_ok=True)
    (root / "one.py").write_text("def thing_one(): ...\n")
    (root / "two.py").write_text("def thing_two(): ...\n")
    (root / "user.py").write_text("import one\n\none.thing_one()\n")
    made = time.time_ns()
    while time.time_ns() < made + 2 * TICK_NS:
        pass


#: What happens before the watch, and the symbols and the users that are there then.
EDITS: dict[str, tuple[Edit, list[str], list[str]]] = {
    "nothing": (lambda root: None, ["thing_one", "thing_two"], ["one.py", "user.py"]),
    "write": (
        lambda root: (root / "one.py").write_text("def thing_new(): ...\n"),
        ["thing_new", "thing_two"],
        ["one.py"],
    ),
    "create": (
        lambda root: (root / "more.py").write_text("import one\n\none.thing_one()\n"),
        ["thing_one", "thing_two"],
        ["more.py", "one.py", "user.py"],
    ),
    "delete": (
        lambda root: (root / "user.py").unlink(),
        ["thing_one", "thing_two"],
        ["one.py"],
    ),
    "rename": (
        lambda root: (root / "user.py").rename(root / "other.py"),
        ["thing_one", "thing_two"],
        ["one.py", "other.py"],
    ),
}


async def test_a_server_that_meets_a_pipe_is_ended(tmp_path: Path, gate: threading.Event) -> None:
    """It waits for the pipe before anything is known of it, and nothing else has changed."""
    root = tmp_path / "ws"
    root.mkdir()
    os.mkfifo(root / ".ignore")
    project(root)
    async with engine(root, cache=tmp_path) as running:
        running.program.start()
        async with asyncio.timeout(HANG_S):
            while (pid := server(running)[0]) is None:
                await asyncio.sleep(0)
            gate.set()
            with pytest.raises(Unavailable, match=r"\.ignore is a named pipe"):
                await users(running)
            while server(running)[1] != "stopped":
                await asyncio.sleep(0)
        assert await asyncio.to_thread(left_after, HANG_S, [pid]) == []


@pytest.mark.parametrize("edit", EDITS)
async def test_what_changes_before_the_watch_is_in_the_answer(
    tmp_path: Path, gate: threading.Event, edit: str
) -> None:
    root = tmp_path / "ws"
    project(root)
    async with engine(root, cache=tmp_path) as running:
        running.program.start()
        asked = asyncio.create_task(users(running))
        assert len(await (await asked_ahead(running))) == 2
        before = server(running)
        assert before[1] == "ready"
        change, symbols, found = EDITS[edit]
        change(root)
        gate.set()
        assert await asked == found
        assert await names(running) == symbols
        assert (server(running) == before) == (edit == "nothing")


@pytest.mark.parametrize("edited", [False, True])
async def test_a_question_that_waits_for_the_scan_is_put_once(
    tmp_path: Path, gate: threading.Event, edited: bool
) -> None:
    root = tmp_path / "ws"
    project(root)
    place = {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 13}}
    answer = [{"uri": (root / "one.py").as_uri(), "range": place}]
    script = {"textDocument/references": [{"result": answer}]}
    registry = fake_registry(tmp_path / "fake", script)
    async with engine(root, cache=tmp_path, registry=registry) as running:
        running.program.start()
        asked = asyncio.create_task(users(running))
        await asked_ahead(running)
        gate.set()
        assert await asked == ["one.py"]
        assert questions(tmp_path / "fake") == 1
        if edited:
            (root / "user.py").write_text("")
            assert await users(running) == ["one.py"]
        assert questions(tmp_path / "fake") == 1 + edited


def questions(folder: Path) -> int:
    return sum(message.get("method") == "textDocument/references" for message in received(folder))


async def test_a_place_that_is_not_there_is_not_asked_about_ahead(
    tmp_path: Path, gate: threading.Event
) -> None:
    root = tmp_path / "ws"
    project(root)
    registry = fake_registry(tmp_path / "fake", {})
    async with engine(root, cache=tmp_path, registry=registry) as running:
        running.program.start()
        for name, line in (("one.py", 9), ("none.py", 0)):
            asked = asyncio.create_task(
                running.once(
                    "vscode.lsp.references",
                    uri=running.uri(name),
                    position={"line": line, "character": 0},
                )
            )
            await asyncio.sleep(0)
            assert not running.program.pool._head_start._asked
            gate.set()
            with pytest.raises((NotFound, UriInvalid)):
                await asked


def test_a_glance_sees_what_is_near_and_nothing_of_dependencies(tmp_path: Path) -> None:
    files = (
        "pkg/a.py",
        "node_modules/x/index.js",
        ".venv/lib/c.rs",
        "env/pyvenv.cfg",
        "env/d.go",
        "docs/readme.md",
    )
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("#")
    (tmp_path / "link.ts").symlink_to(tmp_path / "pkg/a.py")
    assert glance(str(tmp_path), builtin()) == ["python"]


def test_a_glance_sees_nothing_of_what_is_excluded(tmp_path: Path) -> None:
    for name in ("a.py", "vendor/b.ts", "src/c.gen.go", "src/d.c"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert glance(str(tmp_path), builtin(), ("/vendor", "*.gen.go")) == ["c", "python"]


def test_a_glance_is_short(tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"{number:03}").mkdir()
    (tmp_path / "199/a.py").write_text("")
    assert glance(str(tmp_path), builtin()) == []
