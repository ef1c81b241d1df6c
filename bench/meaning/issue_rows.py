"""Texts of issues with known answers, from a folder outside the project: other people wrote them.

Every ``NAME.jsonl`` of the folder is a set; a line is an issue in one of two forms:

* ``{"repo": "owner/name", "number": 12, "text": "title and body", "fix": "commit"}``: the state
  before is the first parent of the fix, the answer is what the fix changed;
* ``{"repo", "instance_id", "problem_statement", "base_commit", "patch"}``: a task in the form of
  the SWE-bench data sets.

Only source files that were there before the fix are answers; an issue without one is left out, and
so is one whose fix changed many.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bench.meaning.changes import bare_folder, git
from sightline.index.reading.languages import language_of
from sightline.index.reading.roles import Role, role_of
from training.pairs import CODE

__all__ = ["Checkout", "Issue", "read_sets"]

_CHANGED = re.compile(r"^--- a/(.+)$", re.MULTILINE)
_MAX_FILES = 6
_MAX_BYTES = 400_000


class Issue(NamedTuple):
    repository: str
    label: str
    text: str
    #: The commit to look at.
    before: str
    files: frozenset[str]


def read_sets(folder: Path, repositories: Path) -> dict[str, list[Issue]]:
    """The sets of a folder, as far as their repositories are there."""
    return {
        path.stem: [
            issue
            for line in path.read_text("utf-8").splitlines()
            for issue in _issue(json.loads(line), repositories)
        ]
        for path in sorted(folder.glob("*.jsonl"))
    }


def _issue(row: Mapping[str, Any], repositories: Path) -> Iterator[Issue]:
    repository = row["repo"]
    bare = bare_folder(repositories, repository)
    if "fix" in row:
        text, label, before = row["text"], str(row["number"]), f"{row['fix']}^"
        listed = git(bare, "diff", "--name-only", "--no-renames", before, row["fix"])
        changed = listed.decode("utf-8", "replace").splitlines()
    else:
        text, label, before = row["problem_statement"], row["instance_id"], row["base_commit"]
        changed = _CHANGED.findall(row["patch"])
    there = git(bare, "ls-tree", "-r", "--name-only", before, "--", *changed) if changed else b""
    files = frozenset(
        path for path in there.decode("utf-8", "replace").splitlines() if _counts(path)
    )
    if 1 <= len(files) <= _MAX_FILES:
        yield Issue(repository, label, text, before, files)


def _counts(path: str) -> bool:
    language = language_of(path.rpartition("/")[2]).name
    return language in CODE and role_of(path, language, b"") is Role.SOURCE


class Checkout:
    """A folder that goes from state to state of a bare repository. Only what differs is written;
    big files, links and files that the repository lacks are left out."""

    def __init__(self, bare: Path, into: Path) -> None:
        self._bare = bare
        self._into = into
        self._there: dict[str, str] = {}

    def go_to(self, commit: str) -> None:
        wanted = dict(self._listed(commit))
        for path in self._there.keys() - wanted.keys():
            Path(self._into, path).unlink(missing_ok=True)
        changed = {p: key for p, key in wanted.items() if self._there.get(p) != key}
        small = self._small(set(changed.values()))
        contents = self._contents([key for key in dict.fromkeys(changed.values()) if key in small])
        for path, key in changed.items():
            target = Path(self._into, path)
            if key in contents:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(contents[key])
            else:
                target.unlink(missing_ok=True)
        self._there = wanted

    def _listed(self, commit: str) -> Iterator[tuple[str, str]]:
        for row in git(self._bare, "ls-tree", "-r", "-z", commit).split(b"\0")[:-1]:
            about, _, path = row.partition(b"\t")
            mode, _, key = about.split()
            if mode.startswith(b"100"):
                yield path.decode("utf-8", "surrogateescape"), key.decode()

    def _small(self, keys: set[str]) -> set[str]:
        asked = "".join(f"{key}\n" for key in sorted(keys)).encode()
        answers = git(self._bare, "cat-file", "--batch-check", given=asked).decode().splitlines()
        rows = (answer.split() for answer in answers)
        return {row[0] for row in rows if row[1] == "blob" and int(row[2]) <= _MAX_BYTES}

    def _contents(self, keys: list[str]) -> dict[str, bytes]:
        asked = "".join(f"{key}\n" for key in keys).encode()
        data = git(self._bare, "cat-file", "--batch", given=asked)
        contents: dict[str, bytes] = {}
        place = 0
        for key in keys:
            end = data.index(b"\n", place)
            size = int(data[place:end].split()[2])
            contents[key] = data[end + 1 : end + 1 + size]
            place = end + 2 + size
        return contents
