"""The repository that a root is a part of: changes there count, its files are nobody's."""

import mmap
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from sightline.contract.failures import WorkspaceDenied
from sightline.workspace import surroundings
from sightline.workspace.changes import Change, Kind
from sightline.workspace.inotify import Inotify, WatchLimit
from sightline.workspace.roots import open_root
from sightline.workspace.surroundings import Surroundings
from sightline.workspace.workspace import Workspace
from tests.support.files import write_files
from tests.support.workspaces import opened

FILES = {".git/HEAD": "", "app/a.py": "a = 1\n", "shared/b.py": "b = 1\n", "c.py": ""}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return write_files(tmp_path / "repository", FILES)


def heard_by(workspace: Workspace) -> list[Change]:
    heard: list[Change] = []

    def listen(changes: Sequence[Change]) -> None:
        heard.extend(changes)

    workspace.listen(listen)
    return heard


@pytest.mark.parametrize("notify", [True, False])
async def test_changes_around_a_root_are_told_and_move_the_view(
    repository: Path, notify: bool
) -> None:
    async with opened(repository / "app", notify=notify) as workspace:
        before = await workspace.begin()
        heard = heard_by(workspace)
        (repository / "shared/b.py").write_text("b = 22\n")
        (repository / "shared/new").mkdir()
        (repository / "shared/new/d.py").touch()
        (repository / "app/a.py").write_text("a = 22\n")
        after = await workspace.begin()
        assert sorted(heard) == [
            Change(str(repository / "app/a.py"), Kind.CHANGED),
            Change(str(repository / "shared/b.py"), Kind.CHANGED),
            Change(str(repository / "shared/new/d.py"), Kind.CREATED),
        ]
        assert after.epochs != before.epochs
        assert await workspace.begin() is after


async def test_what_is_around_is_not_in_the_workspace(repository: Path) -> None:
    async with opened(repository / "app") as workspace:
        view = await workspace.begin()
        with pytest.raises(WorkspaceDenied):
            view.document((repository / "c.py").as_uri())
        assert [root.given for root, _ in workspace.trees()] == [str(repository / "app")]
        assert workspace.report() == [
            {
                "path": str(repository / "app"),
                "files": 1,
                "changes": "changes announced",
                "around": "watched",
            }
        ]


async def test_every_root_is_observed_once(repository: Path) -> None:
    async with opened(repository / "app", repository / "shared") as workspace:
        await workspace.begin()
        heard = heard_by(workspace)
        (repository / "shared/b.py").write_text("b = 22\n")
        await workspace.begin()
        assert heard == [Change(str(repository / "shared/b.py"), Kind.CHANGED)]
        assert [top for top, _ in workspace.all_trees()] == [
            *(str(repository / name) for name in ("app", "shared")),
            str(repository),
        ]
        around = workspace.all_trees()[-1][1]
        assert around == {str(repository): around[str(repository)]}


@pytest.mark.parametrize("notify", [True, False])
async def test_installed_packages_are_observed_where_an_install_shows(
    repository: Path, notify: bool
) -> None:
    site = ".venv/lib/python3.13/site-packages"
    shown = [f"{site}/a/__init__.py", "node_modules/@s/b/package.json", "node_modules/c/index.d.ts"]
    hidden = [f"{site}/a/deep/x.py", "node_modules/c/lib/x.js", "node_modules/.pnpm/d/package.json"]
    write_files(repository, dict.fromkeys([*shown, *hidden], "1"))
    async with opened(repository / "app", notify=notify) as workspace:
        await workspace.begin()
        heard = heard_by(workspace)
        write_files(repository, dict.fromkeys([*shown, *hidden], "22"))
        write_files(repository, {"node_modules/new/lib/x.js": "", "node_modules/new/index.js": ""})
        await workspace.begin()
        await workspace.audit()
        expected = [*shown, "node_modules/new/index.js"]
        assert [change.path for change in heard] == sorted(str(repository / n) for n in expected)


async def test_it_follows_the_roots(repository: Path) -> None:
    async with opened(repository / "app") as workspace:
        await workspace.begin()
        await workspace.set_roots([open_root(str(repository), home=None)])
        assert [top for top, _ in workspace.all_trees()] == [str(repository)]
        await workspace.set_roots([open_root(str(repository / "shared"), home=None)])
        heard = heard_by(workspace)
        (repository / "app/a.py").write_text("a = 22\n")
        await workspace.begin()
        assert heard == [Change(str(repository / "app/a.py"), Kind.CHANGED)]


