"""Whatever happens to files and folders is found when it is next asked for, by both observers."""

import mmap
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sightline.workspace import observers
from sightline.workspace import tree as tree_module
from sightline.workspace.changes import Kind
from sightline.workspace.inotify import Event, Inotify, Mask, WatchLimit
from sightline.workspace.observers import Observer, Sweeper, Watcher, observe
from sightline.workspace.tree import Stamp, Tree, differences, read_folder, scan

CREATED, CHANGED, DELETED = Kind.CREATED, Kind.CHANGED, Kind.DELETED


@pytest.fixture(params=["notification", "sweep"])
def watched(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Path], Observer]:
    def start(top: Path) -> Observer:
        observer = observe(str(top), notify=request.param == "notification")
        assert isinstance(observer, Watcher if request.param == "notification" else Sweeper)
        observer.start()
        request.addfinalizer(observer.close)
        return observer

    return start


@pytest.fixture
def top(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "pkg" / "deep").mkdir(parents=True)
    (folder / "a.py").write_text("a = 1\n")
    (folder / "pkg" / "b.py").write_text("b = 1\n")
    (folder / "pkg" / "deep" / "c.py").write_text("c = 1\n")
    return folder


def found(observer: Observer, top: Path) -> dict[str, int]:
    return {os.path.relpath(c.path, top): c.kind for c in observer.changes()}


def test_nothing_changed(watched: Callable[[Path], Observer], top: Path) -> None:
    observer = watched(top)
    assert found(observer, top) == {}
    assert found(observer, top) == {}


def test_write_create_delete(watched: Callable[[Path], Observer], top: Path) -> None:
    observer = watched(top)
    (top / "a.py").write_text("a = 2\n")
    (top / "new.py").write_text("")
    (top / "pkg" / "b.py").unlink()
    assert found(observer, top) == {"a.py": CHANGED, "new.py": CREATED, "pkg/b.py": DELETED}
    assert found(observer, top) == {}


