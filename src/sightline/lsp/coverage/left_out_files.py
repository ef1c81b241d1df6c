"""How many sources a server leaves out of its lists of symbols, and by what.

References find a name in such files by its text; a list of symbols cannot.
"""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence

from sightline.contract.uris import is_under
from sightline.lsp.coverage.left_out import left_out
from sightline.lsp.files.reading import read_text
from sightline.lsp.go.build_constraints import constraint, target_of
from sightline.lsp.project.projects import Project
from sightline.workspace.changes import Change

__all__ = ["LeftOutFiles"]

_MAX_BYTES = 1 << 20
_MISSING = "symbols there may be missing."


class LeftOutFiles:
    """Those of one server in one project, counted again when something in it changed."""

    def __init__(self, project: Callable[[], Project], variables: Mapping[str, str]) -> None:
        self._project = project
        self._variables = variables
        self._known: tuple[list[str], int] | None = None

    def changed(self, changes: Sequence[Change]) -> None:
        folder = self._project().folder
        if any(is_under(change.path, folder) for change in changes):
            self._known = None

    async def sentences(self) -> list[str]:
        return (await self._look())[0]

    async def count(self) -> int:
        return (await self._look())[1]

    async def _look(self) -> tuple[list[str], int]:
        if self._known is None:
            self._known = await asyncio.to_thread(self._counted, self._project())
        return self._known

    def _counted(self, project: Project) -> tuple[list[str], int]:
        if project.spec.opens == "gomod":
            target = target_of(self._variables)
            sources = [path for path in project.files() if path.endswith(".go")]
            heads = ((path, constraint(read_text(path, _MAX_BYTES) or "")) for path in sources)
            told = sum(target.leaves_out(os.path.basename(path), head) for path, head in heads)
            by_default, by = 0, "Build constraints leave out"
        else:
            told, by_default = left_out(project, project.files())
            by = "The project's own settings leave out"
        found = [f"{by} {_files(told)}; {_MISSING}"] if told else []
        if by_default:
            found.append(
                f"The server leaves out {_files(by_default)} by default, for the names of their "
                f"folders; {_MISSING}"
            )
        return found, told + by_default


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"
