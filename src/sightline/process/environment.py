"""The environment of a child: an allow-list, and a search path without workspace folders.

No token, key or session variable reaches a language server, and no program that lies in a
workspace can be found by its name.
"""

import os
from collections.abc import Iterable, Mapping

from sightline.contract.uris import is_under

__all__ = ["child_environment", "find_program", "lies_in", "safe_path"]

_ALLOWED = frozenset(
    """
    HOME USER LOGNAME LANG LANGUAGE TZ TMPDIR TEMP TMP SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT
    APPDATA LOCALAPPDATA PROGRAMDATA USERPROFILE HOMEDRIVE HOMEPATH XDG_CACHE_HOME XDG_CONFIG_HOME
    XDG_DATA_HOME XDG_RUNTIME_DIR XDG_STATE_HOME
    """.split()
)
_DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"


def child_environment(
    own: Mapping[str, str], roots: Iterable[str], extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """What a child sees: the allowed variables, a safe PATH, and ``extra``."""
    kept = {k: v for k, v in own.items() if k.upper() in _ALLOWED or k.startswith("LC_")}
    kept["PATH"] = os.pathsep.join(safe_path(own.get("PATH", _DEFAULT_PATH), roots))
    return kept | dict(extra or {})


def safe_path(path: str, roots: Iterable[str]) -> list[str]:
    """The absolute folders of a search path that lie in none of the roots."""
    closed = [os.path.realpath(root) for root in roots]
    return [
        folder
        for folder in path.split(os.pathsep)
        if os.path.isabs(folder)
        and not any(is_under(os.path.realpath(folder), root) for root in closed)
    ]


def lies_in(value: str, roots: Iterable[str]) -> bool:
    """Whether a variable's value is, or one of the paths in it is, a path in one of the roots."""
    closed = [os.path.realpath(root) for root in roots]
    parts = {value, *value.split(os.pathsep)}  # a name may have that sign in it
    paths = [os.path.realpath(part) for part in parts if os.path.isabs(part)]
    return any(is_under(path, root) for path in paths for root in closed)


def find_program(name: str, path: Iterable[str], roots: Iterable[str]) -> str | None:
    """The first executable file of this name on ``path`` that does not lie in a root."""
    closed = [os.path.realpath(root) for root in roots]
    for folder in path:
        candidate = os.path.join(folder, name)
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            real = os.path.realpath(candidate)
            if not any(is_under(real, root) for root in closed):
                return candidate
    return None
