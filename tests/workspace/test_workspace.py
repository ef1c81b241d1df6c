"""Epochs, views and who is told: one owner, one order."""

import mmap
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from sightline.workspace.changes import Change, Kind
from sightline.workspace.roots import open_root
from sightline.workspace.view import DIAGNOSTICS_EPOCHS, SOURCE_EPOCHS, View, ViewOutdated
from sightline.workspace.workspace import Workspace

Open = Callable[..., AbstractAsyncContextManager[Workspace]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.py").write_text("a = 1\n")
    return folder


@pytest.fixture
def opened(root: Path) -> Open:
    @asynccontextmanager
    async def start(*, notify: bool = True) -> AsyncIterator[Workspace]:
        workspace = Workspace([open_root(str(root), home=None)], notify=notify)
        try:
            yield workspace
        finally:
            workspace.close()

    return start


def keys(view: View) -> tuple[str, str]:
    return view.snapshot_key("k", SOURCE_EPOCHS), view.snapshot_key("k", DIAGNOSTICS_EPOCHS)


@pytest.mark.parametrize("notify", [True, False])
async def test_an_unchanged_tree_keeps_its_view(opened: Open, notify: bool) -> None:
    async with opened(notify=notify) as workspace:
        first = await workspace.begin()
        assert await workspace.begin() is first


async def test_equal_trees_give_equal_keys_in_other_processes(opened: Open, root: Path) -> None:
    async with opened() as one, opened(notify=False) as two:
        assert keys(await one.begin()) == keys(await two.begin())
        (root / "a.py").write_text("a = 22\n")
        changed = keys(await one.begin())
    async with opened() as three:
        assert keys(await three.begin()) != changed, "a restart on a changed tree is another state"


@pytest.mark.parametrize("notify", [True, False])
async def test_which_epoch_moves(opened: Open, root: Path, notify: bool) -> None:
    async with opened(notify=notify) as workspace:
        start = (await workspace.begin()).epochs
        (root / "a.py").write_text("a = 2\n")
        text = (await workspace.begin()).epochs
        assert (text.text, text.fs, text.diagnostics) == (
            start.text + 1,
            start.fs,
            start.diagnostics + 1,
        )
        (root / "b.py").write_text("b = 1\n")
        created = (await workspace.begin()).epochs
        assert (created.text, created.fs) == (text.text, text.fs + 1)
        (root / "b.py").unlink()
        deleted = (await workspace.begin()).epochs
        assert deleted.fs == created.fs + 1
        assert {e.roots for e in (start, text, created, deleted)} == {start.roots}


async def test_every_change_makes_both_kinds_of_key_new(opened: Open, root: Path) -> None:
    async with opened() as workspace:
        seen = {keys(await workspace.begin())}
        for number in range(5):
            (root / "a.py").write_text(f"a = {number}\n" * (number + 2))
            seen.add(keys(await workspace.begin()))
            (root / f"n{number}.py").write_text("")
            seen.add(keys(await workspace.begin()))
        assert len(seen) == 11
        assert len({source for source, _ in seen}) == len({report for _, report in seen}) == 11


async def test_listeners_are_told_before_the_view_is_handed_out(opened: Open, root: Path) -> None:
    told: list[Sequence[Change]] = []
    async with opened() as workspace:
        workspace.listen(told.append)
        await workspace.begin()
        assert told == []
        (root / "a.py").write_text("a = 3\n")
        await workspace.begin()
        assert told == [[Change(str(root / "a.py"), Kind.CHANGED, disguised=False)]] or told == [
            [Change(str(root / "a.py"), Kind.CHANGED, disguised=True)]
        ]


async def test_a_source_that_starts_over_moves_text_and_diagnostics(opened: Open) -> None:
    async with opened() as workspace:
        before = (await workspace.begin()).epochs
        workspace.source_changed()
        after = (await workspace.begin()).epochs
        assert (after.text, after.diagnostics, after.fs) == (
            before.text + 1,
            before.diagnostics + 1,
            before.fs,
        )


async def test_the_audit_finds_what_was_not_announced(opened: Open, root: Path) -> None:
    async with opened() as workspace:
        before = await workspace.begin()
        with (root / "a.py").open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapping:
            mapping[4:5] = b"7"
            mapping.flush()
            assert await workspace.begin() is before
            await workspace.audit()
            assert (await workspace.begin()).epochs.text == before.epochs.text + 1


async def test_an_unannounced_change_of_the_asked_document_is_noticed(
    opened: Open, root: Path
) -> None:
    async with opened() as workspace:
        view = await workspace.begin()
        uri = (root / "a.py").as_uri()
        assert view.document(uri).text == "a = 1\n"
        with (root / "a.py").open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapping:
            mapping[4:5] = b"7"
            with pytest.raises(ViewOutdated) as outdated:
                (await workspace.begin()).document(uri)
            workspace.surprised(outdated.value.path)
            assert (await workspace.begin()).document(uri).text == "a = 7\n"


async def test_a_document_follows_the_disk(opened: Open, root: Path) -> None:
    async with opened() as workspace:
        view = await workspace.begin()
        uri = (root / "a.py").as_uri()
        assert view.document(uri) == view.document(uri)
        (root / "a.py").write_text("a = 5\n")
        assert (await workspace.begin()).document(uri).text == "a = 5\n"
