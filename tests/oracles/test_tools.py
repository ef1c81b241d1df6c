"""The installer of test tools: pinned by hashes, free of addresses, and clear when it cannot."""

import json
from pathlib import Path

import pytest

from tools import node
from tools.evidence import FOLDER

ROOT = Path(__file__).parents[2]
LOCKS = [
    *sorted(ROOT.glob("tests/*/npm/*/package-lock.json")),
    ROOT / "editors/vscode/package-lock.json",
]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.parent.name)
def test_a_lock_has_hashes_and_no_addresses(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    assert "://" not in text
    packages = json.loads(text)["packages"]
    own = packages.pop("")
    assert packages and all(package["integrity"] for package in packages.values())
    kinds = ("dependencies", "optionalDependencies", "devDependencies")
    pinned = {name: version for kind in kinds for name, version in own.get(kind, {}).items()}
    assert pinned
    assert all(version[0].isdigit() or version.startswith("npm:@") for version in pinned.values())


def test_a_missing_npm_is_named_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(node, "_CACHE", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert node.main(["protocol"]) == 1
    assert capsys.readouterr().err == "npm is missing: install it (Debian: apt-get install npm)\n"
    assert not list(tmp_path.glob("protocol-*"))


def test_an_unknown_set_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert node.main(["no-such-set"]) == 2
    known = node.sets()
    assert {"claude", "protocol", "host"} <= set(known)
    assert ", ".join(known) in capsys.readouterr().err


def test_every_page_of_evidence_is_listed_with_the_command_that_writes_it() -> None:
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    for page in FOLDER.glob("*.md"):
        if page.name != "README.md":
            row = next(line for line in index.splitlines() if f"[{page.name}]" in line)
            first = page.read_text(encoding="utf-8").splitlines()[0]
            if first.startswith("# "):  # written by hand
                assert all(cell.strip() for cell in row.split("|")[1:-1]), row
                continue
            command = first.removeprefix("<!-- Written by `").partition("`")[0]
            assert f"| `{command}` |" in row
