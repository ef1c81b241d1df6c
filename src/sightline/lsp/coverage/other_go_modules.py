"""Occurrences of a name in other modules of Go that import its own.

gopls looks into one module at a time, unless a ``go.work`` names both.
"""

import asyncio
import os
from collections.abc import Callable, Collection, Sequence
from functools import cache

from sightline.contract.unaccounted import Reason, Unaccounted
from sightline.contract.uris import above
from sightline.lsp.coverage.in_files import in_files
from sightline.lsp.go import gomod
from sightline.lsp.project.projects import Project
from sightline.text.sources import Hits, SourceTexts, word
from sightline.workspace.changes import Change

__all__ = ["OtherGoModules"]


class OtherGoModules:
    """Those of one project, which may have several modules."""

    def __init__(self, project: Callable[[], Project]) -> None:
        self._project = project
        self._texts = SourceTexts(lambda: project().files())

    def changed(self, changes: Sequence[Change]) -> None:
        self._texts.changed(changes)

    async def unaccounted(
        self, name: str, path: str, found: Collection[str]
    ) -> Sequence[Unaccounted]:
        """The places of a name of a file in other modules, but for the files in ``found``."""
        if not name or len(self._project().named("go.mod")) < 2:
            return []
        hits = await self._texts.find(word(name))
        if hits is None:
            return [Unaccounted(Reason.OVER_BUDGET, 1)]
        unseen = await asyncio.to_thread(self._unseen, path, hits)
        return [in_files(Reason.EXCLUDED_FILE, self._texts, unseen, found)]

    def _unseen(self, path: str, hits: Hits) -> Hits:
        """The files that import the module of a file and are not seen with it, in a thread."""
        top = self._project().top

        @cache
        def module_of(folder: str) -> str:
            around = above(folder, top)
            return next((each for each in around if os.path.isfile(f"{each}/go.mod")), "")

        @cache
        def is_seen(module: str) -> bool:
            return module == own or gomod.works_with(own, module, above(own, top))

        own = module_of(os.path.dirname(path))
        imported = gomod.of(own).path if own else ""
        if not imported:
            return {}
        quoted = os.fsencode(f'"{imported}')
        return {
            each: starts
            for each, starts in hits.items()
            if quoted in self._texts.text(each) and not is_seen(module_of(os.path.dirname(each)))
        }