def test_edit_that_keeps_size_and_modification_time(
    watched: Callable[[Path], Observer], top: Path
) -> None:
    observer = watched(top)
    before = (top / "a.py").stat()
    (top / "a.py").write_text("a = 9\n")
    os.utime(top / "a.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert found(observer, top) == {"a.py": CHANGED}


def test_atomic_replacement(watched: Callable[[Path], Observer], top: Path) -> None:
    observer = watched(top)
    (top / ".a.py.swap").write_text("a = 3\n")
    (top / ".a.py.swap").replace(top / "a.py")
    changes = found(observer, top)
    assert changes.pop("a.py") == CHANGED
    assert changes == {}


def test_file_renamed(watched: Callable[[Path], Observer], top: Path) -> None:
    observer = watched(top)
    (top / "a.py").rename(top / "z.py")
    assert found(observer, top) == {"a.py": DELETED, "z.py": CREATED}


def test_folder_renamed_with_its_content(watched: Callable[[Path], Observer], top: Path) -> None:
    observer = watched(top)
    (top / "pkg").rename(top / "lib")
    assert found(observer, top) == {
        "pkg/b.py": DELETED,
        "pkg/deep/c.py": DELETED,
        "lib/b.py": CREATED,
        "lib/deep/c.py": CREATED,
    }
    (top / "lib" / "deep" / "c.py").write_text("c = 2\n")
    assert found(observer, top) == {"lib/deep/c.py": CHANGED}


def test_folder_made_and_filled_at_once(watched: Callable[[Path], Observer], top: Path) -> None:
    observer = watched(top)
    (top / "n1" / "n2" / "n3").mkdir(parents=True)
    (top / "n1" / "n2" / "n3" / "d.py").write_text("d = 1\n")
    assert found(observer, top) == {"n1/n2/n3/d.py": CREATED}
    (top / "n1" / "n2" / "e.py").write_text("e = 1\n")
    assert found(observer, top) == {"n1/n2/e.py": CREATED}


def test_folder_moved_in_and_out(
    watched: Callable[[Path], Observer], top: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    (outside / "sub").mkdir(parents=True)
    (outside / "sub" / "x.py").write_text("x = 1\n")
    observer = watched(top)
    outside.rename(top / "inside")
    assert found(observer, top) == {"inside/sub/x.py": CREATED}
    (top / "inside").rename(tmp_path / "away")
    assert found(observer, top) == {"inside/sub/x.py": DELETED}
    (tmp_path / "away" / "sub" / "x.py").write_text("x = 2\n")
    assert found(observer, top) == {}


def test_tree_removed_and_made_again(watched: Callable[[Path], Observer], top: Path) -> None:
    observer = watched(top)
    shutil.rmtree(top / "pkg")
    assert found(observer, top) == {"pkg/b.py": DELETED, "pkg/deep/c.py": DELETED}
    (top / "pkg").mkdir()
    (top / "pkg" / "b.py").write_text("b = 5\n")
    assert found(observer, top) == {"pkg/b.py": CREATED}


def test_file_becomes_a_folder_and_back(watched: Callable[[Path], Observer], top: Path) -> None:
    observer = watched(top)
    (top / "a.py").unlink()
    (top / "a.py").mkdir()
    (top / "a.py" / "inner.py").write_text("")
    assert found(observer, top) == {"a.py": DELETED, "a.py/inner.py": CREATED}
    shutil.rmtree(top / "a.py")
    (top / "a.py").write_text("a = 1\n")
    assert found(observer, top) == {"a.py/inner.py": DELETED, "a.py": CREATED}


def test_links_are_seen_but_not_followed(
    watched: Callable[[Path], Observer], top: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.py").write_text("s = 1\n")
    (tmp_path / "folder").mkdir()
    observer = watched(top)
    (top / "link.py").symlink_to(tmp_path / "secret.py")
    (top / "linked").symlink_to(tmp_path / "folder")
    (tmp_path / "folder" / "x.py").write_text("")
    assert found(observer, top) == {"link.py": CREATED, "linked": CREATED}
    (top / "link.py").unlink()
    (top / "link.py").symlink_to(top / "a.py")
    assert found(observer, top) == {"link.py": CHANGED}


def test_written_through_a_mapping(watched: Callable[[Path], Observer], top: Path) -> None:
    observer = watched(top)
    with (top / "a.py").open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapping:
        mapping[4:5] = b"7"
        mapping.flush()
    assert found(observer, top) == {"a.py": CHANGED}


def test_audit_finds_what_a_living_mapping_wrote(top: Path) -> None:
    observer = observe(str(top))
    assert isinstance(observer, Watcher)
    observer.start()
    with (top / "a.py").open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapping:
        mapping[4:5] = b"7"
        mapping.flush()
        assert found(observer, top) == {}, "the kernel announces nothing yet"
        missed = observer.audit(scan(str(top))[0])
    assert [(os.path.relpath(c.path, top), c.kind) for c in missed] == [("a.py", CHANGED)]
    observer.close()


def test_git_switch(watched: Callable[[Path], Observer], top: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
        subprocess.run(["git", *identity, *arguments], cwd=top, check=True, capture_output=True)

    git("init", "-b", "one")
    git("add", "-A")
    git("commit", "-m", "one")
    git("switch", "-c", "two")
    (top / "a.py").write_text("a = 22\n")
    (top / "two.py").write_text("")
    (top / "pkg" / "deep" / "c.py").unlink()
    git("add", "-A")
    git("commit", "-m", "two")
    observer = watched(top)
    git("switch", "one")
    assert found(observer, top) == {"a.py": CHANGED, "two.py": DELETED, "pkg/deep/c.py": CREATED}
    git("switch", "two")
    assert found(observer, top) == {"a.py": CHANGED, "two.py": CREATED, "pkg/deep/c.py": DELETED}


def test_untracked_kinds_and_version_control_are_not_reported(
    watched: Callable[[Path], Observer], top: Path
) -> None:
    observer = watched(top)
    (top / "x.pyc").write_bytes(b"")
    (top / "server.log").write_text("hello")
    (top / ".git").mkdir()
    (top / ".git" / "index.py").write_text("")
    assert found(observer, top) == {}


def test_root_removed(watched: Callable[[Path], Observer], top: Path) -> None:
    observer = watched(top)
    shutil.rmtree(top)
    assert set(found(observer, top).values()) == {DELETED}


def test_overflow_is_found_by_looking_at_everything(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    observer = observe(str(top))
    assert isinstance(observer, Watcher)
    observer.start()
    drain = observer.inotify.drain

    def overflowing() -> list[object]:
        drain()
        monkeypatch.setattr(observer.inotify, "drain", drain)
        return [Event(-1, Mask.OVERFLOW, "")]

    (top / "a.py").write_text("a = 4\n")
    (top / "n").mkdir()
    (top / "n" / "n.py").write_text("")
    monkeypatch.setattr(observer.inotify, "drain", overflowing)
    assert found(observer, top) == {"a.py": CHANGED, "n/n.py": CREATED}
    (top / "n" / "n.py").write_text("n = 1\n")
    assert found(observer, top) == {"n/n.py": CHANGED}
    observer.close()


def test_folders_past_the_watch_limit_are_swept(top: Path) -> None:
    class Limited(Inotify):
        left = 2

        def watch(self, folder: str) -> int:
            if self.left == 0:
                raise WatchLimit("limit")
            self.left -= 1
            return super().watch(folder)

    observer = observe(str(top), make=Limited)
    assert isinstance(observer, Watcher)
    observer.start()
    assert observer.sweeps
    assert "limit" in observer.reason
    (top / "pkg" / "deep" / "c.py").write_text("c = 3\n")
    (top / "pkg" / "deep" / "more").mkdir()
    (top / "pkg" / "deep" / "more" / "m.py").write_text("")
    (top / "a.py").write_text("a = 5\n")
    assert found(observer, top) == {
        "a.py": CHANGED,
        "pkg/deep/c.py": CHANGED,
        "pkg/deep/more/m.py": CREATED,
    }
    (top / "pkg" / "deep" / "more" / "m.py").unlink()
    assert found(observer, top) == {"pkg/deep/more/m.py": DELETED}
    observer.close()


def test_no_inotify_at_all_falls_back_to_the_sweep(top: Path) -> None:
    def unavailable() -> Inotify:
        raise WatchLimit("no descriptors left")

    observer = observe(str(top), make=unavailable)
    assert isinstance(observer, Sweeper)
    assert "inotify" in observer.reason


class Operations:
    """Random edits of a small tree, applied to the disk and to a model of it."""

    names = st.sampled_from(["a.py", "b.py", "d1/a.py", "d1/b.py", "d1/d2/a.py", "d3/a.py"])
    folders = st.sampled_from(["d1", "d1/d2", "d3"])

    steps = st.lists(
        st.one_of(
            st.tuples(st.just("write"), names, st.integers(0, 9)),
            st.tuples(st.just("delete"), names, st.none()),
            st.tuples(st.just("rename"), names, names),
            st.tuples(st.just("replace"), names, st.integers(0, 9)),
            st.tuples(st.just("rmtree"), folders, st.none()),
            st.tuples(st.just("mvdir"), folders, st.sampled_from(["d4", "d1/d5"])),
        ),
        max_size=12,
    )


def apply(top: Path, step: tuple[str, str, object]) -> None:
    kind, name, extra = step
    path = top / name
    if kind in ("write", "replace"):
        if path.is_dir() or not _make(path.parent):
            return
        target = path if kind == "write" else path.with_name(".new.py")
        target.write_text(f"x = {extra}\n")
        if kind == "replace":
            target.replace(path)
    elif kind == "delete" and path.is_file():
        path.unlink()
    elif kind == "rename" and path.is_file():
        other = top / str(extra)
        if not other.is_dir() and _make(other.parent):
            path.replace(other)
    elif kind == "rmtree" and path.is_dir():
        shutil.rmtree(path)
    elif kind == "mvdir" and path.is_dir():
        other = top / str(extra)
        if not other.exists() and path not in other.parents and _make(other.parent):
            path.rename(other)


def _make(folder: Path) -> bool:
    folder.mkdir(parents=True, exist_ok=True)
    return True


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    batches=st.lists(Operations.steps, min_size=1, max_size=4),
    unwatched=st.sets(st.sampled_from(["d1", "d3", "d4"])),
)
def test_announced_changes_equal_what_a_sweep_finds(
    tmp_path_factory: pytest.TempPathFactory,
    batches: list[list[tuple[str, str, object]]],
    unwatched: set[str],
) -> None:
    """Wherever a part of the tree cannot be watched, too."""

    class Scarce(Inotify):
        def watch(self, folder: str) -> int:
            if os.path.basename(folder) in unwatched:
                raise WatchLimit("limit")
            return super().watch(folder)

    top = tmp_path_factory.mktemp("tree")
    (top / "d1").mkdir()
    (top / "d1" / "a.py").write_text("x = 0\n")
    watcher = observe(str(top), make=Scarce)
    assert isinstance(watcher, Watcher)
    watcher.start()
    for batch in batches:
        held = watcher.tree
        earlier = {folder: dict(files) for folder, files in held.items()}
        for step in batch:
            apply(top, step)
        now = scan(str(top))[0]
        reported = {change.path: change.kind for change in watcher.changes()}
        assert watcher.tree == now
        assert held == earlier, "somebody may still read it"
        assert {path for path, _, _ in differences(earlier, now)} <= reported.keys()
        for path, kind in reported.items():
            assert (kind == DELETED) == (not os.path.isfile(path))
    watcher.close()


class Few(Inotify):
    """Room for the watches of the first three folders."""

    left = 3

    def watch(self, folder: str) -> int:
        if self.left == 0:
            raise WatchLimit("limit")
        self.left -= 1
        return super().watch(folder)


class Overflowing(Inotify):
    """Loses every announcement, and says so."""

    def drain(self) -> list[Event]:
        return [Event(-1, Mask.OVERFLOW, "")] if super().drain() else []


@pytest.mark.parametrize("make", [Inotify, Few, Overflowing])
def test_who_reads_while_changes_are_collected_sees_a_whole_tree(
    top: Path, monkeypatch: pytest.MonkeyPatch, make: type[Inotify]
) -> None:
    """A thread may look at any moment. Here somebody looks whenever a folder has been read."""
    observer = observe(str(top), make=make)
    observer.start()
    seen: list[Tree] = []

    def read_and_look(folder: str, top: str) -> tuple[dict[str, Stamp], list[str], set[str]]:
        result = read_folder(folder, top)
        seen.append({folder: dict(files) for folder, files in observer.tree.items()})
        return result

    before = scan(str(top))[0]
    assert observer.tree == before
    (top / "new" / "deep").mkdir(parents=True)
    (top / "new" / "n.py").touch()
    (top / "new" / "deep" / "d.py").touch()
    (top / "pkg").rename(top / "moved")
    for module in (observers, tree_module):
        monkeypatch.setattr(module, "read_folder", read_and_look)
    observer.changes()
    after = scan(str(top))[0]
    assert observer.tree == after
    assert seen
    assert all(look in (before, after) for look in seen)
    observer.close()


@pytest.mark.parametrize("notify", [True, False])
def test_a_first_look_that_nobody_wants_ends_early(tmp_path: Path, notify: bool) -> None:
    """A thread cannot be cancelled, and the end of the program would wait for it."""
    for number in range(20):
        (tmp_path / f"folder{number}").mkdir()
    observer = observe(str(tmp_path), notify=notify)
    observer.close()
    observer.start()
    assert len(observer.tree) <= 1


#: Looks at a folder that is closed, opens it, and looks again: what was found then.
_OPENED = """
import os, sys
from sightline.workspace.observers import observe
top = sys.argv[1]
observer = observe(top)
observer.start()
print(observer.tree[top + "/pkg"])
os.chmod(top + "/pkg", 0o700)
print(*sorted(change.path[len(top):] for change in observer.changes()))
observer.close()
"""


def test_a_folder_that_was_closed_is_looked_into_once_it_is_open(top: Path) -> None:
    (top / "pkg").chmod(0)
    # Permissions do not hold for root, unless it gives up that privilege.
    limited = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
    command = [*(limited if os.getuid() == 0 else []), sys.executable, "-c", _OPENED, str(top)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["{}", "/pkg/b.py /pkg/deep/c.py"]
