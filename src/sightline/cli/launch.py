"""The console script: ends quietly when it is interrupted while Python still loads the rest.

It imports next to nothing itself, because what goes wrong above ``run`` nobody can catch.
"""

import sys

__all__ = ["run"]

_INTERRUPTED = 130


def run() -> None:
    try:
        from sightline.cli.main import run as command

        command()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
