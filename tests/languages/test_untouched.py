"""Every tool on every file, with edits, for every server: nothing is written, nothing is sent.

Each server runs in a network namespace of its own that has no network at all.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.languages.samples import ON_PATH, SERVERS, Sample, needs
from tests.support.engine import INSTALLED

_ALL = [*SERVERS, *ON_PATH.items()]
EVERY = pytest.mark.parametrize(("server", "sample"), _ALL, ids=[name for name, _ in _ALL])
_PROJECT = Path(__file__).parent.parent.parent


#: What runs a command without a network: for everybody where the system allows it, else for root.
_WAYS = (["unshare", "--map-root-user", "--net", "--"], ["unshare", "--net", "--"])


def _works(command: list[str]) -> bool:
    try:
        return subprocess.run([*command, "true"], check=False, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


@pytest.fixture(scope="session")
def offline() -> list[str]:
    """What runs a command without a network."""
    command = next(filter(_works, _WAYS), None)
    if command is None and os.environ.get("CI"):
        pytest.fail("the offline lane is required here, and network namespaces are not allowed")
    if command is None:
        pytest.skip("network namespaces are not allowed on this machine; .ci/run requires them")
    return command


def test_ci_requires_the_offline_lane(tmp_path: Path) -> None:
    """Whoever runs .ci/run gets a failure and no skipped test where there is no such lane."""
    make = tmp_path / "make"
    make.write_text('#!/bin/sh\necho "make $1: $CI"\n')
    make.chmod(0o755)
    done = subprocess.run(
        [_PROJECT / ".ci/run"],
        check=True,
        capture_output=True,
        text=True,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
    )
    assert done.stdout.splitlines()[0] == "make test: true"


def snapshot(root: Path) -> dict[str, tuple[object, ...]]:
    """Every entry below a folder: its bytes or target, its mode, and when a folder changed."""
    found: dict[str, tuple[object, ...]] = {}
    for folder, folders, files in os.walk(root):
        status = os.lstat(folder)
        found[folder] = (status.st_mode, status.st_mtime_ns)
        for name in files:
            path = Path(folder, name)
            found[str(path)] = (path.lstat().st_mode, path.read_bytes())
        assert not any(Path(folder, name).is_symlink() for name in folders)
    return found


@EVERY
def test_the_workspace_is_as_it_was(
    server: str, sample: Sample, tmp_path: Path, offline: list[str]
) -> None:
    assert INSTALLED.is_dir(), "make servers installs what this needs"
    needs(server)
    root, home = sample.write(tmp_path / "ws"), tmp_path / "home"
    home.mkdir()
    before = snapshot(root)
    done = subprocess.run(
        [*offline, sys.executable, "-m", "tests.languages.everything", server, root, home],
        check=False,
        capture_output=True,
        text=True,
        cwd=_PROJECT,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["reachable"] is False, "the lane has a network"
    assert report["outcomes"]["answered"] > 10
    assert set(report["outcomes"]) <= {"answered", "Unavailable", "NotFound"}, report
    assert snapshot(root) == before
