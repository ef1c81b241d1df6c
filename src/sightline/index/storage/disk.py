"""What a disk refuses an index: no space, no right to write, an error of its own.

Nothing is wrong with the index then, and nobody may throw it away for that. What is on disk can
mostly still be read, and answers as long as it is what the files hold.
"""

import sqlite3

__all__ = ["DiskRefuses", "is_damage"]

#: What SQLite says of a database that is not what it was: anything else is said of its disk.
_DAMAGE = frozenset(
    (
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_ERROR,
        sqlite3.SQLITE_FORMAT,
        sqlite3.SQLITE_MISMATCH,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_SCHEMA,
    )
)
_PRIMARY = 0xFF


class DiskRefuses(Exception):
    """The index cannot be read or changed now. The text says why, and what helps."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"the index folder cannot be written ({reason}); free some space there, make it "
            "writable, or set XDG_CACHE_HOME"
        )

    @classmethod
    def by(cls, error: OSError) -> "DiskRefuses":
        return cls(error.strerror or "an I/O error")


def is_damage(error: sqlite3.Error) -> bool:
    """Whether a database is broken, and not merely its disk full, closed or in use."""
    # What has no code was found by Python in a value that no index has.
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    return code & _PRIMARY in _DAMAGE
