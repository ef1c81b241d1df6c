"""The manifest: which segments an index has, and which file lies where in them.

One SQLite database per root, in write-ahead mode: every change is one transaction, so a process
that dies at any moment leaves the state before or after it, and two processes can share it. A
manifest of another format, or of another root, or one that SQLite finds damaged, is
``BrokenManifest``; its owner starts over. One whose disk is full or may not be written is
``DiskRefuses``, and is read as it lies there if nobody was about to change it.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple
from urllib.parse import quote

from sightline.index.storage.disk import DiskRefuses, is_damage
from sightline.workspace.tree import Stamp, stamp_from

__all__ = ["OTHER_VERSION", "BrokenManifest", "FileRow", "Manifest", "SegmentRow"]

#: Rises when what is stored, or how text is cut and counted, changes.
FORMAT = 4
#: Why an index is made again after another version of Sightline made it.
OTHER_VERSION = "made by another version"
_BUSY_S = 10.0
_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE segment (
    id INTEGER PRIMARY KEY, files INTEGER NOT NULL, chunks INTEGER NOT NULL, size INTEGER NOT NULL
);
CREATE TABLE file (
    path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime INTEGER NOT NULL, ctime INTEGER NOT NULL,
    inode INTEGER NOT NULL, hash BLOB NOT NULL, language TEXT NOT NULL, role INTEGER NOT NULL,
    segment INTEGER NOT NULL, place INTEGER NOT NULL, chunks INTEGER NOT NULL,
    symbols INTEGER NOT NULL, reason TEXT NOT NULL
) WITHOUT ROWID;
"""
_COLUMNS = (
    "path, size, mtime, ctime, inode, hash, language, role, segment, place, chunks, symbols, reason"
)
_INSERT = f"INSERT OR REPLACE INTO file ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"  # noqa: S608


class BrokenManifest(Exception):
    """There is something, but not a manifest of this root in this format."""


class FileRow(NamedTuple):
    """One file of the index. ``place`` is -1 when it is left out for ``reason``."""

    path: str
    size: int
    mtime: int
    ctime: int
    inode: int
    hash: bytes
    language: str
    role: int
    segment: int
    place: int
    chunks: int
    symbols: int
    reason: str

    def matches(self, stamp: Stamp) -> bool:
        """Whether the file still looks as it did when it was read."""
        return (
            self.mtime == stamp.mtime_ns
            and self.ctime == stamp.ctime_ns
            and self.inode == stamp.inode
        )

    def is_at(self, status: os.stat_result) -> bool:
        """The same of a file that is open."""
        return self.size == status.st_size and self.matches(stamp_from(status))


class SegmentRow(NamedTuple):
    id: int
    files: int
    chunks: int
    size: int


