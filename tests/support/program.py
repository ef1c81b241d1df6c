"""The installed ``sightline`` command and what every test process sees of the environment."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.support.leaks import ENVIRONMENT, ledger

__all__ = ["command", "environment", "run"]


def command(*arguments: str | Path) -> list[str]:
    """argv of the command in the environment that runs the tests."""
    return [str(Path(sys.executable).with_name("sightline")), *map(str, arguments)]


def environment(home: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """A bare environment: no XDG or SIGHTLINE variable of the machine reaches the program."""
    kept = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
    planted = {"PLANTED_API_KEY": ENVIRONMENT}
    own = {"HOME": str(home), "PYTHONWARNINGS": "error", "PYTHONDEVMODE": ""}
    return kept | planted | own | dict(extra or {})


def run(
    home: Path,
    *arguments: str | Path,
    stdin: str = "",
    cwd: Path | None = None,
    timeout: float = 60,
    extra: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs one command to its end."""
    done = subprocess.run(
        command(*arguments),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env=environment(home, extra),
        cwd=cwd or home,
    )
    if arguments and arguments[0] == "call":
        # Other commands speak to the user about the user's own folders.
        ledger.hear("call", done.stdout + done.stderr)
    return done
