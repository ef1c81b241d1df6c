"""The Python environment of a project, found without running anything.

An environment is a folder with ``pyvenv.cfg``. If the project has none, servers are pointed at an
empty one of ours: otherwise they would pick up whatever environment Sightline is installed in, and
answers would depend on that.
"""

import os
from pathlib import Path

__all__ = ["empty_environment", "find_environment"]

_NAMES = (".venv", "venv", "env", ".env")


def find_environment(root: str) -> str | None:
    """The environment folder directly inside a project root."""
    for name in _NAMES:
        folder = os.path.join(root, name)
        if os.path.isfile(os.path.join(folder, "pyvenv.cfg")):
            return folder
    return None


def empty_environment(cache: Path) -> str:
    """An environment without packages, made once in the per-user cache."""
    folder = cache / "empty-python-environment"
    (folder / "lib" / "python3.13" / "site-packages").mkdir(parents=True, exist_ok=True)
    marker = folder / "pyvenv.cfg"
    if not marker.exists():
        marker.write_text("home = /nonexistent\nversion = 3.13.0\n", encoding="utf-8")
    return str(folder)