async def test_a_change_that_nobody_announced_is_found(repository: Path) -> None:
    async with opened(repository / "app") as workspace:
        before = await workspace.begin()
        heard, file = heard_by(workspace), repository / "shared/b.py"
        with file.open("r+b") as open_file, mmap.mmap(open_file.fileno(), 0) as mapping:
            mapping[4:5] = b"7"
            mapping.flush()
            assert await workspace.begin() is before
            await workspace.audit()
        assert [change.path for change in heard] == [str(file)]


@pytest.mark.parametrize(("notify", "limit"), [(True, "_MAX_ANNOUNCED"), (False, "_MAX_SWEPT")])
async def test_what_is_too_large_is_not_observed_and_that_is_said(
    repository: Path, monkeypatch: pytest.MonkeyPatch, notify: bool, limit: str
) -> None:
    monkeypatch.setattr(surroundings, limit, 1)
    async with opened(repository / "app", notify=notify) as workspace:
        before = await workspace.begin()
        (repository / "shared/b.py").write_text("b = 22\n")
        assert await workspace.begin() is before
        (row,) = workspace.report()
        assert row["around"] == "not watched: it has more than 1 files"


async def test_where_there_are_not_enough_watches(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = Inotify.watch

    def scarce(self: Inotify, folder: str) -> int:
        if folder.endswith("shared"):
            raise WatchLimit("no more")
        return watch(self, folder)

    monkeypatch.setattr(Inotify, "watch", scarce)
    async with opened(repository / "app") as workspace:
        await workspace.begin()
        heard = heard_by(workspace)
        (repository / "shared/b.py").write_text("b = 22\n")
        await workspace.begin()
        assert heard == [Change(str(repository / "shared/b.py"), Kind.CHANGED)], "few are swept for"
    monkeypatch.setattr(surroundings, "_MAX_SWEPT", 0)
    async with opened(repository / "app") as workspace:
        await workspace.begin()
        (row,) = workspace.report()
        assert row["around"] == "not watched: the user's inotify watch limit is reached"
        assert row["changes"] == "changes announced"


def test_what_a_root_is_a_part_of(repository: Path) -> None:
    app = str(repository / "app")
    assert open_root(app, home=None).around == str(repository)
    assert open_root(str(repository), home=None).around == ""
    assert open_root(app, home=str(repository)).around == "", "a home is not a project"
    assert open_root(app, home=str(repository / "shared")).around == "", "nor is what is above"
    (repository / "app/.git").write_text("gitdir: elsewhere\n")
    assert open_root(app, home=None).around == ""


def test_a_repository_inside_another_one(repository: Path) -> None:
    write_files(repository, {"shared/.git": "", "shared/lib/x.py": "", "shared/more/y.py": ""})
    around = Surroundings()
    roots = [open_root(str(repository / name), home=None) for name in ("app", "shared/lib")]
    try:
        around.follow(roots, notify=True)
        ((top, tree),) = around.trees()
        assert top == str(repository)
        assert str(repository / "shared/more") in tree
        assert str(repository / "shared/lib") not in tree
        assert [around.report(root) for root in roots] == ["watched", "watched"]
    finally:
        around.close()


#: The epochs of a fresh start on some folders.
_EPOCHS = """
import asyncio, sys
from sightline.workspace.roots import open_root
from sightline.workspace.workspace import Workspace

async def main():
    workspace = Workspace([open_root(path, home=None) for path in sys.argv[1:]])
    print((await workspace.begin()).epochs)
    workspace.close()

asyncio.run(main())
"""


def test_every_process_has_the_same_epochs(tmp_path: Path) -> None:
    """Whatever order its sets are in."""
    tops = [write_files(tmp_path / name, FILES | {"d.py": name}) for name in ("one", "two", "six")]
    command = [sys.executable, "-c", _EPOCHS, *(str(top / "app") for top in tops)]
    said = {
        subprocess.run(
            command, env=os.environ | {"PYTHONHASHSEED": seed}, check=True, capture_output=True
        ).stdout
        for seed in ("0", "1", "2", "3")
    }
    assert len(said) == 1
