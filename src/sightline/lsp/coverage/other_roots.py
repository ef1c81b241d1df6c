"""Uses of a symbol in other roots, where the server of its own root does not look.

Every root has servers of its own, so that a slow or broken one delays nobody else. A file in
another root that has the symbol's name, and names the file or the folder that it comes from, may
use it. That is said; a question asked there is answered there.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from sightline.contract.unaccounted import Reason, Unaccounted
from sightline.contract.uris import path_in
from sightline.contract.values import Location
from sightline.lsp.coverage.in_files import in_files
from sightline.text.sources import Hits, SourceTexts, word
from sightline.workspace.changes import Change
from sightline.workspace.roots import Root

__all__ = ["OtherRoots"]

#: Shorter names are in every file.
_SHORTEST = 3


class OtherRoots:
    """The sources of one server's languages in every root."""

    def __init__(self, files: Callable[[Root], Iterable[str]]) -> None:
        self._files = files
        self._texts: dict[Root, SourceTexts] = {}

    def changed(self, changes: Sequence[Change]) -> None:
        for texts in self._texts.values():
            texts.changed(changes)

    async def unaccounted(
        self, own: Root, others: Iterable[Root], path: str, name: str, found: Iterable[Location]
    ) -> Sequence[Unaccounted]:
        """The places of a name of a file of one root in others, but for files in ``found``."""
        if len(name) < _SHORTEST:
            return []
        known, parts = {path_in(place.uri) for place in found}, list[Unaccounted]()
        for root in others:
            if root not in self._texts:
                self._texts[root] = SourceTexts(partial(self._files, root))
            texts = self._texts[root]
            hits = await asyncio.to_thread(_search, texts, own, path, name)
            parts.append(in_files(Reason.OTHER_ROOT, texts, hits, known))
        return parts


def _search(texts: SourceTexts, own: Root, path: str, name: str) -> Hits:
    stem = os.path.splitext(os.path.basename(path))[0]
    origins = [os.fsencode(each) for each in {stem, os.path.basename(own.real)}]
    inside = f"{own.real}/"
    return {
        each: starts
        for each, starts in (texts.search(word(name)) or {}).items()
        if not each.startswith(inside) and any(from_ in texts.text(each) for from_ in origins)
    }