class Manifest:
    """An open manifest. Not for several threads at once."""

    def __init__(self, path: str, root: str, version: str, *, create: bool) -> None:
        self.path = path
        #: Whether it is read as it lies on disk, because its disk lets nobody change it.
        self.frozen = False
        made = create and self._make()
        # Taken before it is opened: if somebody replaces it in between, ``replaced`` says so.
        self.inode = _inode(path)
        if self.inode is None:
            raise BrokenManifest("there is no manifest")
        try:
            with self._closing(), _damage():
                self._connect(root, version, create=create)
        except DiskRefuses:
            if made:
                os.remove(path)  # it would be taken for a damaged one
            if made or not _lies_still(path):
                raise
            self.frozen = True
            with self._closing(), _damage():
                self._freeze(root, version)

    def _make(self) -> bool:
        """Makes sure that there is a file for its owner alone. Whether there was none."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
        made = not os.path.exists(self.path)
        try:
            os.close(os.open(self.path, flags, 0o600))
        except OSError as error:
            raise DiskRefuses.by(error) from None
        return made

    def _connect(self, root: str, version: str, *, create: bool) -> None:
        self._db = sqlite3.connect(
            self.path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
        )
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        if not self._db.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
            if not create:
                raise BrokenManifest("it is empty")
            self._create(root, version)
        self._check(root, version)

    def _freeze(self, root: str, version: str) -> None:
        """Reads the file alone, without the journal and the shared memory that cannot be made."""
        self._db = sqlite3.connect(
            f"file:{quote(self.path)}?mode=ro&immutable=1",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
        )
        if not self._db.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
            raise BrokenManifest("it is empty")
        self._check(root, version)

    @contextmanager
    def _closing(self) -> Iterator[None]:
        try:
            yield
        except (BrokenManifest, DiskRefuses):
            self.close()
            raise

    def close(self) -> None:
        database = getattr(self, "_db", None)
        if database is not None:
            database.close()

    def replaced(self) -> bool:
        """Whether it has to be opened again: another file lies at this path, or it was frozen and
        may have changed."""
        return self.frozen or _inode(self.path) != self.inode

    # Reading

    def generation(self) -> int:
        """Rises with every change, whichever process made it."""
        with _damage():
            return self._number("generation")

    def complete(self) -> bool:
        """Whether a whole build has been finished."""
        with _damage():
            return self._meta("complete") == 1

    def segments(self) -> list[SegmentRow]:
        with _damage():
            rows = self._db.execute("SELECT id, files, chunks, size FROM segment ORDER BY id")
            return [SegmentRow(*row) for row in rows]

    def files(self) -> Iterator[FileRow]:
        """Every file, sorted by path."""
        with _damage():
            rows = self._db.execute(f"SELECT {_COLUMNS} FROM file ORDER BY path")  # noqa: S608
            yield from map(FileRow._make, rows)

    def state(self) -> tuple[int, list[SegmentRow], list[FileRow]]:
        """The generation, segments and files of one moment."""
        with self._transaction("DEFERRED"):
            return self.generation(), self.segments(), list(self.files())

    def counted(self) -> int:
        """How many files have been seen so far."""
        with _damage():
            row: tuple[int] = self._db.execute("SELECT count(*) FROM file").fetchone()
            return row[0]

    # Writing

    def next_segment(self) -> int:
        """A number that no segment has had."""
        with self._transaction():
            number = self._number("segments") + 1
            self._set("segments", number)
            return number

    def record(
        self,
        files: Iterable[FileRow],
        removed: Iterable[str] = (),
        segment: SegmentRow | None = None,
    ) -> None:
        """One step of a build: a finished segment and what became of its files."""
        with self._transaction():
            if segment is not None:
                self._db.execute("INSERT INTO segment VALUES (?,?,?,?)", segment)
            self._db.executemany(_INSERT, files)
            self._db.executemany("DELETE FROM file WHERE path = ?", ((path,) for path in removed))
            self._step()

    def replace(
        self, old: Sequence[int], new: SegmentRow, moves: Iterable[tuple[int, int, str]]
    ) -> None:
        """One merge: ``moves`` are (old segment, new place, path) of the files that moved."""
        with self._transaction():
            self._db.execute("INSERT INTO segment VALUES (?,?,?,?)", new)
            self._db.executemany(
                "UPDATE file SET segment = ?, place = ? WHERE path = ? AND segment = ?",
                ((new.id, place, path, segment) for segment, place, path in moves),
            )
            self._db.executemany("DELETE FROM segment WHERE id = ?", ((number,) for number in old))
            self._step()

    def drop_empty(self) -> None:
        """Forgets segments in which no file is alive."""
        with self._transaction():
            self._db.execute(
                "DELETE FROM segment WHERE id NOT IN (SELECT DISTINCT segment FROM file)"
            )
            self._step()

    def finish(self) -> None:
        """A whole build is done."""
        if not self.complete():
            with self._transaction():
                self._set("complete", 1)
                self._step()
            with suppress(DiskRefuses), _damage():  # what is in the journal is not lost
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    # Helpers

    def _create(self, root: str, version: str) -> None:
        with self._transaction():
            for statement in _SCHEMA.split(";"):
                if statement.strip():
                    self._db.execute(statement)
            self._set("format", FORMAT)
            self._set("root", root)
            self._set("version", version)
            self._set("generation", 0)

    def _check(self, root: str, version: str) -> None:
        if self._meta("format") != FORMAT or self._meta("version") != version:
            raise BrokenManifest(OTHER_VERSION)
        if self._meta("root") != root:
            raise BrokenManifest("made for another folder")

    def _meta(self, key: str) -> object:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def _number(self, key: str) -> int:
        value = self._meta(key)
        return value if isinstance(value, int) else 0

    def _set(self, key: str, value: object) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def _step(self) -> None:
        self._db.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")

    @contextmanager
    def _transaction(self, kind: str = "IMMEDIATE") -> Iterator[None]:
        with _damage():
            self._db.execute(f"BEGIN {kind}")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # a full disk may have ended it already
                    self._db.execute("ROLLBACK")
                raise


def _inode(path: str) -> int | None:
    try:
        return os.stat(path).st_ino
    except OSError:
        return None


def _lies_still(path: str) -> bool:
    """Whether all that was ever written is in the file itself."""
    try:
        return os.path.getsize(f"{path}-wal") == 0
    except FileNotFoundError:
        return True
    except OSError:
        return False


@contextmanager
def _damage() -> Iterator[None]:
    """A database that SQLite finds broken is a broken manifest; any other trouble is its disk's."""
    try:
        yield
    except sqlite3.Error as error:
        if is_damage(error):
            raise BrokenManifest(str(error)) from None
        raise DiskRefuses(str(error)) from None
