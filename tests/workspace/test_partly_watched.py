"""A root of which only a part can be watched: the rest is swept, and nothing gets lost between."""

import errno
import mmap
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sightline.contract.failures import Unavailable
from sightline.workspace import tree
from sightline.workspace.changes import Kind
from sightline.workspace.inotify import Event, Inotify, WatchLimit
from sightline.workspace.mounts import Mounts
from sightline.workspace.observers import Observer, Scope, Sweeper, Watcher, observe
from sightline.workspace.tree import Stamp, scan
from tests.support.files import write_files
from tests.support.workspaces import opened

CREATED, CHANGED, DELETED = Kind.CREATED, Kind.CHANGED, Kind.DELETED
FILES = {
    "a.py": "a = 1\n",
    "swept/b.py": "b = 1\n",
    "swept/deep/c.py": "c = 1\n",
    "w/d.py": "d = 1",
}


class Scarce(Inotify):
    """No watch is left for folders of this name, but there is for those below them."""

    def watch(self, folder: str) -> int:
        if folder.endswith("/swept"):
            raise WatchLimit("limit")
        return super().watch(folder)


Start = Callable[..., Observer]


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[Observer] = []

    def begin(top: Path, scope: Scope | None = None, *, notify: bool = True) -> Observer:
        observer = observe(str(top), notify=notify, scope=scope, make=Scarce)
        assert isinstance(observer, Watcher if notify else Sweeper)
        observer.start()
        started.append(observer)
        return observer

    yield begin
    for observer in started:
        observer.close()


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return write_files(tmp_path / "root", FILES)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    return write_files(tmp_path / "outside", {"c.py": "c = 9\n", "far/secret.py": ""})


def found(observer: Observer, top: Path) -> dict[str, int]:
    changes = {os.path.relpath(c.path, top): c.kind for c in observer.changes()}
    assert observer.tree == scan(str(top))[0]
    return changes


@pytest.mark.parametrize("notify", [True, False])
def test_a_link_in_the_place_of_a_swept_folder_is_not_followed(
    start: Start, top: Path, outside: Path, notify: bool
) -> None:
    observer = start(top, notify=notify)
    (top / "swept/deep").rename(top / "swept/moved")
    (top / "swept/deep").symlink_to(outside)
    changes = found(observer, top)
    assert changes == {
        "swept/deep": CREATED,
        "swept/deep/c.py": DELETED,
        "swept/moved/c.py": CREATED,
    }
    (outside / "far/secret.py").write_text("s = 1\n")
    assert found(observer, top) == {}


