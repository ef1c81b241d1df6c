"""Progress of a call that waits for a language server, so that its client sees that it lives."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from sightline.tools.tool import Progress, silent

__all__ = ["told_to_wait"]

#: Most answers are there before the first message.
_EVERY_S = 1.0


@asynccontextmanager
async def told_to_wait(
    progress: Progress, waiting_for: Callable[[str | None], str]
) -> AsyncIterator[None]:
    """Says once a second, until the end, what is waited for."""
    if progress is silent:
        yield
        return

    async def tell() -> None:
        while True:
            await asyncio.sleep(_EVERY_S)
            progress(f"waiting for {waiting_for(None)}", phase="waiting")

    task = asyncio.create_task(tell(), name="progress of a wait")
    try:
        yield
    finally:
        task.cancel()
