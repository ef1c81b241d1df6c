"""One question put to many servers: in turns, where there are more of them than may run at once.

A server that has answered makes room for the next one, so a question is answered however many it
needs. Whoever asks takes part in the same turns, or two questions would stand in each other's way.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from sightline.contract.failures import Unavailable
from sightline.lsp.routing.routes import Route
from sightline.lsp.together import together

__all__ = ["Turns"]

T = TypeVar("T")
Ask = Callable[[Route], Awaitable[T]]


class Turns:
    def __init__(self, at_once: int) -> None:
        self.at_once = at_once
        self._free = asyncio.Semaphore(at_once)

    async def one(self, ask: Ask[T], route: Route) -> T:
        """The answer of one server, when it is its turn."""
        async with self._free:
            return await ask(route)

    async def all(self, ask: Ask[T], routes: Sequence[Route]) -> list[T]:
        """The answer of every one of these servers, or the first failure."""
        if len(routes) <= self.at_once:
            return await together(*(_plainly(ask, route) for route in routes))
        return await together(*(self.one(ask, route) for route in routes))

    async def able(
        self, ask: Ask[T], routes: Sequence[Route]
    ) -> tuple[list[T], list[tuple[Route, Unavailable]]]:
        """The answers of those that can answer, and the others, each with its reason.

        One that is not ready yet is waited for or is a failure: only what will not change by
        itself is left out. If nobody can answer, that is a failure, too.
        """

        async def attempt(route: Route) -> T | Unavailable:
            try:
                return await ask(route)
            except Unavailable as reason:
                return reason

        outcomes = await self.all(attempt, routes)
        answers = [each for each in outcomes if not isinstance(each, Unavailable)]
        pairs = zip(routes, outcomes, strict=True)
        unable = [(route, each) for route, each in pairs if isinstance(each, Unavailable)]
        if unable and not answers:
            raise unable[0][1]
        return answers, unable


async def _plainly(ask: Ask[T], route: Route) -> T:
    return await ask(route)
