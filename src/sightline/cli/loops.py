"""The event loop that commands run on, and an end of it that nothing can put off.

What fails in it while nobody waits for it is logged as everything is, without a text or a folder.

Files are read, and folders looked through, on threads beside the loop. A thread cannot be ended:
one that hangs, on a file system that went away for example, would keep the program alive after its
client is gone and its children are ended. So threads are waited for a moment and then left behind.
"""

import asyncio
import os
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NoReturn

__all__ = ["leave", "loop_runner", "plain_runner"]

#: Whoever is still at work then is stuck: what threads do is small, or ended by its caller.
_GRACE_S = 2.0

_left_behind: list[threading.Thread] = []


def loop_runner() -> asyncio.Runner:
    """The quicker event loop where there is one: it takes an eighth off the cost of a question."""
    try:
        import uvloop
    except ImportError:
        return plain_runner()
    return _prepared(asyncio.Runner(loop_factory=uvloop.new_event_loop))


def plain_runner() -> asyncio.Runner:
    """The loop that is there at once, for commands that ask one thing and are gone."""
    return _prepared(asyncio.Runner())


def leave(code: int) -> NoReturn:
    """Ends the program with an exit code, whatever its threads do."""
    if not _left_behind:
        sys.exit(code)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(code)  # Python would wait for them


def _prepared(runner: asyncio.Runner) -> asyncio.Runner:
    loop = runner.get_loop()
    loop.set_default_executor(_Workers(thread_name_prefix="asyncio"))
    loop.set_exception_handler(_tell)
    return runner


def _tell(loop: asyncio.AbstractEventLoop, context: Mapping[str, object]) -> None:
    from sightline.server.logs import Log  # which most programs never need for this

    Log().unexpected(context)


class _Workers(ThreadPoolExecutor):
    """Threads that a loop waits for at its end, but not for ever."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait=False, cancel_futures=True)
        until = time.monotonic() + (_GRACE_S if wait else 0)
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
            if thread.is_alive():
                _left_behind.append(thread)
