"""A language server that is installed and damaged: nobody is told that it is ready."""

import json
import shutil
from pathlib import Path

import pytest

from sightline.lsp.install.manifest import FILE, write
from sightline.lsp.registry import builtin
from tests.support.engine import INSTALLED
from tests.support.program import run

pytestmark = pytest.mark.slow

SAMPLES = {
    "vtsls": ("TypeScript", "main.ts", "export const x = 1;\n"),
    "yaml": ("YAML", "main.yaml", "x: 1\n"),
}


def home_with(home: Path, package: str) -> Path:
    """A home in which this one package is installed; its folder."""
    version = builtin().packages[package].version
    folder = home / ".local/share/sightline/servers" / package / version
    shutil.copytree(INSTALLED / package / version, folder)
    write(folder)
    return folder


def told(home: Path, root: Path, language: str) -> dict[str, str]:
    report = json.loads(run(home, "doctor", "--json", root, timeout=120).stdout)
    (found,) = [f for f in report["findings"] if f["subject"] == f"{language} in {root}"]
    return dict(found)


@pytest.mark.parametrize("noted", [True, False], ids=["manifest", "no manifest"])
@pytest.mark.parametrize(
    ("package", "lost"),
    [
        ("vtsls", "node_modules/typescript/lib/tsserver.js"),
        ("vtsls", "node_modules/@vtsls/language-server/dist"),
        ("yaml", "node_modules/yaml-language-server/out"),
        ("yaml", "node_modules/yaml-language-server/bin/yaml-language-server"),
    ],
)
def test_doctor_says_so_and_how_to_repair_it(
    home: Path, tmp_path: Path, package: str, lost: str, noted: bool
) -> None:
    language, name, text = SAMPLES[package]
    root = tmp_path / "ws"
    root.mkdir()
    (root / name).write_text(text)
    folder = home_with(home, package)
    assert told(home, root, language)["status"] == "ok"
    if (folder / lost).is_dir():
        shutil.rmtree(folder / lost)
    else:
        (folder / lost).unlink()
    if not noted:
        (folder / FILE).unlink()
    found = told(home, root, language)
    assert found["status"] != "ok"
    assert found["fix"] == f"sightline servers install {package}", found
