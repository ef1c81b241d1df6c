"""Mounts that come and go below a root that is watched."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.files import write_files

_UNSHARE = ["unshare", "--map-root-user", "--mount"]


def _can_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*_UNSHARE, "true"], check=False, capture_output=True).returncode == 0


pytestmark = pytest.mark.skipif(not _can_mount(), reason="mounts cannot be made here")

#: Runs commands below a root, in mounts of its own, and prints what was found after each.
_LOOK = """
import subprocess, sys
from sightline.workspace.observers import observe
top, *steps = sys.argv[1:]
observer = observe(top)
observer.start()
for step in steps:
    subprocess.run(step, shell=True, check=True, cwd=top)
    found = [f"{change.path[len(top) + 1:]}:{change.kind}" for change in observer.changes()]
    print(*found, *["swept"] * observer.sweeps)
observer.close()
"""

#: Runs commands in mounts of its own, and prints how many files a workspace has after each.
_ASK = """
import asyncio, subprocess, sys
from sightline.contract.failures import Unavailable
from sightline.workspace.roots import open_root
from sightline.workspace.tree import file_count
from sightline.workspace.workspace import Workspace
top, notify, *steps = sys.argv[1:]
async def main():
    workspace = None
    for step in steps:
        subprocess.run(step, shell=True, check=True, cwd=top + "/..")
        workspace = workspace or Workspace([open_root(top, home=None)], notify=notify == "True")
        try:
            view = workspace.begin_now() or await workspace.begin()
            print(sum(file_count(tree) for _, tree in workspace.trees()), *view.gone)
        except Unavailable as gone:
            assert f"the folder {top} is gone" in str(gone)
            print("gone")
    workspace.close()
asyncio.run(main())
"""


@pytest.fixture
def top(tmp_path: Path) -> Path:
    write_files(tmp_path / "other", {"x.py": "x = 1\n", "deep/y.py": "y = 1\n"})
    return write_files(tmp_path / "root", {"a.py": "", "pkg/b.py": "b = 1\n", "empty/.keep": ""})


def look(top: Path, *steps: str) -> list[str]:
    command = [*_UNSHARE, sys.executable, "-c", _LOOK, str(top), *steps]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def test_a_mount_hides_a_folder_and_shows_another(top: Path) -> None:
    steps = {
        "mount --bind ../other pkg": "pkg/b.py:3 pkg/deep/y.py:1 pkg/x.py:1",
        "echo yy > ../other/deep/y.py": "pkg/deep/y.py:2",
        "mount --bind ../other ../other": "",
        "umount pkg": "pkg/b.py:1 pkg/deep/y.py:3 pkg/x.py:3",
        "echo bb > pkg/b.py": "pkg/b.py:2",
    }
    assert look(top, *steps) == list(steps.values())


def test_a_file_system_of_its_own_comes_and_goes(top: Path) -> None:
    steps = {
        "mount -t tmpfs none pkg && touch pkg/t.py": "pkg/b.py:3 pkg/t.py:1",
        "touch pkg/u.py": "pkg/u.py:1",
        "umount pkg": "pkg/b.py:1 pkg/t.py:3 pkg/u.py:3",
        "touch pkg/v.py": "pkg/v.py:1",
    }
    assert look(top, *steps) == list(steps.values())


def test_one_folder_in_two_places(top: Path) -> None:
    """It has one watch, whose announcements name one place."""
    steps = {
        "mount --bind pkg empty": "empty/.keep:3 empty/b.py:1 swept",
        "echo bb > pkg/b.py": "empty/b.py:2 pkg/b.py:2 swept",
        "echo bbb > empty/b.py": "empty/b.py:2 pkg/b.py:2 swept",
        "umount empty": "empty/.keep:1 empty/b.py:3",
        "touch empty/e.py pkg/p.py": "empty/e.py:1 pkg/p.py:1",
    }
    assert look(top, *steps) == list(steps.values())


#: Steps from the folder around a root, which is named so, and what there is after each.
UNMOUNTED = {
    "a disk that comes back": {
        "rm -r root/*; mount -t tmpfs none root; touch root/a.py": "1",
        "mkdir hold; mount --bind root hold; umount root": "gone",
        "true": "gone",
        "mount --bind hold root": "1",
        "rm root/a.py": "0",
        "umount -l root": "gone",
        "touch root/here.py": "1",
        "rm root/here.py": "0",
    },
    "files over files": {
        "true": "3",
        "mount -t tmpfs none root; touch root/t.py": "1",
        "umount root": "3",
        "mount --bind other root": "2",
    },
    "what was empty all along": {
        "rm -r root; mkdir root": "0",
        "mount -t tmpfs none root": "0",
        "touch root/t.py": "1",
        "umount root": "gone",
    },
}


@pytest.mark.parametrize("notify", [True, False])
@pytest.mark.parametrize("steps", UNMOUNTED.values(), ids=UNMOUNTED)
def test_a_root_that_is_unmounted_is_gone(top: Path, steps: dict[str, str], notify: bool) -> None:
    """The folder that it was mounted over is there, and empty."""
    command = [*_UNSHARE, sys.executable, "-c", _ASK, str(top), str(notify), *steps]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert said.splitlines() == list(steps.values())
