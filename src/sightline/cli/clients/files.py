"""A user's configuration file of another program: read, kept, replaced whole or not at all.

The old text goes to a backup beside the file, which keeps the file as it was without Sightline: of
a text that has it already there is no backup, which could hold a token. The new one is written next
to it, for the user alone, and put in place in one step; if the file changed meanwhile nothing
happens. Behind a link it is the target that is replaced. A file with a secret is never written
inside a repository.
"""

import contextlib
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from sightline.cli.exits import CommandError

__all__ = ["UserFile", "inside_repository"]

_MAX_BYTES = 32 << 20
_BACKUP = ".before-sightline"


@dataclass(frozen=True)
class UserFile:
    path: Path

    @property
    def backup(self) -> Path:
        return self._real.with_name(self._real.name + _BACKUP)

    @property
    def _real(self) -> Path:
        return Path(os.path.realpath(self.path))

    def read(self) -> str:
        """The text; empty if there is no file."""
        data = self._bytes()
        if data is None:
            return ""
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise CommandError(f"{self.path} is not UTF-8 text; repair it first") from None

    def drop_backup(self) -> None:
        """Removes the file as it was, which turned out to be one with Sightline in it."""
        with contextlib.suppress(OSError):
            self.backup.unlink()

    def write(self, before: str, after: str, *, secret: bool, ours: bool) -> Path | None:
        """Puts ``after`` in the place of ``before``. The backup, if one was made.

        ``ours``: there is something of Sightline in ``before`` already.
        """
        real = self._real
        if secret and (repository := inside_repository(real)) is not None:
            raise CommandError(
                f"{self.path} lies in the repository {repository}, where no token is written; "
                "leave --http out, or put the stanza that sightline config prints where you want it"
            )
        try:
            return self._write(real, before.encode(), after.encode(), secret=secret, ours=ours)
        except OSError as error:
            raise CommandError(
                f"{self.path} cannot be written ({error.strerror}); put that right, or put in "
                "by hand what sightline config prints without --write"
            ) from None

    def _write(
        self, real: Path, before: bytes, after: bytes, *, secret: bool, ours: bool
    ) -> Path | None:
        real.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = 0o600
        if existed := real.exists():
            status = real.stat()
            if hasattr(os, "getuid") and status.st_uid != os.getuid():
                raise CommandError(f"{self.path} belongs to another user; it was not touched")
            mode = 0o600 if secret else status.st_mode & 0o777
        made = _made(real, after, mode)
        try:
            if (self._bytes() or b"") != before:
                raise CommandError(
                    f"{self.path} changed meanwhile; close its program and try again"
                )
            kept = existed and not ours
            if kept:
                _replace(self.backup, before, 0o600)
            os.replace(made, real)
        finally:
            made.unlink(missing_ok=True)
        return self.backup if kept else None

    def _bytes(self) -> bytes | None:
        try:
            with open(self._real, "rb") as file:
                data = file.read(_MAX_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise CommandError(
                f"{self.path} cannot be read ({error.strerror}); put that right, or put in by "
                "hand what sightline config prints without --write"
            ) from None
        if len(data) > _MAX_BYTES:
            raise CommandError(f"{self.path} is too large to be changed safely")
        return data


def inside_repository(path: Path) -> Path | None:
    """The repository that a path lies in."""
    return next((up for up in path.parents if os.path.lexists(up / ".git")), None)


def _replace(path: Path, data: bytes, mode: int) -> None:
    made = _made(path, data, mode)
    try:
        os.replace(made, path)
    finally:
        made.unlink(missing_ok=True)


def _made(path: Path, data: bytes, mode: int) -> Path:
    """A finished file next to ``path``, under another name."""
    made = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(made, flags, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
            if hasattr(os, "fchmod"):
                os.fchmod(descriptor, mode)
    except BaseException:
        made.unlink(missing_ok=True)
        raise
    return made
