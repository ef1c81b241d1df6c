"""Occurrences of a name in Go sources that build constraints leave out on this machine.

gopls reads what a build would read; a file for another system, or behind a tag, is left out.
"""

import os
from collections.abc import Callable, Mapping, Sequence

from sightline.contract.unaccounted import Reason, Unaccounted
from sightline.lsp.coverage.in_files import in_files
from sightline.lsp.go.build_constraints import constraint, target_of
from sightline.lsp.project.projects import Project
from sightline.text.sources import SourceTexts, word
from sightline.workspace.changes import Change

__all__ = ["OtherGoBuilds"]

#: A constraint stands above the package; more of a file is not looked at for it.
_MOST_HEAD = 16_384


class OtherGoBuilds:
    """Those of one project."""

    def __init__(self, project: Callable[[], Project], variables: Mapping[str, str]) -> None:
        self._texts = SourceTexts(lambda: project().files())
        self._target = target_of(variables)

    def changed(self, changes: Sequence[Change]) -> None:
        self._texts.changed(changes)

    async def unaccounted(self, name: str) -> Sequence[Unaccounted]:
        hits = await self._texts.find(word(name)) if name else {}
        if hits is None:
            return [Unaccounted(Reason.OVER_BUDGET, 1)]
        left_out = {path: starts for path, starts in hits.items() if self._leaves_out(path)}
        return [in_files(Reason.OTHER_BUILD, self._texts, left_out)]

    def _leaves_out(self, path: str) -> bool:
        head = self._texts.text(path)[:_MOST_HEAD].decode("utf-8", "replace")
        return self._target.leaves_out(os.path.basename(path), constraint(head))
