"""From a registry entry to something that can be started: the program, its arguments, its options.

Programs come from this installation, from ``sightline servers install`` or from the user's PATH;
never from a workspace.
"""

import os
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sightline.contract.source import SourceFile
from sightline.lsp.python import empty_configuration, empty_environment, find_environment
from sightline.lsp.registry import ServerSpec
from sightline.lsp.server import Launch
from sightline.process.child import Child, spawn
from sightline.process.environment import child_environment, find_program, safe_path

__all__ = ["Launcher"]

_TY_PROJECT_FILES = ("ty.toml", "pyproject.toml")


@dataclass(frozen=True)
class Launcher:
    """Knows this installation and the user's environment."""

    environment: Mapping[str, str]
    cache: Path

    def find(self, spec: ServerSpec, roots: Sequence[str]) -> str | None:
        """The program of a server, or ``None`` if it is not installed."""
        name = spec.command[0]
        if os.path.isabs(name):
            return find_program(os.path.basename(name), [os.path.dirname(name)], roots)
        if spec.found == "bundled":
            folders = [os.path.dirname(sys.executable), sysconfig.get_path("scripts")]
            return find_program(name, folders, ())
        return find_program(name, safe_path(self.environment.get("PATH", ""), roots), roots)

    def launch(
        self,
        name: str,
        spec: ServerSpec,
        root: str,
        roots: Sequence[str],
        restarted: Callable[[], None],
        read: Callable[[str], tuple[SourceFile, str] | None],
    ) -> Launch | None:
        """How to start a server for one root, or ``None`` if it is not installed."""
        program = self.find(spec, roots)
        if program is None:
            return None
        command = [program, *spec.command[1:]]
        environment = child_environment(self.environment, roots, spec.environment)

        async def start() -> Child:
            return await spawn(command, cwd=root, env=environment)

        return Launch(
            name,
            spec,
            root,
            start,
            settings=spec.settings,
            initialization_options=self._options(spec, root),
            read=read,
            restarted=restarted,
        )

    def _options(self, spec: ServerSpec, root: str) -> dict[str, Any]:
        options = dict(spec.initialization_options)
        if spec.python_environment == "ty":
            python = find_environment(root) or empty_environment(self.cache)
            options["configuration"] = {"environment": {"python": python}}
            if not any(os.path.isfile(os.path.join(root, name)) for name in _TY_PROJECT_FILES):
                # Otherwise it climbs to a project above the root and speaks of that one.
                options["configurationFile"] = empty_configuration(self.cache)
        return options
