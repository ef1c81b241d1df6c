"""A workspace without engines, for tests of what it observes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from sightline.workspace.roots import open_root
from sightline.workspace.workspace import Workspace

__all__ = ["opened"]


@asynccontextmanager
async def opened(*roots: Path, notify: bool = True) -> AsyncIterator[Workspace]:
    workspace = Workspace([open_root(str(root), home=None) for root in roots], notify=notify)
    try:
        yield workspace
    finally:
        workspace.close()
