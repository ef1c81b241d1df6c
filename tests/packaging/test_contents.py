"""The wheel and the sdist hold what they must, and nothing else."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from sightline import __version__

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src/sightline"


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=120,
    )
    return folder


def test_the_wheel_is_the_package_and_its_data(dist: Path) -> None:
    with zipfile.ZipFile(dist / f"sightline-{__version__}-py3-none-any.whl") as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src/sightline"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert names == {name.removeprefix("src/") for name in tracked}


def test_the_wheel_says_what_it_is(dist: Path) -> None:
    with zipfile.ZipFile(dist / f"sightline-{__version__}-py3-none-any.whl") as wheel:
        info = f"sightline-{__version__}.dist-info"
        metadata = wheel.read(f"{info}/METADATA").decode()
        scripts = wheel.read(f"{info}/entry_points.txt").decode()
        assert f"{info}/licenses/LICENSE" in wheel.namelist()
    assert "sightline = sightline.cli.launch:run" in scripts
    assert "License-Expression: Apache-2.0" in metadata
    assert "# Sightline" in metadata, "the README is the page of the package"


def test_the_sdist_can_be_built_and_tested_from(dist: Path) -> None:
    with tarfile.open(dist / f"sightline-{__version__}.tar.gz") as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for needed in ("pyproject.toml", "Makefile", "README.md", "LICENSE", "requirements/dev.txt"):
        assert needed in names
    assert any(name.startswith("tests/") for name in names)
    assert not any(part in name for name in names for part in (".venv/", ".cache/", ".git/"))
