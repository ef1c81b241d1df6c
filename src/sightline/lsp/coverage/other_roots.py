"""Uses of a symbol in other roots, where the server of its own root does not look.

Every root has servers of its own, so that a slow or broken one delays nobody else. A file in
another root that has the symbol's name, and names the file or the folder that it comes from, may
use it. That is said; a question asked there is answered there.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from sightline.contract.texts import listed_paths
from sightline.contract.uris import path_in
from sightline.contract.values import Location
from sightline.text.sources import SourceTexts, word
from sightline.workspace.changes import Change
from sightline.workspace.roots import Root

__all__ = ["OtherRoots"]

#: Shorter names are in every file.
_SHORTEST = 3
#: So many files are named in a sentence, if their names are plain.
_NAMED = 3


class OtherRoots:
    """The sources of one server's languages in every root."""

    def __init__(self, files: Callable[[Root], Iterable[str]]) -> None:
        self._files = files
        self._texts: dict[Root, SourceTexts] = {}

    def changed(self, changes: Sequence[Change]) -> None:
        for texts in self._texts.values():
            texts.changed(changes)

    async def note(
        self, own: Root, others: Iterable[Root], path: str, name: str, found: Iterable[Location]
    ) -> str:
        """What is to be said of a name in a file of one root, given the places that are known."""
        if len(name) < _SHORTEST:
            return ""
        known = {path_in(place.uri) for place in found}
        shown = list[str]()
        for root in others:
            if root not in self._texts:
                self._texts[root] = SourceTexts(partial(self._files, root))
            there = await asyncio.to_thread(_search, self._texts[root], own, path, name)
            shown += [f"{root.name}/{each[len(root.real) + 1 :]}" for each in there - known]
        if not shown:
            return ""
        names = listed_paths(sorted(shown), _NAMED)
        files = "1 file" if len(shown) == 1 else f"{len(shown):,} files"
        return f"{name} also stands in {files} of other roots{names}; uses there may be missing."


def _search(texts: SourceTexts, own: Root, path: str, name: str) -> set[str]:
    stem = os.path.splitext(os.path.basename(path))[0]
    origins = [os.fsencode(each) for each in {stem, os.path.basename(own.real)}]
    hits = texts.search(word(name)) or {}
    inside = f"{own.real}/"
    return {
        each
        for each in hits
        if not each.startswith(inside) and any(from_ in texts.text(each) for from_ in origins)
    }
