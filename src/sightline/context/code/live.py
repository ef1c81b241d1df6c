"""Context from the live index of a served folder, always as the files are now.

``workspace:NAME`` names a root by the last component of its path. What was worked out about a
snapshot of the index is kept until the index moves on.
"""

from collections.abc import Awaitable, Callable
from functools import partial

from sightline.context.code.answer import answer
from sightline.context.code.corpus import Corpus
from sightline.context.problems import NoSuchCache
from sightline.context.select import Selection
from sightline.contract.failures import NotReady
from sightline.index.building.builder import Progress
from sightline.index.index import Index
from sightline.index.searching.texts import Outdated, Texts
from sightline.index.storage.snapshot import Snapshot
from sightline.workspace.changes import Change, Kind

__all__ = ["Live"]

Pause = Callable[[], None]
Work = Callable[[Pause], Selection]

_MAX_ATTEMPTS = 4


class Live:
    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count
        self._kept: dict[str, tuple[Snapshot, Corpus]] = {}

    async def resolve(
        self,
        index: Index,
        name: str,
        query: str,
        budget: int,
        run: Callable[[Work], Awaitable[Selection]],
        progress: Progress,
    ) -> Selection:
        """What is taken from the index of a root. ``run`` does work beside the event loop."""
        root = self._root(index, name)
        for _ in range(_MAX_ATTEMPTS):
            await index.ready(progress)
            builder = index.builders[root]
            assert builder.snapshot is not None
            corpus = self._corpus(root, builder.snapshot, index)
            corpus.matrix, corpus.lacking = await index.vectors(builder, builder.snapshot)
            try:
                return await run(partial(answer, corpus, query, budget))
            except Outdated as outdated:
                builder.note([Change(outdated.real, Kind.CHANGED)])
        raise NotReady(
            "files change faster than they can be read; ask again", waiting_for="the files"
        )

    def _root(self, index: Index, name: str) -> str:
        named = [root.real for root in index.workspace.roots.roots if root.name == name]
        if len(named) != 1:
            raise NoSuchCache
        return named[0]

    def _corpus(self, root: str, snapshot: Snapshot, index: Index) -> Corpus:
        kept = self._kept.get(root)
        if kept is None or kept[0] is not snapshot:
            kept = (snapshot, Corpus(snapshot, Texts(snapshot, root), index.lookup, self._count))
            self._kept[root] = kept
        return kept[1]
