"""What an index survives: kill -9, damage, older versions, a disk that lies."""

import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from sightline.index.index import Index
from tests.index.kills import Killer
from tests.support.index import bench, build, found


@pytest.mark.slow
async def test_kill_nine(tmp_path: Path) -> None:
    """A few rounds; ``python -m tests.index.kills`` does a hundred."""
    async with bench(tmp_path / "cache") as tools:
        ended = await Killer(tmp_path, tools, seed=3).rounds(5)
    assert ended["killed"] > 0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    for number in range(10):
        (folder / f"f{number}.py").write_text(f"def zebra{number}(): pass\n")
    return folder


def folder_of(index: Index, root: Path) -> Path:
    return Path(index.builders[str(root)].library.store.folder)


def spoil_segment(folder: Path) -> None:
    (segment,) = folder.glob("*.segment")
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 0x40
    segment.write_bytes(data)


def cut_segment(folder: Path) -> None:
    (segment,) = folder.glob("*.segment")
    os.truncate(segment, segment.stat().st_size // 2)


def remove_segment(folder: Path) -> None:
    for segment in folder.glob("*.segment"):
        segment.unlink()


def spoil_manifest(folder: Path) -> None:
    for name in ("manifest.sqlite-wal", "manifest.sqlite-shm"):
        (folder / name).unlink(missing_ok=True)
    (folder / "manifest.sqlite").write_bytes(b"SQLite format 3\0" + b"\xff" * 4_096)


def empty_manifest(folder: Path) -> None:
    for name in ("manifest.sqlite-wal", "manifest.sqlite-shm"):
        (folder / name).unlink(missing_ok=True)
    (folder / "manifest.sqlite").write_bytes(b"")


def other_version(folder: Path) -> None:
    with sqlite3.connect(folder / "manifest.sqlite") as database:
        database.execute("UPDATE meta SET value = 'old' WHERE key = 'version'")
    database.close()


def other_root(folder: Path) -> None:
    with sqlite3.connect(folder / "manifest.sqlite") as database:
        database.execute("UPDATE meta SET value = '/elsewhere' WHERE key = 'root'")
    database.close()


def lost_table(folder: Path) -> None:
    with sqlite3.connect(folder / "manifest.sqlite") as database:
        database.execute("DROP TABLE file")
    database.close()


DAMAGES = [spoil_segment, cut_segment, remove_segment, spoil_manifest, empty_manifest,
           other_version, other_root, lost_table]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
async def test_damage_is_noticed_and_made_good(root: Path, tmp_path: Path, damage: object) -> None:
    assert callable(damage)
    async with bench(tmp_path / "cache") as tools:
        async with tools.open(root) as index:
            await build(index)
            expected = await found(index, "zebra3")
            folder = folder_of(index, root)
        damage(folder)
        async with tools.open(root) as index:
            assert await found(index, "zebra3") == expected, "searched without a build"
            assert not index.builders[str(root)].library.store.damage
            assert folder.stat().st_mode & 0o077 == 0
            assert all(file.stat().st_mode & 0o077 == 0 for file in folder.iterdir())


async def test_what_somebody_left_behind_is_removed(root: Path, tmp_path: Path) -> None:
    async with bench(tmp_path / "cache") as tools, tools.open(root) as index:
        await build(index)
        left = folder_of(index, root) / "999.segment"
        left.write_bytes(b"half a segment")
        (root / "f1.py").write_text("def otter(): pass\n")
        assert (await found(index, "otter"))[0].path == "f1.py"
        assert not left.exists()


async def test_many_edits_do_not_pile_up(root: Path, tmp_path: Path) -> None:
    async with bench(tmp_path / "cache") as tools, tools.open(root) as index:
        await build(index)
        for number in range(40):
            (root / f"f{number % 10}.py").write_text(f"def otter{number}(): pass\n")
            assert (await found(index, f"otter{number}"))[0].path == f"f{number % 10}.py"
        assert len(list(folder_of(index, root).glob("*.segment"))) <= 12


@pytest.mark.parametrize("first", [0, 1])
async def test_a_cache_that_is_cleared_under_two_servers(
    root: Path, tmp_path: Path, first: int
) -> None:
    """The new index has the numbers of the old one, and other files behind them."""
    cache = bench(tmp_path / "cache")
    async with cache as tools, tools.open(root) as one, tools.open(root) as other:
        await build(one)
        for index in (one, other):
            assert await found(index, "zebra3")
        order = [one, other] if first == 0 else [other, one]
        for name in ("otter", "lynx"):
            shutil.rmtree(folder_of(one, root))
            (root / "f1.py").write_text(f"def {name}(): pass\n")
            for index in order:
                assert [item.path for item in await found(index, name)] == ["f1.py"]
                assert await found(index, "zebra3")
