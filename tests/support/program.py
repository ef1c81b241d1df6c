"""The installed ``sightline`` command and what every test process sees of the environment."""

import os
import subprocess
import sys
from pathlib import Path

__all__ = ["command", "environment", "run"]


def command(*arguments: str | Path) -> list[str]:
    """argv of the command in the environment that runs the tests."""
    return [str(Path(sys.executable).with_name("sightline")), *map(str, arguments)]


def environment(home: Path) -> dict[str, str]:
    """A bare environment: no XDG or SIGHTLINE variable of the machine reaches the program."""
    kept = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
    return kept | {"HOME": str(home), "PYTHONWARNINGS": "error", "PYTHONDEVMODE": ""}


def run(
    home: Path,
    *arguments: str | Path,
    stdin: str = "",
    cwd: Path | None = None,
    timeout: float = 60,
) -> subprocess.CompletedProcess[str]:
    """Runs one command to its end."""
    return subprocess.run(
        command(*arguments),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env=environment(home),
        cwd=cwd or home,
    )
