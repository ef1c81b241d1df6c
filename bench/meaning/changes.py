"""Descriptions of changes with known answers: what a commit says, and the files that it changed.

A bare repository is looked at as it was some commits ago; the commits since then are asked for on
that state, so that nothing of a change can be found in the code. Only files that were there count,
and only changes to few of them. *Long* ones are subject and body together, like the text of an issue.
"""

import io
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sightline.index.languages import language_of
from sightline.index.roles import Role, role_of
from training.pairs import CODE
from training.texts import change_query

__all__ = ["Changes", "Described", "bare_folder", "changes", "git"]

_RECORD = "\x1e"
_FIELD = "\x1f"
_MAX_FILES = 4
_LONG_WORDS = 40
#: Commits between the state that is indexed and the newest, or a third of all if there are fewer.
_BACK = 1_500
_MAX_BYTES = 400_000


class Described(NamedTuple):
    text: str
    files: frozenset[str]


class Changes(NamedTuple):
    """The state before, as a commit, and what came then."""

    commit: str
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


def changes(folder: Path, into: Path, count: int) -> Changes:
    """Writes the older state of a bare repository below ``into``; returns so many descriptions."""
    line = git(folder, "rev-list", "--first-parent", f"--max-count={3 * _BACK}", "HEAD").split()
    commit = line[len(line) // 3].decode()
    paths = _write(git(folder, "archive", commit), into)
    found = list(_described(git(folder, *_log(commit)).decode("utf-8", "replace"), paths))
    short = [one for one, is_long in found if not is_long]
    long = [one for one, is_long in found if is_long]
    return Changes(commit, _spread(short, count), _spread(long, count))


def _log(commit: str) -> tuple[str, ...]:
    return (
        "log", "--no-merges", "--no-renames", "--name-only", "--diff-filter=AM",
        f"--format={_RECORD}%s{_FIELD}%b{_FIELD}", f"{commit}..HEAD",
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
            tar.extract(member, into, filter="data")
            if role_of(member.name, language, data[:4_096]) is Role.SOURCE:
                paths.add(member.name)
    return frozenset(paths)
