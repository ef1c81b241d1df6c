"""Paths outside of every root: what changed since somebody relied on them."""

import os
from pathlib import Path

from sightline.workspace.beside import Beside, stamp
from sightline.workspace.changes import Change, Kind
from sightline.workspace.roots import open_root
from sightline.workspace.workspace import Workspace


def test_a_folder_that_comes_changes_and_goes(tmp_path: Path) -> None:
    folder = str(tmp_path / "packages")
    beside = Beside()
    beside.keep({folder: stamp(folder)})
    assert beside.changes() == []
    os.mkdir(folder)
    assert beside.changes() == [Change(folder, Kind.CREATED)]
    os.utime(folder, ns=(1, 1))
    assert beside.changes() == [Change(folder, Kind.CHANGED)]
    assert beside.changes() == []
    os.rmdir(folder)
    assert beside.changes() == [Change(folder, Kind.DELETED)]


def test_what_changed_before_it_was_kept_is_seen(tmp_path: Path) -> None:
    beside = Beside()
    beside.keep({str(tmp_path): (0, 0, 0)})
    beside.keep({str(tmp_path): stamp(str(tmp_path))})  # others rely on the older state
    assert beside.changes() == [Change(str(tmp_path), Kind.CHANGED)]


async def test_a_change_is_told_and_ends_the_view(tmp_path: Path) -> None:
    root, packages = tmp_path / "root", str(tmp_path / "packages")
    root.mkdir()
    os.mkdir(packages)
    workspace = Workspace([open_root(str(root), home=None)])
    heard: list[Change] = []
    workspace.listen(heard.extend)
    before = await workspace.begin()
    workspace.beside.keep({packages: stamp(packages)})
    assert await workspace.begin() is before
    os.utime(packages, ns=(1, 1))
    after = workspace.begin_now()
    assert after is not None and after.epochs != before.epochs
    assert heard == [Change(packages, Kind.CHANGED)]
    workspace.close()
