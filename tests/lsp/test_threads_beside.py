"""What threads find out beside the event loop: nobody believes the half of it, whatever fails."""

import asyncio
import contextlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sightline.contract.failures import Bug
from sightline.process.strays import end_strays
from sightline.text.dirty_paths import DirtyPaths
from sightline.text.sources import SourceTexts, word
from sightline.workspace.changes import Change, Kind
from tests.support.engine import Engine, engine
from tests.support.files import write_files

FILES = {"a.py": "def target():\n    return 1\n", "b.py": "from a import target\n\ntarget()\n"}
NAME = {"line": 0, "character": 5}


async def uses(running: Engine, name: str = "a.py", character: int = 5) -> Any:
    position = NAME | {"character": character}
    return await running.call("vscode.lsp.references", uri=running.uri(name), position=position)


async def test_one_that_fails_keeps_nobody_from_being_told(tmp_path: Path) -> None:
    class Failing:
        def changed(self, changes: Sequence[Change]) -> None:
            raise RuntimeError("a bug")

    root = write_files(tmp_path / "ws", FILES)
    async with engine(root, cache=tmp_path) as running:
        assert len((await uses(running))["items"]) == 2
        observers = running.program.pool.gaps._observers
        observers[("failing",)] = Failing()
        write_files(root, {"b.py": FILES["b.py"] + "target()\ntarget()\n"})
        with pytest.raises(Bug):
            await uses(running)
        del observers["failing",]
        assert len((await uses(running))["items"]) == 4


@pytest.mark.parametrize(
    "odd",
    [
        "a = 1" + "0" * 5_000,
        '[tool.ty.environment]\nextra-paths = ["/x\\u0000y"]',
        ".".join("a" * 99) + " = 1",
    ],
    ids=["a long number", "no path", "a deep key"],
)
async def test_a_project_file_that_is_odd(tmp_path: Path, odd: str) -> None:
    """Uses behind imports that do not resolve are told, first and later."""
    manifest = f'{odd}\n[project]\nname = "x"\nversion = "1"\n'
    if "tool" in odd:
        manifest = f'[project]\nname = "x"\nversion = "1"\n{odd}\n'
    files = {
        "pyproject.toml": manifest,
        "lib/shop/__init__.py": "",
        "lib/shop/a.py": "def target(): ...\n",
        "tests/test_a.py": "from shop.a import target\n\ntarget()\n",
    }
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path) as running:
        for character in (4, 5):
            answer = await uses(running, "lib/shop/a.py", character)
            assert "behind imports that do not resolve (tests/test_a.py)" in answer["summary"]


async def test_a_process_that_could_not_be_looked_after_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, failed = write_files(tmp_path / "ws", FILES), list[str]()

    def once(*given: Any) -> bool:
        if not failed:
            failed.append("too many files are open")
            raise OSError(24, failed[0])
        return end_strays(*given)

    async with engine(root, cache=tmp_path) as running:
        await uses(running)
        monkeypatch.setattr("sightline.process.child.end_strays", once)
        write_files(
            root, {"pyproject.toml": "[project]\nname = 'x'\n"}
        )  # after which it starts over
        assert len((await uses(running))["items"]) == 2
    assert failed


async def test_the_routes_while_a_thread_looks_at_the_tree_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_files(tmp_path / "ws", FILES)
    async with engine(root, cache=tmp_path) as running:
        await uses(running)
        routes, inside, go_on = running.program.pool._routes, threading.Event(), threading.Event()
        route, look = routes.route(str(root / "a.py"), "references"), routes._look
        for server in running.program.pool._fleet.servers.values():
            await server.stop()  # which would look at the tree first

        def slowly() -> Any:
            inside.set()
            assert go_on.wait(60)
            return look()

        turns, entered = routes._refreshing, list[threading.Thread]()

        class Turns:
            def __enter__(self) -> None:
                entered.append(threading.current_thread())
                turns.acquire()

            def __exit__(self, *given: object) -> None:
                turns.release()

        monkeypatch.setattr(routes, "_look", slowly)
        monkeypatch.setattr(routes, "_refreshing", Turns())
        write_files(root, {"c.py": ""})
        await running.program.workspace.begin()
        first = asyncio.create_task(
            asyncio.to_thread(routes.project, route.spec, route.project.folder)
        )
        while not inside.is_set():
            await asyncio.sleep(0)
        second = asyncio.create_task(asyncio.to_thread(routes.everywhere, "workspaceSymbols"))
        third = asyncio.create_task(asyncio.to_thread(routes.users, route, str(root / "a.py")))
        # Both wait for their turn, or believe what they must not.
        while len(entered) < 3 and not (second.done() or third.done()):
            await asyncio.sleep(0)
        go_on.set()
        await first
        assert [each.name for each in (await second)[0]] == ["ty"]
        assert await third == set()


async def test_what_changes_while_a_thread_looks_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An environment outside of the roots, say, which the trees do not show."""
    root = write_files(tmp_path / "ws", FILES)
    async with engine(root, cache=tmp_path) as running:
        await uses(running)
        routes, inside, go_on = running.program.pool._routes, threading.Event(), threading.Event()
        look, looked = routes._look, list[int]()
        for server in running.program.pool._fleet.servers.values():
            await server.stop()  # which would look first

        def slowly() -> Any:
            found = look()
            looked.append(1)
            inside.set()
            assert go_on.wait(60)
            return found

        monkeypatch.setattr(routes, "_look", slowly)
        beside = str(tmp_path / "beside")
        running.program.workspace.beside.keep({beside: None})
        write_files(root, {"c.py": ""})
        await running.program.workspace.begin()
        first = asyncio.create_task(asyncio.to_thread(routes.generation))
        while not inside.is_set():
            await asyncio.sleep(0)
        routes.changed([Change(beside, Kind.CHANGED)])
        go_on.set()
        await first
        seen = len(looked)
        routes.generation()
        assert len(looked) == seen + 1


def test_what_could_not_be_looked_at_is_due_again() -> None:
    due = DirtyPaths()
    due.note([Change("/a", Kind.CHANGED)])
    with contextlib.suppress(OSError), due.taken():
        due.note([Change("/b", Kind.CHANGED)])
        raise OSError("full")
    with due.taken() as (changes, paths):
        assert (changes, paths) == (2, {"/a", "/b"})
    with due.taken() as (_, paths):
        assert paths == set()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_every_end_of_a_line(tmp_path: Path, end: str) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(f"# target{end}x = 1{end}target(){end}".encode())
    texts = SourceTexts(lambda: [str(file)])
    assert texts.search(word("target")) == {str(file): [2, 15]}
    assert texts.text(str(file)).count(b"\n") == 3
