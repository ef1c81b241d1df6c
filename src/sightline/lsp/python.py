"""The Python environment of a project, found without running anything.

An environment is a folder with ``pyvenv.cfg``. If the project has none, servers are pointed at an
empty one of ours: otherwise they would pick up whatever environment Sightline is installed in, and
answers would depend on that.
"""

import os
from pathlib import Path

__all__ = ["empty_configuration", "empty_environment", "find_environment"]

_NAMES = (".venv", "venv", "env", ".env")
_MAX_CONFIGURATION = 1 << 16


def find_environment(root: str) -> str | None:
    """The environment folder directly inside a project root."""
    for name in _NAMES:
        folder = os.path.join(root, name)
        if _is_environment(folder):
            return folder
    return None


def empty_configuration(cache: Path) -> str:
    """A ty.toml that says nothing, made once in the per-user cache."""
    file = cache / "empty-ty.toml"
    if not file.exists():
        file.touch()
    return str(file)


def empty_environment(cache: Path) -> str:
    """An environment without packages, made once in the per-user cache."""
    folder = cache / "empty-python-environment"
    (folder / "lib" / "python3.13" / "site-packages").mkdir(parents=True, exist_ok=True)
    marker = folder / "pyvenv.cfg"
    if not marker.exists():
        marker.write_text("home = /nonexistent\nversion = 3.13.0\n", encoding="utf-8")
    return str(folder)


def _is_environment(folder: str) -> bool:
    """Whether servers will accept it: a damaged one would make them refuse the whole project."""
    try:
        with open(os.path.join(folder, "pyvenv.cfg"), encoding="utf-8", errors="replace") as file:
            lines = file.read(_MAX_CONFIGURATION).splitlines()
    except OSError:
        return False
    return any(line.partition("=")[0].strip() == "home" for line in lines)
