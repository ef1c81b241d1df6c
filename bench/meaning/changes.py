"""Descriptions of changes with known answers: what a commit says, and the files that it changed.

A bare repository is looked at as it was some commits ago; the commits since then are asked for on
that state, so that nothing of a change can be found in the code. Its history has several such
stretches. Only files that were there count, and only changes to few of them. *Long* ones are
subject and body together, like the text of an issue.
"""

import io
import os
import subprocess
import tarfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from sightline.index.reading.languages import language_of
from sightline.index.reading.roles import Role, role_of
from training.pairs import CODE
from training.texts import change_query

__all__ = ["Changes", "Described", "Stretch", "bare_folder", "changes", "git", "stretches"]

_RECORD = "\x1e"
_FIELD = "\x1f"
_MAX_FILES = 4
_LONG_WORDS = 40
#: Commits of a stretch, or a third of all if there are fewer.
_BACK = 1_500
_MAX_BYTES = 400_000


class Described(NamedTuple):
    text: str
    files: frozenset[str]


class Stretch(NamedTuple):
    """Two commits: the state that is asked, and the last of the changes that are asked for."""

    before: str
    last: str


class Changes(NamedTuple):
    """What came after a state."""

    short: list[Described]
    long: list[Described]


def bare_folder(folder: Path, repository: str) -> Path:
    """Where the bare repository ``owner/name`` lies below a folder."""
    base = folder / repository.replace("/", "+")
    return next(p for p in (base / "repo/.git", base / "repo", base) if (p / "HEAD").is_file())


def git(folder: Path, *arguments: str, given: bytes = b"") -> bytes:
    """What git says of a bare repository, whatever the user's settings."""
    return subprocess.run(
        ["git", f"--git-dir={folder}", *arguments],
        check=True,
        capture_output=True,
        input=given,
        env={"PATH": "/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"},
    ).stdout


def stretches(folder: Path) -> list[Stretch]:
    """The history of a bare repository in pieces of the same length, the newest first."""
    line = git(folder, "rev-list", "--first-parent", "HEAD").decode().split()
    size = max(1, min(_BACK, len(line) // 3))
    edges = line[::size]
    return [Stretch(before, last) for last, before in pairwise(edges)]


def changes(folder: Path, stretch: Stretch, into: Path, count: int) -> Changes:
    """Writes the older state of a stretch below ``into``; returns so many descriptions."""
    paths = _write(git(folder, "archive", stretch.before), into)
    found = list(_described(git(folder, *_log(stretch)).decode("utf-8", "replace"), paths))
    short = [one for one, is_long in found if not is_long]
    long = [one for one, is_long in found if is_long]
    return Changes(_spread(short, count), _spread(long, count))


def _log(stretch: Stretch) -> tuple[str, ...]:
    return (
        "log", "--no-merges", "--no-renames", "--name-only", "--diff-filter=AM",
        f"--format={_RECORD}%s{_FIELD}%b{_FIELD}", f"{stretch.before}..{stretch.last}",
    )  # fmt: skip


def _spread(found: list[Described], count: int) -> list[Described]:
    step = max(1, len(found) // count)
    return found[::step][:count]


def _described(log: str, paths: frozenset[str]) -> Iterator[tuple[Described, bool]]:
    seen: set[str] = set()
    for record in log.split(_RECORD)[1:]:
        subject, body, names = record.split(_FIELD)
        changed = frozenset(name for name in names.split("\n") if name in paths)
        text = change_query(subject, body, merge=False, more=False)
        if not 1 <= len(changed) <= _MAX_FILES or len(text.split()) < 4 or text in seen:
            continue
        seen.add(text)
        full = change_query(subject, body, merge=False, more=True)
        if len(full.split()) >= _LONG_WORDS:
            yield Described(full, changed), True
        yield Described(text, changed), False


def _write(archive: bytes, into: Path) -> frozenset[str]:
    """Unpacks the source files of an archive; returns their paths."""
    paths: set[str] = set()
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            if not member.isfile() or member.size > _MAX_BYTES:
                continue
            language = language_of(member.name.rpartition("/")[2]).name
            file = tar.extractfile(member)
            if language not in CODE or file is None:
                continue
            data = file.read()
            target = Path(os.path.normpath(into / member.name))
            if into not in target.parents:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            if role_of(member.name, language, data[:4_096]) is Role.SOURCE:
                paths.add(member.name)
    return frozenset(paths)
