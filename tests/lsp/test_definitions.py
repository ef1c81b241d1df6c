"""A definition that was just told is not asked for again, until anything changes."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.engine import Engine, engine, fake_registry, received
from tests.support.watching import until

HERE = {"line": 0, "character": 0}
RANGE = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
DEFINITION = "textDocument/definition"


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Engine]:
    """A server that defines ``x`` in one file, and then in another."""
    root = tmp_path / "ws"
    root.mkdir()
    for name in ("a.py", "b.py"):
        (root / name).write_text("x = 1\n")
    told = [
        {"result": [{"uri": (root / name).as_uri(), "range": RANGE}]} for name in ("a.py", "b.py")
    ]
    late = {"after": str(tmp_path / "go on")}
    script = {
        DEFINITION: [told[0], {**told[0], **late}, told[1]],
        "textDocument/references": [{"result": []}],
    }
    registry = fake_registry(tmp_path / "fake", script)
    async with engine(root, cache=tmp_path, registry=registry) as running:
        await running.ready("a.py")
        yield running


async def ask(running: Engine, tool: str, name: str = "a.py") -> Any:
    return await running.call(f"vscode.lsp.{tool}", uri=running.uri(name), position=HERE)


def asked(tmp_path: Path) -> int:
    return sum(message.get("method") == DEFINITION for message in received(tmp_path / "fake"))


async def defined_in(running: Engine, name: str = "a.py") -> str:
    [place] = (await ask(running, "definition", name))["locations"]
    return str(place["uri"].rpartition("/")[2])


async def test_uses_of_what_was_just_defined(running: Engine, tmp_path: Path) -> None:
    assert await defined_in(running) == "a.py"
    await ask(running, "references")
    assert asked(tmp_path) == 1


async def test_a_change_of_another_file(running: Engine, tmp_path: Path) -> None:
    (tmp_path / "go on").touch()
    assert await defined_in(running) == "a.py"
    (running.root / "b.py").write_text("x = 2\n")
    await ask(running, "references")
    assert asked(tmp_path) == 2
    (running.root / "b.py").write_text("x = 3\n")
    assert await defined_in(running) == "b.py"


async def test_an_answer_that_a_change_overtakes(running: Engine, tmp_path: Path) -> None:
    await defined_in(running)
    (running.root / "b.py").write_text("x = 2\n")
    late = asyncio.create_task(ask(running, "definition"))
    await until(lambda: asked(tmp_path) == 2, tmp_path / "fake")
    (running.root / "b.py").write_text("x = 3\n")
    await running.program.workspace.begin()
    (tmp_path / "go on").touch()
    await asyncio.wait({late})
    assert await defined_in(running) == "b.py"
