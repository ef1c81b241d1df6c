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
