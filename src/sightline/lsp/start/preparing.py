"""Preparing starts in threads: one at a time for each server and project, none behind another's.

What a start needs is written to a folder that is the server's and the project's, and takes as long
as the project is large. A thread goes on when its start is cancelled, so the next one for the same
folder waits for its end; it does so here, and takes no thread from those that all share.
"""

import asyncio
from collections.abc import Callable
from typing import TypeVar

__all__ = ["Preparing"]

T = TypeVar("T")
#: Who prepares for longer is left behind at the end.
_GRACE_S = 2.0


class Preparing:
    def __init__(self) -> None:
        #: By the server's name and the project's folder.
        self._turns: dict[tuple[str, str], asyncio.Lock] = {}

    async def of(self, name: str, folder: str, prepare: Callable[[], T]) -> T:
        """What ``prepare`` returns, from a thread, once no other one prepares the same."""
        turn = self._turns.setdefault((name, folder), asyncio.Lock())
        await turn.acquire()
        try:
            thread = asyncio.get_running_loop().run_in_executor(None, prepare)
        except BaseException:  # there are too many threads: nothing will be prepared
            turn.release()
            raise
        thread.add_done_callback(lambda _: turn.release())
        return await asyncio.shield(thread)

    async def ended(self) -> bool:
        """Whether nothing is prepared any more, in a moment: a thread may hang for ever."""
        try:
            async with asyncio.timeout(_GRACE_S):
                for turn in list(self._turns.values()):
                    async with turn:
                        pass
        except TimeoutError:
            return False
        return True
