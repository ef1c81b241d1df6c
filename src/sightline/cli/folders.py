"""The per-user folders, by the XDG rules: configuration, data, cache, runtime.

Folders are made with mode 0700 when they are first needed, and must belong to the user.
"""

import errno
import os
from collections.abc import Mapping
from pathlib import Path

from sightline.cli.exits import CommandError
from sightline.contract.uris import is_unicode

__all__ = ["Folders", "private", "unwritable"]

_NAME = "sightline"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class Folders:
    def __init__(self, environment: Mapping[str, str]) -> None:
        home = environment.get("HOME") or _home_of_the_user()
        if not os.path.isabs(home):  # everything would be kept below whatever folder is current
            raise CommandError(
                f"HOME is {home!r}, not an absolute path; set it to your home folder"
            )
        self.home = home
        self.config = _folder(environment, "XDG_CONFIG_HOME", home, ".config")
        self.data = _folder(environment, "XDG_DATA_HOME", home, ".local/share")
        self.cache = _folder(environment, "XDG_CACHE_HOME", home, ".cache")

    @property
    def tokens(self) -> Path:
        return self.data / "tokens.json"

    @property
    def servers(self) -> Path:
        """Where installed language servers live."""
        return self.data / "servers"

    @property
    def trust(self) -> Path:
        return self.data / "trusted-roots.json"

    @property
    def run(self) -> Path:
        """Where running programs keep their status sockets."""
        return self.data / "run"

    @property
    def settings(self) -> Path:
        return self.config / "sightline.toml"


def private(folder: Path) -> Path:
    """The folder, made if necessary, for its owner alone."""
    if folder.parent.name == _NAME:
        private(folder.parent)
    if not is_unicode(str(folder)):  # no server, and nothing that says JSON, can be told it
        shown = os.fsencode(folder).decode(errors="backslashreplace")
        raise CommandError(
            f"the path of the folder {shown} is not UTF-8; set XDG_DATA_HOME and XDG_CACHE_HOME to "
            "folders that have a plain name"
        )
    try:
        # Folders on the way are made for their owner alone, too, whatever the mask for new files.
        for missing in [each for each in (folder, *folder.parents) if not each.exists()][::-1]:
            missing.mkdir(mode=0o700, exist_ok=True)
        status = folder.stat()
    except OSError as error:
        raise CommandError(
            f"the folder {folder} cannot be made ({error.strerror}); check its permissions, or "
            "set XDG_DATA_HOME and XDG_CACHE_HOME to folders you can write"
        ) from None
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        raise CommandError(f"the folder {folder} belongs to another user; remove or chown it")
    if status.st_mode & 0o077:
        try:
            folder.chmod(0o700)
        except OSError as error:
            raise CommandError(
                f"the folder {folder} can be read by others, and that cannot be changed "
                f"({error.strerror}); chmod 700 it, or set XDG_DATA_HOME and XDG_CACHE_HOME to "
                "folders you can write"
            ) from None
    return folder


def unwritable(folder: Path, error: OSError) -> CommandError:
    """What to do about a data folder that takes nothing more."""
    step = "free some space there" if error.errno in _FULL else "check its permissions"
    why = error.strerror or type(error).__name__
    return CommandError(
        f"{folder} cannot be written ({why}); {step}, or set XDG_DATA_HOME to another folder"
    )


def _home_of_the_user() -> str:
    """What the system knows, where ``HOME`` is not set or empty."""
    try:
        import pwd  # not on Windows
    except ImportError:
        return os.path.expanduser("~")
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return os.path.expanduser("~")


def _folder(environment: Mapping[str, str], variable: str, home: str, default: str) -> Path:
    base = environment.get(variable, "")
    if not os.path.isabs(base):
        base = os.path.join(home, default)
    return Path(base) / _NAME
