"""Rows of issues: the state before a fix, and the source files that it changed, in both forms."""

import json
import subprocess
from pathlib import Path

from bench.meaning.issue_rows import Checkout, read_sets


def git(folder: Path, *words: str) -> str:
    own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    command = ["git", "-C", str(folder), *own, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_the_answer_is_what_the_fix_changed_in_source_files_that_were_there(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    git(work, "init", "-q")
    files = {"app/core.py": "x = 1\n", "tests/test_core.py": "t = 1\n", "notes.md": "n\n"}
    for name, text in files.items():
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).write_text(text)
    git(work, "add", "-A")
    git(work, "commit", "-qm", "before")
    before = git(work, "rev-parse", "HEAD")
    for name in (*files, "app/new.py"):
        (work / name).write_text("changed = 2\n")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "fix")
    fix = git(work, "rev-parse", "HEAD")
    repositories = tmp_path / "repositories"
    repositories.mkdir()
    bare = repositories / "owner+name"
    git(tmp_path, "clone", "-q", "--bare", str(work), str(bare))
    rows = [
        {"repo": "owner/name", "number": 7, "text": "It fails", "fix": fix},
        {
            "repo": "owner/name",
            "instance_id": "name-7",
            "problem_statement": "It fails",
            "base_commit": before,
            "patch": git(work, "diff", before, fix),
        },
    ]
    sets = tmp_path / "sets"
    sets.mkdir()
    (sets / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    plain, task = read_sets(sets, repositories)["test"]
    assert plain.files == task.files == {"app/core.py"}
    assert (plain.label, task.label) == ("7", "name-7")
    into = tmp_path / "into"
    state = Checkout(bare, into)
    for commit, text in ((fix, "changed = 2\n"), (plain.before, "x = 1\n")):
        state.go_to(commit)
        assert (into / "app/core.py").read_text() == text
        assert (into / "app/new.py").exists() == (commit == fix)
