"""An edit that is finished before a search begins is in its answer, whoever made it and how."""

import asyncio
import mmap
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sightline.contract.failures import NoIndex
from sightline.contract.settings import Settings
from sightline.index.building.builder import Builder, Progress
from sightline.index.reading.sources import read_source
from sightline.workspace.gate import Gate
from sightline.workspace.roots import RootSet, open_root
from sightline.workspace.tree import stamp_of
from tests.support.corpus import write_corpus
from tests.support.engine import Engine, engine
from tests.support.index import bench, build, found, index_engine


async def paths(running: Engine, query: str, **arguments: Any) -> list[str]:
    answer = await running.once("search", query=query, **arguments)
    return [item["path"] for item in answer["items"]]


@pytest.mark.parametrize("mode", ["auto", "sweep"])
async def test_every_kind_of_edit(tmp_path: Path, mode: Any) -> None:
    root = tmp_path / "ws"
    (root / "src").mkdir(parents=True)
    (root / "src/one.py").write_text("def zebra():\n    pass\n")
    settings = Settings(change_detection=mode)
    async with index_engine(root, tmp_path / "cache", settings=settings) as running:
        assert await paths(running, "zebra") == ["src/one.py"]
        (root / "src/one.py").write_text("def giraffe():\n    pass\n")
        assert await paths(running, "giraffe") == ["src/one.py"]
        assert await paths(running, "zebra") == []
        (root / "src/one.py").rename(root / "src/two.py")
        assert await paths(running, "giraffe") == ["src/two.py"]
        (root / "new/deep").mkdir(parents=True)
        (root / "new/deep/three.py").write_text("def giraffe():\n    pass\n")
        assert await paths(running, "giraffe") == ["new/deep/three.py", "src/two.py"]
        (root / ".gitignore").write_text("new/\n")
        assert await paths(running, "giraffe") == ["src/two.py"]
        (root / ".gitignore").unlink()
        assert await paths(running, "giraffe") == ["new/deep/three.py", "src/two.py"]
        (root / "new").rename(root / "old")
        assert await paths(running, "giraffe") == ["old/deep/three.py", "src/two.py"]
        (root / "src/two.py").unlink()
        assert await paths(running, "giraffe", mode="literal") == ["old/deep/three.py"]
        os.symlink(root / "old/deep/three.py", root / "link.py")
        assert await paths(running, "giraffe") == ["old/deep/three.py"], "one file, one hit"


async def test_an_edit_that_hides_its_traces(tmp_path: Path) -> None:
    """Same size, times put back: only the change time tells."""
    root = tmp_path / "ws"
    root.mkdir()
    file = root / "a.py"
    file.write_text("def zebra(): pass\n")
    async with index_engine(root, tmp_path / "cache") as running:
        assert await paths(running, "zebra") == ["a.py"]
        before = file.stat()
        file.write_text("def otter(): pass\n")
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert await paths(running, "otter") == ["a.py"]


@pytest.mark.parametrize("year", [1600, 1901, 1970, 2200, 2500])
async def test_a_file_that_is_dated_in_another_time(tmp_path: Path, year: int) -> None:
    """From an archive, or from a machine whose clock was wrong; no 64 bits hold some of these."""
    file = tmp_path / "ws/one.py"
    file.parent.mkdir()
    file.write_text("def zebra():\n    pass\n")
    at = datetime(year, 1, 1, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    os.utime(file, (0, at.total_seconds()))
    async with index_engine(file.parent, tmp_path / "cache") as running:
        assert await paths(running, "zebra") == ["one.py"]
        file.write_text("def giraffe():\n    pass\n")
        os.utime(file, (0, at.total_seconds()))
        assert await paths(running, "giraffe") == ["one.py"]
        assert await paths(running, "zebra") == []


def test_a_file_dated_in_the_future_is_not_read_again_for_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, file = open_root(str(tmp_path), home=None), tmp_path / "one.py"
    file.write_text("x = 1\n")
    os.utime(file, (0, datetime(2200, 1, 1, tzinfo=UTC).timestamp()))
    changed = file.stat().st_ctime_ns
    for later, sure in ((10**7, False), (10**9, True)):
        monkeypatch.setattr(time, "time_ns", lambda now=changed + later: now)
        stamp = read_source(Gate(RootSet.of([root])), str(file)).stamp
        assert (stamp == stamp_of(str(file))) is sure


async def test_a_mapping_that_nobody_announces(tmp_path: Path) -> None:
    """A hit is never shown from a text that is no longer there."""
    root = tmp_path / "ws"
    root.mkdir()
    file = root / "a.py"
    file.write_text("def zebra(): pass\n")
    async with index_engine(root, tmp_path / "cache") as running:
        with file.open("r+b") as open_file, mmap.mmap(open_file.fileno(), 0) as mapping:
            mapping[4:9] = b"otter"
            assert await paths(running, "zebra", mode="literal") == []
            assert await paths(running, "otter") == ["a.py"]


async def test_ignore_rules_outside_the_workspace(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    (root / ".git/info").mkdir(parents=True)
    (root / "a.py").write_text("def zebra(): pass\n")
    home = tmp_path / "home"
    (home / ".config/git").mkdir(parents=True)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home)}
    async with index_engine(root, tmp_path / "cache", environment=environment) as running:
        assert await paths(running, "zebra") == ["a.py"]
        (root / ".git/info/exclude").write_text("a.py\n")
        assert await paths(running, "zebra") == []
        (root / ".git/info/exclude").unlink()
        assert await paths(running, "zebra") == ["a.py"]
        (home / ".config/git/ignore").write_text("*.py\n")
        assert await paths(running, "zebra") == []


