"""What cannot be listed is not gone: who asks is refused, and nothing is told or forgotten."""

import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sightline.contract.failures import NotReady
from sightline.workspace import tree
from sightline.workspace.changes import Change, Kind
from sightline.workspace.inotify import Inotify
from sightline.workspace.tree import scan
from sightline.workspace.workspace import Workspace
from tests.support.engine import engine
from tests.support.failing_disk import break_listing
from tests.support.files import write_files
from tests.support.workspaces import opened

FILES = {"a.py": "a = 1\n", "pkg/b.py": "b = 1\n", "pkg/deep/c.py": "c = 1\n"}


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return write_files(tmp_path / "root", FILES)


@contextmanager
def no_descriptor_left() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.dup(0)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def heard_by(workspace: Workspace) -> list[Change]:
    heard: list[Change] = []
    workspace.listen(heard.extend)
    return heard


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOMEM, errno.ESTALE])
def test_a_folder_that_breaks_while_it_is_listed(
    top: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    break_listing(monkeypatch, top / "pkg", code)
    with pytest.raises(OSError, match=os.strerror(code)) as broken:
        scan(str(top))
    assert (broken.value.errno, broken.value.filename) == (code, str(top / "pkg"))


@pytest.mark.parametrize("code", [errno.ENOENT, errno.ENOTDIR, errno.EACCES])
def test_a_folder_that_is_not_there_or_closed_has_no_files(
    top: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    break_listing(monkeypatch, top / "pkg", code)
    found, whole = scan(str(top))
    assert whole
    assert sorted(found[str(top)]) == ["a.py"]


def test_a_system_that_opens_no_folders(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = scan(str(top))

    def refuse(path: str) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    monkeypatch.setattr(tree, "_LISTS_WHAT_IS_OPEN", False, raising=False)
    monkeypatch.setattr(tree, "open_folder", refuse)
    assert scan(str(top)) == before


async def test_while_descriptors_have_run_out(top: Path) -> None:
    async with opened(top, notify=False) as workspace:
        before, heard = await workspace.begin(), heard_by(workspace)
        (top / "pkg/b.py").write_text("b = 22\n")
        with no_descriptor_left():
            for _ in range(2):
                with pytest.raises(NotReady, match="Too many open files"):
                    await workspace.begin()
        assert heard == []
        after = await workspace.begin()
        assert heard == [Change(str(top / "pkg/b.py"), Kind.CHANGED)]
        assert after.epochs.fs == before.epochs.fs


async def test_what_was_announced_while_descriptors_had_run_out(top: Path) -> None:
    async with opened(top) as workspace:
        before, heard = await workspace.begin(), heard_by(workspace)
        (top / "new/deep").mkdir(parents=True)
        (top / "new/deep/d.py").touch()
        (top / "a.py").write_text("a = 22\n")
        with no_descriptor_left():
            assert workspace.begin_now() is None
            with pytest.raises(NotReady, match=rf"^cannot look into {top}") as refused:
                await workspace.begin()
        assert refused.value.details["retryable"] is True
        assert heard == []
        assert (await workspace.begin()).epochs != before.epochs
        assert heard == [
            Change(str(top / "a.py"), Kind.CHANGED),
            Change(str(top / "new/deep/d.py"), Kind.CREATED),
        ]
        (top / "new/deep/d.py").write_text("d = 1\n")
        await workspace.begin()
        assert heard[2:] == [Change(str(top / "new/deep/d.py"), Kind.CHANGED)]


@pytest.mark.parametrize("notify", [True, False])
async def test_a_folder_that_cannot_be_listed_at_first(
    top: Path, monkeypatch: pytest.MonkeyPatch, notify: bool
) -> None:
    async with opened(top, notify=notify) as workspace:
        with monkeypatch.context() as patch:
            break_listing(patch, top / "pkg", errno.EIO)
            for _ in range(2):
                with pytest.raises(NotReady, match="Input/output error"):
                    await workspace.begin()
        await workspace.begin()
        assert workspace.trees()[0][1] == scan(str(top))[0]


async def test_the_changes_of_other_roots_are_told(
    top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = write_files(tmp_path / "other", FILES)
    async with opened(other, top, notify=False) as workspace:
        before, heard = await workspace.begin(), heard_by(workspace)
        (other / "a.py").unlink()
        with monkeypatch.context() as patch:
            break_listing(patch, top / "pkg", errno.EIO)
            for _ in range(2):
                with pytest.raises(NotReady):
                    await workspace.begin()
        after = await workspace.begin()
        assert heard == [Change(str(other / "a.py"), Kind.DELETED)]
        assert after.epochs.fs == before.epochs.fs + 1


async def test_a_folder_around_the_roots_is_not_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path / "repository", {".git/HEAD": "", "app/a.py": "", "secret/b.py": ""})
    async with opened(tmp_path / "repository/app") as workspace:
        with monkeypatch.context() as patch:
            break_listing(patch, tmp_path / "repository/secret", errno.EIO)
            with pytest.raises(NotReady) as refused:
                await workspace.begin()
        assert "secret" not in str(refused.value)
        await workspace.begin()


async def test_a_file_of_which_nothing_can_be_known(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(top) as workspace:
        await workspace.begin()
        heard = heard_by(workspace)
        (top / "a.py").write_text("a = 22\n")
        with monkeypatch.context() as patch:

            def fail(path: str) -> os.stat_result:
                raise OSError(errno.EIO, os.strerror(errno.EIO), path)

            patch.setattr(os, "lstat", fail)
            with pytest.raises(NotReady):
                await workspace.begin()
        await workspace.begin()
        assert heard == [Change(str(top / "a.py"), Kind.CHANGED)]


async def test_a_folder_that_cannot_be_watched_for_no_known_reason(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = Inotify.watch

    def broken(self: Inotify, folder: str) -> int:
        if folder.endswith("/pkg"):
            raise OSError(errno.EIO, os.strerror(errno.EIO), folder)
        return watch(self, folder)

    async with opened(top) as workspace:
        with monkeypatch.context() as patch:
            patch.setattr(Inotify, "watch", broken)
            with pytest.raises(NotReady, match=f"^cannot look into {top}/pkg "):
                await workspace.begin()
        await workspace.begin()
        assert workspace.trees()[0][1] == scan(str(top))[0]


async def test_an_audit_that_could_not_look_tells_nothing(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(top) as workspace:
        before, heard = await workspace.begin(), heard_by(workspace)
        with monkeypatch.context() as patch:
            break_listing(patch, top / "pkg", errno.EIO)
            await workspace.audit()
        assert heard == []
        assert await workspace.begin() is before


@pytest.mark.parametrize("name", [b"caf\xe9", b"do this: run it\nnow", b"x" * 200])
async def test_a_folder_with_a_name_that_is_no_word_of_ours_is_not_named(
    top: Path, monkeypatch: pytest.MonkeyPatch, name: bytes
) -> None:
    broken = top / os.fsdecode(name)
    broken.mkdir()
    break_listing(monkeypatch, broken, errno.EIO)
    async with engine(top, cache=top.parent / "cache") as running:
        with pytest.raises(NotReady, match=f"^cannot look into a folder in {top} ") as refused:
            await running.once("vscode.lsp.documentSymbols", uri=running.uri("a.py"))
        assert str(refused.value).isascii()
