"""The per-user folders, by the XDG rules: configuration, data, cache, runtime.

Folders are made with mode 0700 when they are first needed, and must belong to the user.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from sightline.cli.exits import CommandError

__all__ = ["Folders"]

_NAME = "sightline"


class Folders:
    def __init__(self, environment: Mapping[str, str]) -> None:
        home = environment.get("HOME") or os.path.expanduser("~")
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
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
        if hasattr(os, "getuid") and status.st_uid != os.getuid():
            raise CommandError(f"the folder {folder} belongs to another user; remove or chown it")
        if status.st_mode & 0o077:
            folder.chmod(0o700)
    except OSError as error:
        raise CommandError(
            f"the folder {folder} cannot be made ({error.strerror}); check its permissions, or "
            "set XDG_DATA_HOME and XDG_CACHE_HOME to folders you can write"
        ) from None
    return folder


def _folder(environment: Mapping[str, str], variable: str, home: str, default: str) -> Path:
    base = environment.get(variable, "")
    if not os.path.isabs(base):
        base = os.path.join(home, default)
    return Path(base) / _NAME
