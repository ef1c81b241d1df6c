"""A disk that is full or may only be read costs no index, and an index that is whole answers."""

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

_COMMAND = shlex.join([sys.executable, "-m", "sightline", "index"])
_FILL = "cat /dev/zero > $XDG_CACHE_HOME/filling 2>/dev/null; true"


class Answered(dict[str, Any]):
    """The answers of the commands of a script, by the name that each was given."""


def run(tmp_path: Path, *steps: str) -> Answered:
    """Runs steps on a cache folder that is a small disk of its own. ``NAME= words`` is a command
    of the index; its answer is kept under the name, with its exit status."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("this system has no unshare, so that no disk can be filled")
    disk = tmp_path / "disk"
    disk.mkdir()
    lines = [f"mount -t tmpfs -o size=24m none {disk} || exit 99"]
    for step in steps:
        name, equals, words = step.partition("= ")
        lines.append(
            f'echo "{name}"; {_COMMAND} {words} --json 2>&1; echo "$?"' if equals else step
        )
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(disk), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [unshare, "-Urm", "bash", "-c", "\n".join(lines)],
        env=home,
        cwd=tmp_path / "ws",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode == 99:
        pytest.skip("this system lets no one mount in a namespace")
    assert not done.stderr, done.stderr
    said = done.stdout.splitlines()
    answers = Answered()
    for name, text, code in zip(said[::3], said[1::3], said[2::3], strict=True):
        answers[name] = json.loads(text) | {"exit": int(code)}
    return answers


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    for number in range(10):
        (folder / f"f{number}.py").write_text(f"def zebra{number}(): pass\n")
    return folder


_BUILT = ["built= build", "before= search zebra3", "status= status"]
_EDIT = "echo 'def otter(): pass' > f1.py"
#: The other options of the mount name its owner, whom the namespace of a user does not know.
_MOUNT = "mount --options-mode ignore none -o remount,"


@pytest.mark.parametrize(
    ("refuse", "allow"),
    [
        (_FILL, "rm $XDG_CACHE_HOME/filling"),
        (_MOUNT + "ro $XDG_CACHE_HOME", _MOUNT + "rw $XDG_CACHE_HOME"),
    ],
    ids=["full", "read-only"],
)
def test_an_index_outlives_its_disk(root: Path, tmp_path: Path, refuse: str, allow: str) -> None:
    said = run(
        tmp_path, *_BUILT, refuse, "same= search zebra3", "refused= status", "touch f2.py",
        "touched= search zebra3", "rebuilt= build --force", _EDIT, "edited= search otter",
        "still= status", allow, "healed= search otter", "healthy= status",
    )  # fmt: skip
    assert said["same"] == said["before"] == said["touched"], "no file has another content"
    assert said["refused"]["roots"] == said["status"]["roots"]
    for name in ("rebuilt", "edited"):
        assert said[name]["code"] == "CAPABILITY_MISSING"
        assert "the index folder cannot be written" in said[name]["message"]
        assert "XDG_CACHE_HOME" in said[name]["message"], "the next step"
    assert said["still"]["roots"][0]["state"] == "ready", "nothing was thrown away"
    assert said["healed"]["items"][0]["path"] == "f1.py"
    assert said["healthy"]["roots"][0]["state"] == "ready"


@pytest.mark.parametrize(
    "refuse", [_FILL, _MOUNT + "ro $XDG_CACHE_HOME"], ids=["full", "read-only"]
)
def test_what_cannot_be_built_says_so(root: Path, tmp_path: Path, refuse: str) -> None:
    folder = "mkdir -m 700 $XDG_CACHE_HOME/sightline"
    said = run(tmp_path, folder, refuse, "built= build", "status= status", "found= search zebra3")
    assert said["built"]["code"] == "CAPABILITY_MISSING"
    assert "XDG_CACHE_HOME" in said["built"]["message"]
    assert said["status"]["roots"][0]["state"] == "absent", "and not damaged"
    assert said["found"]["code"] == "NO_INDEX"
