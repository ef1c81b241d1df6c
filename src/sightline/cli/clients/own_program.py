"""How a client starts this very installation of Sightline: the command to write into its file."""

import os
import shlex
import shutil
import sys

__all__ = ["command", "is_temporary", "typed"]


def command(argv0: str) -> list[str]:
    """An absolute command, because clients do not have the search path of a shell."""
    if os.path.basename(argv0).removesuffix(".exe") == "sightline":
        # Links are kept: the name on the search path outlives what it points to.
        path = os.path.abspath(argv0) if os.path.dirname(argv0) else shutil.which(argv0)
        if path is not None and os.access(path, os.X_OK):
            return [path]
    return [sys.executable, "-m", "sightline"]


def typed(argv0: str) -> str:
    """What a user types to run it, who has perhaps never installed it: ``make serve`` does not."""
    return "sightline" if shutil.which("sightline") else shlex.join(command(argv0))


def is_temporary(program: list[str]) -> bool:
    """Whether the installation is one that uvx or pipx run may remove at any time."""
    parts = os.path.realpath(program[0]).split(os.sep)
    uvx = any(part.startswith("archive-v") for part in parts)
    return uvx or ("pipx" in parts and ".cache" in parts)
