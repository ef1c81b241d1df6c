"""Commands on a project of which a folder cannot be listed: they say which, and come to an end."""

import errno
from pathlib import Path

import pytest

from sightline.cli.commands import call
from sightline.cli.exits import Exit
from sightline.cli.main import main
from tests.support.failing_disk import break_listing
from tests.support.files import write_files


@pytest.fixture
def root(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    top = write_files(tmp_path / "ws", {"a.py": "a = 1\n", "bad/b.py": "b = 1\n"})
    break_listing(monkeypatch, top / "bad", errno.EIO)
    return top


def test_doctor_names_the_folder(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", str(root)]) == Exit.MISSING
    said = capsys.readouterr().out
    assert f"{root}/bad cannot be looked into: Input/output error" in said


def test_a_build_does_not_wait_for_a_disk_that_goes_on_failing(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(call, "_LONGEST_FAILING_S", 0.2)
    assert main(["index", "build", str(root)]) != Exit.OK
    assert f"cannot look into {root}/bad (Input/output error)" in capsys.readouterr().err