async def test_searches_that_meet_a_refresh_wait_for_it(tmp_path: Path) -> None:
    """The second of two searches must not be answered from before the edit."""
    root = tmp_path / "ws"
    root.mkdir()
    for number in range(40):
        (root / f"f{number}.py").write_text(f"def zebra{number}(): pass\n")
    async with index_engine(root, tmp_path / "cache") as running:
        for number in range(5):
            (root / "f0.py").write_text(f"def otter{number}(): pass\n")
            queries = [f"otter{number}", f"otter{number} pass", f"f0 otter{number}"]
            answers = await asyncio.gather(*(paths(running, query) for query in queries))
            assert [answer[0] for answer in answers] == ["f0.py"] * 3


async def test_edits_between_processes(tmp_path: Path) -> None:
    """A second process takes over what the first indexed, and reads only what changed."""
    root = tmp_path / "ws"
    root.mkdir()
    for number in range(30):
        (root / f"f{number}.py").write_text(f"def zebra{number}(): pass\n")
    cache = tmp_path / "cache"
    async with index_engine(root, cache):
        pass
    (root / "f3.py").write_text("def otter(): pass\n")
    (root / "f4.py").unlink()
    async with engine(root, cache=cache, families=("index",)) as running:
        assert await paths(running, "otter") == ["f3.py"]
    (root / "f5.py").write_text("def badger(): pass\n")
    async with engine(root, cache=cache, families=("index",)) as running:
        (report,) = (await running.once("index_build"))["roots"]
        assert (report["changed"], report["added"], report["removed"]) == (1, 0, 0)
        assert report["unchanged"] == 28


async def test_two_indexes_at_once(tmp_path: Path) -> None:
    """Two processes on one index: each takes up edits, neither loses or breaks anything."""
    root = tmp_path / "ws"
    root.mkdir()
    for number in range(20):
        (root / f"f{number}.py").write_text(f"def zebra{number}(): pass\n")
    async with (
        bench(tmp_path / "cache") as tools,
        tools.open(root) as one,
        tools.open(root) as two,
    ):
        await build(one)
        assert len(await found(two, "zebra0")) >= 1
        for step in range(15):
            writer, reader = (one, two) if step % 2 else (two, one)
            (root / f"f{step}.py").write_text(f"def otter{step}(): pass\n")
            first, second = await asyncio.gather(
                found(writer, f"otter{step}"), found(reader, f"otter{step}")
            )
            assert first == second and first[0].path == f"f{step}.py"
        await build(one, force=True)
        assert [item.path for item in await found(two, "otter3")][:1] == ["f3.py"]
        two.builders[str(root)].library.store.try_lock()
        two.builders[str(root)].library.store.discard("a test")
        two.builders[str(root)].library.store.unlock()
        await build(two)
        (root / "f1.py").write_text("def badger(): pass\n")
        assert [item.path for item in await found(one, "badger")] == ["f1.py"], "began anew with it"


async def test_nothing_is_answered_before_the_first_build(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.py").write_text("def zebra(): pass\n")
    async with engine(root, cache=tmp_path / "cache", families=("index",)) as running:
        with pytest.raises(NoIndex) as caught:
            await running.once("search", query="zebra")
        assert caught.value.details["building"] is False


def phase(builder: Builder) -> str:
    return builder.phase.name if builder.phase is not None else ""


async def test_the_work_of_a_build_goes_on_until_the_last_one_left(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    write_corpus(root, 1_500, functions=1)
    heard: dict[str, list[str]] = {"first": [], "second": []}
    going = asyncio.Event()

    def listener(name: str) -> Progress:
        def hear(
            message: str, *, phase: str, done: int | None = None, total: int | None = None
        ) -> None:
            heard[name].append(phase)
            if heard["second"]:
                going.set()

        return hear

    async with bench(tmp_path / "cache") as tools, tools.open(root) as index:
        [builder] = index.builders.values()
        first = asyncio.create_task(index.build(listener("first"), force=False))
        while phase(builder) != "index":
            await asyncio.sleep(0)
        second = asyncio.create_task(index.build(listener("second"), force=False))
        await going.wait()
        first.cancel()
        [tally] = (await second).values()
        assert tally.added == len(builder.library.rows) == 1_500
        assert "scan" not in heard["second"], "nothing was begun anew"
        assert len(await found(index, "parser")) > 0
        # The last one to leave ends it.
        alone = asyncio.create_task(index.build(listener("first"), force=True))
        while phase(builder) != "index":
            await asyncio.sleep(0)
        alone.cancel()
        await asyncio.wait({alone})
        assert phase(builder) == "" and not builder.library.store.locked
