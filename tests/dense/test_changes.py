"""Descriptions of changes: stretch by stretch of a history, each asked on the state before it."""

import subprocess
from pathlib import Path

from bench.meaning.changes import changes, stretches
from bench.meaning.issues import _merged


def git(folder: Path, *words: str) -> str:
    own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    command = ["git", "-C", str(folder), *own, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_a_change_is_asked_for_on_the_state_before_its_stretch(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    for number in range(10):
        name = "core.py" if number % 2 else "more.py"
        (tmp_path / name).write_text(f"x = {number}\n")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", f"raise the limit of parcels to {number}")
    line = git(tmp_path, "rev-list", "HEAD").split()
    bare = tmp_path / ".git"
    found = stretches(bare)
    assert [tuple(one) for one in found] == [
        (line[3], line[0]),
        (line[6], line[3]),
        (line[9], line[6]),
    ]
    asked: list[str] = []
    for number, stretch in enumerate(found):
        into = tmp_path / f"state{number}"
        into.mkdir()
        described = changes(bare, stretch, into, 100)
        there = {path.name for path in into.iterdir()}
        assert all(one.files <= there for one in described.short)
        asked += [one.text for one in described.short]
    # The oldest state has more.py alone; core.py was made after it.
    assert [text.rpartition(" ")[2] for text in asked] == ["9", "8", "7", "6", "5", "4", "2"]


def test_figures_that_were_not_asked_for_anew_are_kept() -> None:
    same = {"repository": "o/n", "before": "c", "words": 3, "chunks": 9}
    old = [
        {**same, "label": "1", "gains": {"words": 0.5, "before": 0.2}, "recalls": {"words": 1.0}},
        {**same, "label": "2", "gains": {"words": 0.1}, "recalls": {"words": 0.0}},
    ]
    new = [
        {**same, "label": "1", "gains": {"words": 0.6}, "recalls": {"words": 0.9}, "found": {}},
        {**same, "label": "3", "gains": {"words": 0.7}, "recalls": {"words": 0.8}, "found": {}},
    ]
    merged = _merged(old, new)
    assert [row["label"] for row in merged] == ["1", "2", "3"]
    assert merged[0]["gains"] == {"words": 0.6, "before": 0.2}
    assert merged[1] == old[1]
    assert all("found" not in row for row in merged)
