"""Keepers that start before it is known what they are to keep.

A keeper takes a while to start, and so does finding out how a program has to be started, or ending
the one before it. So both are done at once. At most one keeper waits; it is told what to keep, or
dismissed at the end.

    keepers.ahead()                      # begins to start one
    child = await keepers.spawn(...)     # which keeps this
"""

import asyncio
import contextlib
import sys
from collections.abc import Mapping, Sequence

from sightline.process.allowed import Allowed
from sightline.process.child import STREAM_LIMIT, Child, Keeper, StartFailed, spawn

__all__ = ["Keepers"]


class Keepers:
    def __init__(self) -> None:
        self._waiting: asyncio.Task[Keeper] | None = None

    def ahead(self) -> None:
        """Begins to start one, unless one waits."""
        if self._waiting is None and sys.platform != "win32":
            self._waiting = asyncio.create_task(Keeper.start(STREAM_LIMIT), name="keeper ahead")
            # What went wrong is told to whoever needs one, and fails again.
            self._waiting.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def spawn(
        self, command: Sequence[str], *, cwd: str, env: Mapping[str, str], allowed: Allowed
    ) -> Child:
        """The same as ``spawn`` of ``child``, by the one that waits if there is one."""
        waiting = self._waiting
        if waiting is not None:
            await asyncio.wait({waiting})
            if self._waiting is waiting:  # nobody else has taken it
                self._waiting = None
                # If it could not be started, or has been ended meanwhile, another one is.
                with contextlib.suppress(StartFailed):
                    return await waiting.result().run(command, cwd=cwd, env=env, allowed=allowed)
        return await spawn(command, cwd=cwd, env=env, allowed=allowed)

    async def close(self) -> None:
        """Dismisses the one that waits."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            with contextlib.suppress(StartFailed):
                await (await waiting).dismiss()
