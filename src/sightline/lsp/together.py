"""Several pieces of work at once, all of them or none."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["together"]

T = TypeVar("T")


async def together(*work: Coroutine[Any, Any, T]) -> list[T]:
    """Every outcome, in order. The first failure ends the rest and is raised as it is."""
    if len(work) == 1:
        return [await work[0]]
    tasks = [asyncio.create_task(piece) for piece in work]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
