"""Pipes, devices and huge files of a root are known, however they come, by both observers."""

import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from sightline.workspace import obstacles
from sightline.workspace.changes import Change
from sightline.workspace.changes import Kind as Happened
from sightline.workspace.obstacles import Kind, Obstacles
from sightline.workspace.roots import open_root
from sightline.workspace.tree import MAX_READ_BYTES
from sightline.workspace.workspace import Workspace
from tests.support.files import write_files

Open = Callable[..., AbstractAsyncContextManager[Workspace]]


@pytest.fixture(params=[True, False], ids=["announced", "swept"])
def opened(request: pytest.FixtureRequest) -> Open:
    @asynccontextmanager
    async def open_workspace(*roots: Path) -> AsyncIterator[Workspace]:
        found = [open_root(str(root), home=None) for root in roots]
        workspace = Workspace(found, notify=request.param)
        try:
            await workspace.begin()
            yield workspace
        finally:
            workspace.close()

    return open_workspace


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return write_files(tmp_path / "root", {"a.py": "", "pkg/b.py": ""})


def known(workspace: Workspace, top: Path) -> dict[str, Kind]:
    return {os.path.relpath(path, top): kind for path, kind in workspace.obstacles.found.items()}


async def test_what_is_there(opened: Open, top: Path) -> None:
    os.mkfifo(top / "pkg/pipe")
    os.mkfifo(top / "libx.so")  # which no scan tracks
    (top / "zero.py").symlink_to("/dev/zero")
    (top / "loop.py").symlink_to("loop.py")
    (top / "null.py").symlink_to("/dev/null")
    (top / "devices").symlink_to("/dev")
    (top / "pkg/all").symlink_to("/")
    (top / "inside.py").symlink_to("pkg/pipe")
    with (top / "huge.py").open("wb") as file:
        file.truncate(MAX_READ_BYTES + 1)
    (top / "data.bin").hardlink_to(top / "huge.py")  # which no scan tracks, either
    (top / "data.py").symlink_to("data.bin")
    with (top / "large.py").open("wb") as file:
        file.truncate(MAX_READ_BYTES)
    with socket.socket(socket.AF_UNIX) as made:
        here = os.getcwd()
        os.chdir(top)  # a long path is no address
        made.bind("socket.py")
        os.chdir(here)
    async with opened(top) as workspace:
        assert known(workspace, top) == {
            "pkg/pipe": Kind.PIPE,
            "libx.so": Kind.PIPE,
            "zero.py": Kind.DEVICE,
            "devices": Kind.DEVICE,
            "pkg/all": Kind.DEVICE,
            "huge.py": Kind.HUGE,
            "data.py": Kind.HUGE,
        }


async def test_what_comes_and_goes(opened: Open, top: Path) -> None:
    async with opened(top) as workspace:
        heard: list[Change] = []
        workspace.listen(heard.extend)
        for name in ("x.so", "pkg/new.py"):
            before = (await workspace.begin()).epochs
            os.mkfifo(top / name)
            after = (await workspace.begin()).epochs
            assert known(workspace, top) == {name: Kind.PIPE}
            assert after != before, "what was answered before holds no longer"
            (top / name).unlink()
            assert (await workspace.begin()).epochs != after
            assert known(workspace, top) == {}
            path = str(top / name)
            assert heard == [Change(path, Happened.CREATED), Change(path, Happened.DELETED)]
            heard.clear()


async def test_a_folder_that_moves(opened: Open, top: Path) -> None:
    os.mkfifo(top / "pkg/pipe")
    async with opened(top) as workspace:
        (top / "pkg").rename(top / "moved")
        await workspace.begin()
        assert known(workspace, top) == {"moved/pipe": Kind.PIPE}
        (top / "moved").rename(top.parent / "away")
        await workspace.begin()
        assert known(workspace, top) == {}


async def test_what_is_read_of_a_repository(opened: Open, top: Path) -> None:
    async with opened(top) as workspace:
        (top / ".git/info").mkdir(parents=True)
        os.mkfifo(top / ".git/info/exclude")
        await workspace.begin()
        assert known(workspace, top) == {".git/info/exclude": Kind.PIPE}
        (top / ".git/info/exclude").unlink()
        await workspace.begin()
        assert known(workspace, top) == {}


@pytest.mark.parametrize("entry", ["one/commondir", "info/exclude", "common/info/exclude"])
async def test_a_repository_elsewhere(opened: Open, top: Path, entry: str) -> None:
    git = write_files(top.parent / "git", {"one/HEAD": "", "info/x": "", "common/info/x": ""})
    if entry == "common/info/exclude":
        (git / "one/commondir").write_text("../common\n")
    elif entry == "info/exclude":
        (git / "one/commondir").write_text("..\n")
    (top / "pkg/.git").write_text(f"gitdir: {git}/one\n")
    async with opened(top) as workspace:
        assert known(workspace, top) == {}
        os.mkfifo(git / entry)
        await workspace.begin()
        assert known(workspace, top) == {"pkg/.git": Kind.PIPE}


async def test_a_link_out_that_becomes_one(opened: Open, top: Path) -> None:
    (top / "out.py").symlink_to("../elsewhere")
    (top / "folder").symlink_to("../others")
    others = top.parent / "others"
    others.mkdir()
    async with opened(top) as workspace:
        assert known(workspace, top) == {}
        os.mkfifo(top.parent / "elsewhere")
        os.mkfifo(others / "pipe.py")
        await workspace.begin()
        found = {"out.py": Kind.PIPE, "folder/pipe.py": Kind.PIPE}
        assert known(workspace, top) == found
        (top.parent / "elsewhere").unlink()
        (others / "pipe.py").unlink()
        await workspace.begin()
        assert known(workspace, top) == {}


async def test_a_link_by_way_of_a_link(opened: Open, top: Path) -> None:
    """It seems to stay in the root."""
    (top / "d").symlink_to("../others")
    (top / "x.py").symlink_to("d/pipe")
    others = top.parent / "others"
    others.mkdir()
    os.mkfifo(others / "pipe")
    async with opened(top) as workspace:
        assert known(workspace, top) == {"x.py": Kind.PIPE, "d/pipe": Kind.PIPE}


async def test_what_needs_no_look(top: Path) -> None:
    """Links that stay in the root are never looked at: packages may be thousands of them."""
    for number in range(3):
        (top / f"l{number}").symlink_to("pkg/b.py")
        (top / f"p{number}").symlink_to(top / "pkg")
    workspace = Workspace([open_root(str(top), home=None)])
    await workspace.begin()
    assert workspace.obstacles._known == {}
    workspace.close()


def test_many_links_are_not_all_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(obstacles, "_MOST", 2)
    links = [tmp_path / f"l{number}" for number in range(5)]
    for link in links:
        link.symlink_to("target")
    looked = Obstacles()
    paths = [str(link) for link in links]
    assert looked.look(paths) == []
    os.mkfifo(tmp_path / "target")
    assert [change.path for change in looked.look(paths)] == paths[:2]
    (tmp_path / "target").unlink()
    assert looked.look(paths) == [Change(path, Happened.DELETED) for path in paths[:2]]
    assert looked.found == {}
