"""Work that is asked to end and then still takes away what it began.

Ctrl-C, TERM and a closed terminal cancel it, once, and the command ends as interrupted when the
work has ended. Whoever asks again is not heard: what is left to do is short, and half of it would
leave files behind.
"""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from sightline.cli.loops import plain_runner
from sightline.server.endings import ending_signals

__all__ = ["run_interruptibly"]

T = TypeVar("T")


def run_interruptibly(work: Coroutine[Any, Any, T]) -> T:
    """Its outcome, or ``KeyboardInterrupt`` when it was asked to end, even if it was done then."""
    asked = False
    with plain_runner() as runner:
        loop = runner.get_loop()
        task = loop.create_task(work)

        def ask(number: int, frame: FrameType | None) -> None:
            nonlocal asked
            if not asked:
                asked = True
                loop.call_soon_threadsafe(task.cancel)  # which also wakes the loop

        with _heard(ask):
            try:
                outcome = loop.run_until_complete(task)
            except asyncio.CancelledError:
                if not asked:
                    raise
    if asked:
        raise KeyboardInterrupt
    return outcome


@contextmanager
def _heard(ask: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Not the loop's own handlers: a signal that comes while the loop stands would be lost."""
    kept = {number: signal.getsignal(number) for number in ending_signals()}
    # Whoever has one ignored, such as ``nohup``, wants it to be outlived.
    kept = {number: handler for number, handler in kept.items() if handler is not signal.SIG_IGN}
    for number in kept:
        signal.signal(number, ask)
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
