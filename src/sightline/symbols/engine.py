"""The door of the room: what outlives a call, and what is made for one."""

from collections.abc import Mapping
from pathlib import Path

from sightline.contract.source import Source
from sightline.symbols.addressing import Resolver
from sightline.symbols.baselines import Baselines
from sightline.symbols.files import Files
from sightline.symbols.sources import Sources
from sightline.workspace.view import View
from sightline.workspace.workspace import Workspace

__all__ = ["Symbols"]


class Symbols:
    def __init__(self, workspace: Workspace, environment: Mapping[str, str], cache: Path) -> None:
        self.sources = Sources(workspace, environment)
        self._cache = cache

    def baselines(self, view: View) -> Baselines:
        """The baselines of the project that is asked about."""
        return Baselines(self._cache, [root.real for root in view.gate.roots.roots])

    def resolver(self, view: View, source: Source) -> Resolver:
        """What finds the symbols of one call."""
        return Resolver(Files(view, self.sources), source, self.sources)
