"""Indexes in the process of the test, with workers that many of them share."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sightline.index.building.workers import Workers
from sightline.index.index import Index
from sightline.index.searching.search import Item, Request
from sightline.tools.tool import silent
from sightline.workspace.roots import open_root
from sightline.workspace.workspace import Workspace
from tests.support.engine import Engine, engine

__all__ = ["Bench", "bench", "index_engine", "open_index"]

ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


class Bench:
    """Workers, and whatever indexes a test opens on them."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache
        cache.mkdir(parents=True, exist_ok=True)
        self.workers = Workers(ENVIRONMENT, [], str(cache), limit=1)

    @asynccontextmanager
    async def open(
        self, root: Path, name: str = "index", *, dense: bool = True, **env: str
    ) -> AsyncIterator[Index]:
        """An index of ``root`` in a cache of this name."""
        async with open_index(
            root, self.cache / name, workers=self.workers, dense=dense, **env
        ) as index:
            yield index


@asynccontextmanager
async def bench(cache: Path) -> AsyncIterator[Bench]:
    made = Bench(cache)
    try:
        yield made
    finally:
        await made.workers.close()


@asynccontextmanager
async def open_index(
    root: Path, cache: Path, *, workers: Workers | None = None, dense: bool = True, **env: str
) -> AsyncIterator[Index]:
    workspace = Workspace([open_root(str(root), home=None)])
    await workspace.begin()
    index = Index(
        workspace, environment=ENVIRONMENT | env, cache=str(cache), workers=workers, dense=dense
    )
    try:
        yield index
    finally:
        if workers is None:
            await index.close()
        else:
            await index.dense.close()
            for builder in index.builders.values():
                builder.library.store.unlock()
                builder.library.store.close()
        workspace.close()


async def found(index: Index, query: str, **request: Any) -> list[Item]:
    """What a search on the files as they are now answers."""
    await index.workspace.begin()
    answer = await index.search(Request(query, **request), silent)
    return [answer.item(place) for place in range(len(answer))]


async def build(index: Index, *, force: bool = False) -> None:
    await index.workspace.begin()
    await index.build(silent, force=force)


@asynccontextmanager
async def index_engine(root: Path, cache: Path, **options: Any) -> AsyncIterator[Engine]:
    """The index tools on one root, called as the server calls them, with a built index."""
    options.setdefault("environment", {"PATH": os.environ["PATH"]})
    async with engine(root, cache=cache, families=("index",), **options) as running:
        await running.once("index_build")
        yield running
