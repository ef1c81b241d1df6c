"""A change is told once by whoever observed it, so it must not get lost on its way."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from sightline.workspace import workspace as workspace_module
from sightline.workspace.changes import Change, Kind
from sightline.workspace.observers import Sweeper, Watcher
from sightline.workspace.roots import open_root
from sightline.workspace.tree import Tree, scan
from sightline.workspace.workspace import Workspace
from tests.support.files import write_files
from tests.support.workspaces import opened

FILES = {"one/a.py": "a = 1\n", "two/b.py": "b = 1\n"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path / "ws", FILES)


class Held:
    """Something that a thread does, held in the middle until it may go on."""

    def __init__(self) -> None:
        self._reached, self._released = threading.Event(), threading.Event()

    def here(self) -> None:
        self._reached.set()
        assert self._released.wait(60)

    async def reached(self) -> None:
        assert await asyncio.to_thread(self._reached.wait, 60)

    def release(self) -> None:
        self._released.set()


def hold_sweeps(monkeypatch: pytest.MonkeyPatch) -> Held:
    """Sweeps are held when they have looked at a root."""
    held, changes = Held(), Sweeper.changes

    def look(observer: Sweeper) -> list[Change]:
        found = changes(observer)
        held.here()
        return found

    monkeypatch.setattr(Sweeper, "changes", look)
    return held


def heard_by(workspace: Workspace) -> list[Change]:
    heard: list[Change] = []

    def listen(changes: Sequence[Change]) -> None:
        heard.extend(changes)

    workspace.listen(listen)
    return heard


async def test_an_edit_is_told_although_the_call_that_looked_was_cancelled(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(folder, notify=False) as workspace:
        before, heard = await workspace.begin(), heard_by(workspace)
        (folder / "one/a.py").write_text("a = 22\n")
        sweep = hold_sweeps(monkeypatch)
        call = asyncio.create_task(workspace.begin())
        await sweep.reached()
        call.cancel()
        await asyncio.wait({call})
        assert call.cancelled()
        sweep.release()
        after = await workspace.begin()
        assert heard == [Change(str(folder / "one/a.py"), Kind.CHANGED)]
        assert after.epochs.text == before.epochs.text + 1
        assert await workspace.begin() is after


async def test_a_call_that_comes_while_somebody_looks_gets_a_look_of_its_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(folder, notify=False) as workspace:
        before = await workspace.begin()
        sweep = hold_sweeps(monkeypatch)
        first = asyncio.create_task(workspace.begin())
        await sweep.reached()
        (folder / "one/a.py").write_text("a = 22\n")
        late = [asyncio.create_task(workspace.begin()) for _ in range(3)]
        sweep.release()
        assert await first is before
        (view,) = set(await asyncio.gather(*late))
        assert view.epochs.text == before.epochs.text + 1


async def test_roots_that_come_while_somebody_looks_are_in_the_view(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = (folder / name for name in ("one", "two"))
    async with opened(one, notify=False) as workspace:
        before = await workspace.begin()
        sweep = hold_sweeps(monkeypatch)
        call = asyncio.create_task(workspace.begin())
        await sweep.reached()
        workspace.follow([open_root(str(root), home=None) for root in (one, two)])
        sweep.release()
        assert (await call).epochs.roots == before.epochs.roots + 1
        assert [root.real for root, _ in workspace.trees()] == [str(one), str(two)]


@pytest.mark.parametrize("roots", [("one", "two"), ("repository/app",)])
async def test_an_edit_is_seen_while_an_audit_goes_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch, roots: Sequence[str]
) -> None:
    write_files(folder / "repository", {".git/HEAD": "", "app/c.py": "c = 1\n"})
    async with opened(*(folder / root for root in roots)) as workspace:
        before = await workspace.begin()
        for root in roots:
            (folder / root / "new.py").write_text("n = 1\n")
        second, looked = Held(), list[str]()

        def look(top: str, **options: object) -> tuple[Tree, bool]:
            looked.append(top)
            if len(looked) == 2:
                second.here()
            return scan(top, enters=options["enters"])  # type: ignore[arg-type]

        monkeypatch.setattr(workspace_module, "scan", look)
        audit = asyncio.create_task(workspace.audit())
        await second.reached()
        view = workspace.begin_now()
        second.release()
        await audit
        assert view is not None
        assert view.epochs.fs > before.epochs.fs
        assert workspace.begin_now() is view


async def test_an_audit_that_failed_is_not_the_last_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace_module, "_AUDIT_REST_S", 0.0)
    monkeypatch.setattr(workspace_module, "_AUDIT_SHARE", float("inf"))
    looked, heard = list[str](), list[BaseException]()

    def fail(top: str, **options: object) -> tuple[Tree, bool]:
        looked.append(top)
        raise MemoryError

    async with opened(folder) as workspace:
        await workspace.begin()
        monkeypatch.setattr(workspace_module, "scan", fail)
        for _ in range(2):
            before = asyncio.all_tasks()
            workspace.audit_soon(heard.append)
            outcome = await asyncio.gather(*asyncio.all_tasks() - before, return_exceptions=True)
            assert [type(error) for error in outcome] == [MemoryError]
        assert looked == [str(folder)] * 2
        assert [type(error) for error in heard] == [MemoryError] * 2


async def test_a_listener_that_fails_keeps_nothing_from_the_others(folder: Path) -> None:
    async with opened(folder) as workspace:

        def fail(changes: Sequence[Change]) -> None:
            raise LookupError("a bug")

        before = await workspace.begin()
        workspace.listen(fail)
        heard = heard_by(workspace)
        (folder / "one/a.py").write_text("a = 22\n")
        with pytest.raises(LookupError, match="a bug"):
            await workspace.begin()
        assert heard == [Change(str(folder / "one/a.py"), Kind.CHANGED)]
        assert (await workspace.begin()).epochs.text == before.epochs.text + 1


async def test_a_first_scan_that_failed_is_heard_of_and_done_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = [MemoryError("the first"), MemoryError("the second")]
    start = Watcher.start

    def fail(observer: Watcher) -> None:
        if failures:
            raise failures.pop(0)
        start(observer)

    monkeypatch.setattr(Watcher, "start", fail)
    async with opened(folder) as workspace:
        for expected in ("the first", "the second"):
            with pytest.raises(MemoryError, match=expected):
                await workspace.begin()
        view = await workspace.begin()
        (folder / "one/a.py").write_text("a = 22\n")
        assert (await workspace.begin()).epochs.text == view.epochs.text + 1


async def test_other_roots_that_could_not_be_scanned_are_scanned_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = (folder / name for name in ("one", "two"))
    async with opened(one) as workspace:
        await workspace.begin()
        with monkeypatch.context() as broken:
            broken.delattr(Watcher, "start")
            with pytest.raises(AttributeError):
                await workspace.set_roots([open_root(str(two), home=None)])
            assert workspace.begin_now() is None, "nobody has looked at the root"
        view = await workspace.begin()
        assert view.document((two / "b.py").as_uri()).text == "b = 1\n"
        assert workspace.begin_now() is view
