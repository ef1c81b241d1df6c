"""Servers that start before the first scan never answer from what they read too early."""

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sightline.lsp.glance import glance, rare_name
from sightline.lsp.registry import builtin
from sightline.workspace import workspace as module
from sightline.workspace.inotify import Inotify
from sightline.workspace.observers import Observer, Watcher
from sightline.workspace.tree import RACY_NS
from tests.support.engine import Engine, engine

Edit = Callable[[Path], object]


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """The first scan begins when this is set."""
    opened = threading.Event()

    class Late(Watcher):
        def start(self) -> None:
            opened.wait(60)
            super().start()

    def late(top: str, *, notify: bool = True) -> Observer:
        return Late(top, Inotify())

    monkeypatch.setattr(module, "observe", late)
    return opened


async def names(running: Engine) -> list[str]:
    answer = await running.call("vscode.lsp.workspaceSymbols", query="thing")
    return sorted(symbol["name"] for symbol in answer["items"])


def server(running: Engine) -> tuple[int | None, str]:
    (row,) = running.program.pool.status()
    return row.pid, row.state


EDITS: dict[str, tuple[Edit, list[str]]] = {
    "nothing": (lambda root: None, ["thing_one", "thing_two"]),
    "write": (
        lambda root: (root / "one.py").write_text("def thing_new(): ...\n"),
        ["thing_new", "thing_two"],
    ),
    "create": (
        lambda root: (root / "three.py").write_text("def thing_three(): ...\n"),
        ["thing_one", "thing_three", "thing_two"],
    ),
    "delete": (lambda root: (root / "two.py").unlink(), ["thing_one"]),
    "rename": (
        lambda root: (root / "one.py").rename(root / "six.py"),
        ["thing_one", "thing_two"],
    ),
}


@pytest.mark.parametrize("edit", EDITS)
async def test_what_changes_before_the_watch_is_in_the_answer(
    tmp_path: Path, gate: threading.Event, edit: str
) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "one.py").write_text("def thing_one(): ...\n")
    (root / "two.py").write_text("def thing_two(): ...\n")
    made = time.time_ns()
    while time.time_ns() < made + 2 * RACY_NS:
        await asyncio.sleep(0)  # until the files are older than the clock's grain
    async with engine(root, cache=tmp_path) as running:
        running.program.start()
        (reading,) = running.program.pool._ahead.values()
        await reading
        before = server(running)
        assert before[1] == "ready"
        change, expected = EDITS[edit]
        change(root)
        gate.set()
        assert await names(running) == expected
        assert (server(running) == before) == (edit == "nothing")


def test_a_glance_sees_what_is_near_and_nothing_of_dependencies(tmp_path: Path) -> None:
    files = {
        "pkg/a.py": 10,
        "pkg/b.py": 20,
        "node_modules/x/index.js": 10,
        ".venv/lib/c.rs": 10,
        "env/pyvenv.cfg": 10,
        "env/d.go": 10,
        "docs/readme.md": 10,
    }
    for name, size in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"#" * size)
    (tmp_path / "link.ts").symlink_to(tmp_path / "pkg/a.py")
    assert glance(str(tmp_path), builtin()) == {"python": str(tmp_path / "pkg/b.py")}


def test_a_glance_is_short(tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"{number:03}").mkdir()
    (tmp_path / "199/a.py").write_text("")
    assert glance(str(tmp_path), builtin()) == {}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", None),
        ("x = 1\n# def commented\n", None),
        (
            "import os\n\n\nclass Short:\n    def the_longest(self): ...\n\ndef middling(): ...\n",
            (6, 4),
        ),
        ("# größe\nfunc  Total(a int) {}\n", (1, 6)),
    ],
)
def test_a_rare_name(tmp_path: Path, text: str, place: tuple[int, int] | None) -> None:
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    assert rare_name(str(tmp_path / "a.py")) == place
    assert rare_name(str(tmp_path / "missing.py")) is None
