"""Reading a bare repository with git's plumbing: the tree of a commit, its files, and its history.

Repositories are data here. Nothing of them is checked out or run. A snapshot may lack its largest
files: in a tree they are passed over; in history they are an error that names the file, after all
that stands before it.
"""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

__all__ = ["Change", "Commit", "Entry", "MissingBlobError", "Repository"]

_ENVIRONMENT = {
    "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C.UTF-8",
}
_RECORD = "\x1e"
_FIELD = "\x1f"
#: Lines shown around a change.
_AROUND = 12
_MAX_PATCH = 400_000
_LACKING = re.compile(r"unable to read ([0-9a-f]{40})")
_INDEX = re.compile(rb"^index ([0-9a-f]{40})\.\.([0-9a-f]{40})")
#: Digits of an id that count towards the size of a patch. Git would show as many as are needed to
#: tell the objects of a clone apart, and a clone with more objects would be read less far.
_DIGITS = 10


class Entry(NamedTuple):
    path: str
    blob: str
    size: int


class Change(NamedTuple):
    """One place that a commit changed, as it was before."""

    path: str
    #: What git found above the place: most often the line that opens the function.
    heading: str
    before: str


class Commit(NamedTuple):
    id: str
    subject: str
    body: str
    merge: bool
    changes: list[Change]


class MissingBlobError(Exception):
    """The history of a repository needs a file that its snapshot does not hold."""

    def __init__(self, blob: str) -> None:
        super().__init__(blob)
        self.blob = blob


class Repository:
    """A bare repository, seen from one commit. ``name`` is owner/name."""

    def __init__(self, folder: str, name: str, at: str = "HEAD") -> None:
        self.folder = folder
        self.name = name
        self.at = at

    def has_commit(self) -> bool:
        try:
            self._git("cat-file", "-e", f"{self.at}^{{commit}}")
        except subprocess.CalledProcessError:
            return False
        return True

    def head(self) -> str:
        return self._git("rev-parse", self.at).decode().strip()

    def tree(self, max_size: int) -> list[Entry]:
        """The regular files of the commit, sorted by path."""
        entries: list[Entry] = []
        for line in self._git("ls-tree", "-r", "-z", "--long", self.at).split(b"\0"):
            meta, _, path = line.partition(b"\t")
            fields = meta.split()
            if len(fields) != 4 or fields[1] != b"blob" or fields[0] == b"120000":
                continue
            size = int(fields[3]) if fields[3].isdigit() else 0
            if 0 < size <= max_size:
                entries.append(Entry(path.decode("utf-8", "replace"), fields[2].decode(), size))
        return entries

    def read(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, bytes]]:
        """The contents of files, in the order asked for; what is missing is left out."""
        process = self._start("cat-file", "--batch", stdin=subprocess.PIPE)
        assert process.stdin is not None and process.stdout is not None
        try:
            for entry in entries:
                process.stdin.write(f"{entry.blob}\n".encode())
                process.stdin.flush()
                head = process.stdout.readline().split()
                if len(head) == 3:
                    yield entry, process.stdout.read(int(head[2]))
                    process.stdout.read(1)
        finally:
            process.stdin.close()
            _end(process)

    def commits(
        self, limit: int, suffixes: Iterable[str], *, merges: bool, until: Sequence[str] = ()
    ) -> Iterator[Commit]:
        """The newest commits and what they changed in files with the given endings.

        A merge is seen from its first parent. Only the newest part of history is walked: in many
        projects a search for merges would otherwise read all of it.

        A change of one of the blobs in ``until`` ends it, in the middle of a commit. A blob that the
        snapshot lacks ends it in the same place, with ``MissingBlobError``.
        """
        oldest = self._git(
            "rev-list", "--first-parent", "--max-count=1", f"--skip={4 * limit}", self.at
        )
        reach = f"{oldest.decode().strip()}..{self.at}" if oldest.strip() else self.at
        which = ("--merges", "--first-parent", "-m") if merges else ("--no-merges",)
        process = self._start(
            "log", f"--max-count={limit}", *which, "--patch", f"--unified={_AROUND}",
            "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv", "--diff-filter=M",
            "--full-index", f"--format={_RECORD}%H{_FIELD}%s{_FIELD}%b{_FIELD}",
            reach, "--", *(f"*{suffix}" for suffix in suffixes),
            stderr=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout is not None
        try:
            for record in _records(_before(process.stdout, until)):
                head, _, patch = record.rpartition(_FIELD)
                fields = head.split(_FIELD)
                if len(fields) == 3:
                    id_, subject, body = fields
                    yield Commit(id_, subject.strip(), body.strip(), merges, _changes(patch))
            _check_end(process, until)
        finally:
            _end(process)

    def _git(self, *arguments: str) -> bytes:
        return subprocess.run(
            ["git", f"--git-dir={self.folder}", *arguments],
            env=_ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        ).stdout

    def _start(
        self, *arguments: str, stdin: int = subprocess.DEVNULL, stderr: int = subprocess.DEVNULL
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            ["git", f"--git-dir={self.folder}", *arguments],
            env=_ENVIRONMENT,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    process.wait()


def _check_end(log: subprocess.Popen[bytes], until: Sequence[str]) -> None:
    """Says why a log ended early, unless it is where it should end."""
    assert log.stdout is not None and log.stderr is not None
    if log.stdout.read(1):
        return  # There is more, behind a change that ends it.
    said = log.stderr.read().decode("utf-8", "replace")
    if log.wait() == 0:
        return
    lacking = _LACKING.search(said)
    if lacking is None:
        raise subprocess.CalledProcessError(log.returncode, log.args, stderr=said)
    if lacking[1] not in until:
        raise MissingBlobError(lacking[1])


def _before(stream: Iterable[bytes], until: Sequence[str]) -> Iterator[bytes]:
    """The lines of a log in front of the first change of one of these blobs."""
    blobs = [blob.encode() for blob in until]
    for line in stream:
        index = _INDEX.match(line)
        if index is None:
            yield line
        elif index[1] in blobs or index[2] in blobs:
            return
        else:
            old, new = index[1][:_DIGITS], index[2][:_DIGITS]
            yield b"index %b..%b%b" % (old, new, line[index.end() :])


def _records(stream: Iterable[bytes]) -> Iterator[str]:
    """The records of a log. The patch of a huge one is cut off."""
    mark = _RECORD.encode()
    parts: list[bytes] = []
    size = 0
    for line in stream:
        if line.startswith(mark):
            if parts:
                yield b"".join(parts).decode("utf-8", "replace")
            parts, size = [line[len(mark) :]], 0
        elif parts and size < _MAX_PATCH:
            parts.append(line)
            size += len(line)
    if parts:
        yield b"".join(parts).decode("utf-8", "replace")


def _changes(patch: str) -> list[Change]:
    changes: list[Change] = []
    path = ""
    for line in patch.split("\n"):
        if line.startswith("diff --git "):
            path = ""
        elif line.startswith("--- a/") and not path:
            path = line[6:].rstrip("\t\r")
        elif line.startswith("@@ ") and path:
            changes.append(Change(path, line.rpartition("@@")[2].strip(), ""))
            lines: list[str] = []
        elif path and changes and line[:1] in (" ", "-") and not line.startswith("--- "):
            lines.append(line[1:])
            changes[-1] = changes[-1]._replace(before="\n".join(lines))
    return [change for change in changes if change.before.strip()]