@pytest.mark.parametrize("name", ["swept", "swept/deep"])
def test_a_link_that_takes_the_place_while_it_is_looked_for(
    start: Start, top: Path, outside: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Between the announcements and the look, and between a folder and what it holds."""
    observer, read_folder = start(top), tree.read_folder

    def exchange(folder: str, whole: str) -> tuple[dict[str, Stamp], list[str], set[str]]:
        if folder == str(top / name) and not os.path.islink(folder):
            os.rename(folder, top / "moved")
            os.symlink(outside, folder)
        return read_folder(folder, whole)

    monkeypatch.setattr(tree, "read_folder", exchange)
    observer.changes()
    assert not any("secret" in file for files in observer.tree.values() for file in files)
    assert str(top / name / "far") not in observer.tree
    assert found(observer, top)
    assert found(observer, top) == {}


def test_a_root_that_is_swept_and_becomes_a_link(start: Start, top: Path, outside: Path) -> None:
    observer = start(top, notify=False)
    top.rename(top.with_name("moved"))
    top.symlink_to(outside)
    assert set(found(observer, top).values()) == {DELETED}
    assert not any(observer.tree.values())


def test_no_more_is_swept_than_may_be(start: Start, top: Path) -> None:
    observer = start(top, Scope(swept=3))
    whole = [observer.complete]
    write_files(top / "swept/new", {f"{number}.py": "" for number in range(9)})
    assert observer.changes() == [], "nothing is known of a part that was not looked through"
    whole.append(observer.complete)
    shutil.rmtree(top / "swept/new")
    assert found(observer, top) == {}
    assert [*whole, observer.complete] == [True, False, True]


@pytest.mark.parametrize("notify", [True, False])
@pytest.mark.parametrize(("grain", "later"), [(1, 0), (1_000_000_000, 1_900_000_000)])
def test_written_again_in_the_same_tick(
    start: Start, top: Path, monkeypatch: pytest.MonkeyPatch, notify: bool, grain: int, later: int
) -> None:
    """The clock of a file system stands still for milliseconds, or for seconds."""
    stamp = tree.stamp_of(str(top / "swept/b.py"))
    assert stamp is not None
    stamp = stamp._replace(ctime_ns=stamp.ctime_ns // grain * grain)
    monkeypatch.setattr(tree, "stamp_from", lambda status: stamp)
    monkeypatch.setattr(time, "time_ns", lambda: stamp.ctime_ns + later)
    observer = start(top, notify=notify)
    assert tree.last_change(observer.tree) >= stamp.ctime_ns + later
    (top / "swept/b.py").write_text("b = 2\n")
    assert found(observer, top) == {"swept/b.py": CHANGED}
    assert found(observer, top) == {}


@pytest.mark.parametrize("target", ["swept/x", "x", "swept/deep/x", "../away"])
def test_a_folder_below_a_swept_one_is_moved(start: Start, top: Path, target: str) -> None:
    write_files(top / "swept/low", {"e.py": "e = 1\n", "er/f.py": "f = 1\n"})
    observer = start(top)
    (top / "swept/low").rename(top / target)
    gone = {"swept/low/e.py": DELETED, "swept/low/er/f.py": DELETED}
    inside = not target.startswith("..")
    came = {f"{target}/e.py": CREATED, f"{target}/er/f.py": CREATED} if inside else {}
    assert found(observer, top) == gone | came
    (top / target / "er/f.py").write_text("f = 22\n")
    assert found(observer, top) == ({f"{target}/er/f.py": CHANGED} if inside else {})


def test_a_watched_folder_is_moved_below_a_swept_one_and_back(start: Start, top: Path) -> None:
    observer = start(top)
    (top / "w").rename(top / "swept/deep/w")
    assert found(observer, top) == {"w/d.py": DELETED, "swept/deep/w/d.py": CREATED}
    (top / "swept/deep/w/d.py").write_text("d = 22\n")
    assert found(observer, top) == {"swept/deep/w/d.py": CHANGED}
    (top / "swept/deep/w").rename(top / "w")
    assert found(observer, top) == {"swept/deep/w/d.py": DELETED, "w/d.py": CREATED}
    (top / "w/d.py").write_text("d = 333\n")
    assert found(observer, top) == {"w/d.py": CHANGED}


def test_a_swept_folder_is_removed_and_made_again(start: Start, top: Path) -> None:
    observer = start(top)
    shutil.rmtree(top / "swept/deep")
    assert found(observer, top) == {"swept/deep/c.py": DELETED}
    shutil.rmtree(top / "swept")
    assert found(observer, top) == {"swept/b.py": DELETED}
    assert not observer.sweeps
    write_files(top, FILES)
    assert {"swept/b.py", "swept/deep/c.py"} <= found(observer, top).keys()
    (top / "swept/deep/c.py").write_text("c = 22\n")
    assert found(observer, top) == {"swept/deep/c.py": CHANGED}
    (top / "swept").rename(top / "other")
    found(observer, top)
    assert not observer.sweeps


async def test_the_audit_looks_at_what_is_watched(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Inotify, "watch", _scarce(Inotify.watch))
    async with opened(top) as workspace:
        before = await workspace.begin()
        assert workspace.observers[str(top)].sweeps
        with (top / "a.py").open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapping:
            mapping[4:5] = b"7"
            mapping.flush()
            assert await workspace.begin() is before
            await workspace.audit()
            assert (await workspace.begin()).epochs.text == before.epochs.text + 1


async def test_a_folder_that_only_the_audit_found_is_watched(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(top) as workspace:
        before = await workspace.begin()
        drain = Inotify.drain

        def losing(self: Inotify) -> list[Event]:
            drain(self)
            return []

        write_files(top / "new", {"n.py": "n = 1\n"})
        with monkeypatch.context() as patch:
            patch.setattr(Inotify, "drain", losing)
            assert await workspace.begin() is before
        await workspace.audit()
        found = await workspace.begin()
        assert found.epochs.fs == before.epochs.fs + 1
        (top / "new/n.py").write_text("n = 22\n")
        assert (await workspace.begin()).epochs.text == found.epochs.text + 1


@pytest.mark.parametrize("now", [True, False])
async def test_too_much_that_came_and_must_be_swept_is_refused_at_once(
    top: Path, monkeypatch: pytest.MonkeyPatch, now: bool
) -> None:
    shutil.rmtree(top / "swept")
    monkeypatch.setattr(Inotify, "watch", _scarce(Inotify.watch))
    async with opened(top) as workspace:
        await workspace.begin()
        observer = workspace.observers[str(top)]
        assert isinstance(observer, Watcher)
        observer.scope = Scope(swept=3)
        write_files(top / "swept", {f"{number}.py": "" for number in range(9)})
        if now:
            assert workspace.begin_now() is None
        with pytest.raises(Unavailable, match="files"):
            await workspace.begin()


def test_what_is_announced_while_mounts_cannot_be_read_is_looked_at_later(
    start: Start, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    observer = start(top)
    (top / "a.py").write_text("a = 22\n")

    def fail(self: Mounts) -> bool:
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    with monkeypatch.context() as patch:
        patch.setattr(Mounts, "have_changed", fail)
        with pytest.raises(OSError, match="memory"):
            observer.changes()
    assert found(observer, top) == {"a.py": CHANGED}


def test_what_has_outgrown_its_scope_is_not_looked_through_at_every_audit(
    start: Start, top: Path
) -> None:
    shutil.rmtree(top / "swept")
    observer = start(top, Scope(announced=5))
    assert isinstance(observer, Watcher)
    write_files(top / "w/new", {f"{number}.py": "" for number in range(9)})
    write_files(top / "x", {f"{number}.py": "" for number in range(9)})
    observer.resync()
    assert not observer.complete
    before = observer.tree
    observer.audit(scan(str(top))[0])
    assert observer.changes() == []
    assert observer.tree is before


def _scarce(watch: Callable[[Inotify, str], int]) -> Callable[[Inotify, str], int]:
    def scarce(self: Inotify, folder: str) -> int:
        if folder.endswith("/swept"):
            raise WatchLimit("limit")
        return watch(self, folder)

    return scarce
