"""The console script: ends quietly when it is interrupted while Python still loads the rest.

It imports next to nothing itself, because what goes wrong above ``run`` nobody can catch.
"""

import os
import sys

__all__ = ["run"]

_INTERRUPTED = 130


def run() -> None:
    try:
        _open_standard_streams()
        from sightline.cli.main import run as command

        command()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)


def _open_standard_streams() -> None:
    """Whoever started us may have closed some; the next file opened would be taken for one."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            if descriptor != number:
                os.dup2(descriptor, number)
                os.close(descriptor)
            mode = "w" if number else "r"
            stream = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
