"""What a program needs to be run."""

import os
import sys
from pathlib import Path

import pytest

from sightline.process.programs import is_native, needed_to_run


@pytest.mark.skipif(sys.platform != "linux", reason="programs have another form elsewhere")
def test_a_program_is_loaded_by_its_loader() -> None:
    """Wherever in the file it says so."""
    python, loader = needed_to_run(sys.executable)
    assert (python, is_native(python)) == (os.path.realpath(sys.executable), True)
    assert "ld" in os.path.basename(loader)
    ty = Path(sys.executable).with_name("ty")
    assert needed_to_run(str(ty)) == [os.path.realpath(ty), loader]


def test_a_script_is_interpreted(tmp_path: Path) -> None:
    script, other = tmp_path / "script", tmp_path / "other"
    script.write_text(f"#! {other} -x\n")
    other.write_text(f"#!{sys.executable}\n")
    found = needed_to_run(str(script))
    assert found[:3] == [str(script), str(other), os.path.realpath(sys.executable)]
    assert not is_native(str(script))


def test_what_is_none(tmp_path: Path) -> None:
    endless, cut = tmp_path / "endless", tmp_path / "cut"
    endless.write_text(f"#!{endless}\n")
    cut.write_bytes(b"\x7fELF\x02\x01" + b"\xff" * 60)
    assert set(needed_to_run(str(endless))) == {str(endless)}
    assert needed_to_run(str(cut)) == [str(cut)]
    assert needed_to_run(str(tmp_path / "nothing")) == []
