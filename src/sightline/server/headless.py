"""The engines of a program that runs its own language servers: the workspace and the servers.

Apart from the composition, so that they can begin while everything that speaks to clients is still
being imported: a server needs a while to start, and so does the import.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from sightline.contract.settings import Settings
from sightline.lsp.install.store import Store
from sightline.lsp.pool import Options, Pool
from sightline.lsp.registry import Registry
from sightline.lsp.routing.fleet import Bounds
from sightline.lsp.start.launcher import Launcher
from sightline.process.keepers import Keepers
from sightline.workspace.beside import stamp
from sightline.workspace.exclusions import chosen
from sightline.workspace.roots import Root
from sightline.workspace.workspace import Workspace

__all__ = ["Headless"]


class Headless(NamedTuple):
    settings: Settings
    workspace: Workspace
    pool: Pool

    @classmethod
    def build(
        cls,
        settings: Settings,
        roots: list[Root],
        *,
        registry: Registry,
        environment: Mapping[str, str],
        cache: Path,
        servers: Path,
        trusted: Callable[[str], bool] = lambda root: False,
        keepers: Keepers | None = None,
        decisive: Sequence[str] = (),
    ) -> "Headless":
        """``decisive``: files and folders of the user's that decide which servers answer."""
        workspace = Workspace(
            roots,
            notify=settings.change_detection == "auto",
            choose=partial(chosen, settings=settings),
        )
        workspace.beside.keep({path: stamp(path) for path in decisive})
        launcher = Launcher(environment, cache, Store(servers), registry)
        bounds = Bounds(settings.max_servers, settings.server_memory_mb, settings.server_idle_s)
        options = Options(bounds, settings.allow_unstable_hover, trusted)
        return cls(settings, workspace, Pool(workspace, registry, launcher, options, keepers))

    def go_ahead(self) -> None:
        """Begins what needs nothing of the workspace and leaves the processor to others."""
        if self.settings.asks_servers:
            self.pool.go_ahead()

    async def close(self) -> None:
        """Ends them where no program was built on them."""
        await self.pool.close()
        self.workspace.close()
