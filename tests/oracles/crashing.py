"""Sightline with one change: at SIGUSR1 an error that nobody catches ends its event loop.

python tests/oracles/crashing.py serve|stdio ARGUMENTS...
"""

import asyncio
import signal
import sys

from sightline.cli.main import main


class Injected(SystemExit):
    """Of the kind that event loops let through instead of reporting it."""


def fail() -> None:
    raise Injected


if __name__ == "__main__":
    signal.signal(
        signal.SIGUSR1, lambda number, frame: asyncio.get_running_loop().call_soon_threadsafe(fail)
    )
    sys.exit(main(sys.argv[1:]))
