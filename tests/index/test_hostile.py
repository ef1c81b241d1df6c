"""Files and queries that mean harm, or just behave badly: bounded and clear."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from sightline.contract.failures import InvalidArguments
from sightline.index.building.workers import Workers
from tests.support.engine import engine
from tests.support.index import ENVIRONMENT, build, found, index_engine, open_index
from tests.support.watching import HANG_S

#: A worker whose grammar hangs or dies on files that say so.
BAD_WORKER = """
import os, sys, time
from sightline.index.building import worker

real = worker.cut
def cut(data, language, *, parse=True):
    if b"HANG ALWAYS" in data or (parse and b"HANG" in data):
        while True:
            time.sleep(60)
    if b"DIE ALWAYS" in data or (parse and b"DIE" in data):
        os._exit(9)
    return real(data, language, parse=parse)
worker.cut = cut
worker.main()
"""


def one_worker(cache: Path, code: str, *, hang_s: float) -> Workers:
    command = [sys.executable, "-c", code]
    return Workers(ENVIRONMENT, [], str(cache), limit=1, hang_s=hang_s, command=command)


async def test_a_grammar_that_hangs_or_dies_costs_one_file(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    for number in range(20):
        (root / f"f{number:02}.py").write_text(f"def zebra{number}(): pass\n")
    (root / "f05.py").write_text("def otter(): pass  # HANG\n")
    (root / "f06.py").write_text("def badger(): pass  # DIE\n")
    (root / "f07.py").write_text("def weasel(): pass  # DIE ALWAYS\n")
    (root / "f08.py").write_text("def marten(): pass  # HANG ALWAYS\n")
    cache = tmp_path / "cache"
    cache.mkdir()
    workers = one_worker(cache, BAD_WORKER, hang_s=2.0)
    async with open_index(root, cache, workers=workers) as index:
        try:
            await build(index)
            rows = index.builders[str(root)].library.rows
            assert [path for path, row in rows.items() if row.reason == "failed"] == [
                "f07.py",
                "f08.py",
            ]
            assert (await found(index, "zebra19"))[0].path == "f19.py"
            for word, path in [("otter", "f05.py"), ("badger", "f06.py")]:
                (hit,) = await found(index, word)
                assert (hit.path, hit.kind) == (path, "text"), "cut by lines, without its grammar"
        finally:
            await workers.close()


async def test_a_worker_that_gets_no_processor_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine a file must not be given up because of what others do."""
    monkeypatch.setattr("sightline.index.building.workers.starved", lambda *_: True)
    root, cache = tmp_path / "ws", tmp_path / "cache"
    root.mkdir()
    cache.mkdir()
    for number in range(3):
        (root / f"f{number}.py").write_text(f"def zebra{number}(): pass\n")
    slow = BAD_WORKER.replace("while True:", "if True:").replace("sleep(60)", "sleep(1)")
    (root / "f1.py").write_text("def otter(): pass  # HANG ALWAYS\n")
    workers = one_worker(cache, slow, hang_s=0.5)
    async with open_index(root, cache, workers=workers) as index:
        try:
            await build(index)
            rows = index.builders[str(root)].library.rows
            assert not [path for path, row in rows.items() if row.reason == "failed"]
        finally:
            await workers.close()


async def test_files_that_change_their_nature_during_the_build(tmp_path: Path) -> None:
    """Vanished, swapped for a pipe, for a link to the outside, for a folder, growing."""
    root = tmp_path / "ws"
    root.mkdir()
    for number in range(50):
        (root / f"f{number:02}.py").write_text(f"def zebra{number}(): pass\n")
    (tmp_path / "secret.py").write_text("def secret_outside(): pass\n")
    async with engine(root, cache=tmp_path / "cache", families=("index",)) as running:
        await running.once("workspace_status")  # the files are known now
        index = await running.program.index.get()
        tree = index.tree(str(root))
        (root / "f00.py").unlink()
        (root / "f01.py").unlink()
        os.mkfifo(root / "f01.py")
        (root / "f02.py").unlink()
        os.symlink(tmp_path / "secret.py", root / "f02.py")
        (root / "f03.py").unlink()
        (root / "f03.py").mkdir()
        (root / "f04.py").write_text("x = 1\n" * 400_000)
        # Built from what was known before, as if all that happened right after the scan.
        builder = index.builders[str(root)]
        await builder.refresh(lambda: tree, lambda *a, **k: None)
        rows = builder.library.rows
        assert {
            path: rows[path].reason for path in ("f01.py", "f02.py", "f04.py") if path in rows
        } == {
            "f02.py": "not_regular",
            "f04.py": "too_large",
        }
        answer = await running.once("search", query="secret_outside")
        assert answer["items"] == []
        assert len((await running.once("search", query="zebra", mode="literal"))["items"]) == 10


@pytest.mark.parametrize(
    "pattern",
    [r"(a+)+$", r"(a|aa)+$", r"(.*a){20}", r"(x+x+)+y", r"(?i)(a|A|b|B)*c" * 20],
)
async def test_catastrophic_patterns_are_linear(tmp_path: Path, pattern: str) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.txt").write_text(("a" * 3_000 + "!\n") * 50)
    async with index_engine(root, tmp_path / "cache") as running:
        async with asyncio.timeout(60):  # a backtracking engine would need years
            answer = await running.once("search", query=pattern, mode="regex")
        assert isinstance(answer["items"], list)


async def test_patterns_that_need_too_much_memory_are_refused(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    async with index_engine(root, tmp_path / "cache") as running:
        for pattern in (r"a{1000}{1000}", r"(?:[^\x00-\x{10ffff}]|\pL){900}" * 9):
            with pytest.raises(InvalidArguments, match="regular expression"):
                await running.once("search", query=pattern, mode="regex")


async def test_queries_of_every_size_and_kind(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.py").write_text("def zebra(): pass\n")
    async with index_engine(root, tmp_path / "cache") as running:
        words = " ".join(f"word{number}" for number in range(1_500))[:16_384]
        queries = [
            words, "zebra " * 2_000, '"' * 9_000, "(" * 9_000, "\\" * 999, "\u202e\u0000x",
            "zebra\n" * 500, "\U0001d537" * 8_000, "a.b." * 4_000, "/" * 16_000,
        ]  # fmt: skip
        for query in queries:
            for mode in ("auto", "literal"):
                answer = await running.once("search", query=query, mode=mode)
                assert isinstance(answer["items"], list)
        with pytest.raises(Exception, match="query"):
            await running.once("search", query="x" * 1_000_000)


async def test_a_search_that_is_cancelled_stops(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    for number in range(200):
        (root / f"f{number}.txt").write_text("abc def\n" * 4_000)
    async with index_engine(root, tmp_path / "cache") as running:
        task = asyncio.create_task(running.once("search", query=r"(\w+ )*zzz", mode="regex"))
        async with asyncio.timeout(HANG_S):
            while not running.program.calls.in_flight:
                await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert running.program.calls.in_flight == 0
        assert (await running.once("search", query="abc", pageSize=1))["items"]
