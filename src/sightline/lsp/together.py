"""Several pieces of work at once, all of them or none."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["both", "together"]

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")


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


async def both(one: Coroutine[Any, Any, A], other: Coroutine[Any, Any, B]) -> tuple[A, B]:
    """The same for two that differ in kind."""
    outcomes: list[Any] = await together(one, other)
    return outcomes[0], outcomes[1]
