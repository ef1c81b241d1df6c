"""Context caches for a server: off the event loop, stoppable, failing in the contract's terms.

What reads caches is imported with the first call, so that servers that are never asked for context
start as fast as before.
"""

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from sightline.context.problems import (
    CacheProblem,
    DocumentDamaged,
    DocumentUnreadable,
    ManifestInvalid,
    ManifestMissing,
    ManifestUnreadable,
    NoSuchCache,
    RootUnreadable,
)
from sightline.context.stopping import Workers
from sightline.contract.failures import (
    CacheFailure,
    CacheInvalid,
    CacheMissing,
    CacheUnreadable,
    TooLarge,
)
from sightline.contract.limits import MAX_CONTEXT_RESPONSE_BYTES

if TYPE_CHECKING:
    from sightline.context.caches import Caches
    from sightline.context.code.live import Live
    from sightline.context.select import Selection
    from sightline.index.building.builder import Progress
    from sightline.index.index import Index

__all__ = ["LIVE", "ContextEngine"]

#: What the name of a cache begins with that is the index of a folder as it is now.
LIVE = "workspace:"

T = TypeVar("T")
Pause = Callable[[], None]

_FAILURES: dict[type[CacheProblem], type[CacheFailure]] = {
    NoSuchCache: CacheMissing,
    RootUnreadable: CacheUnreadable,
    ManifestMissing: CacheInvalid,
    ManifestInvalid: CacheInvalid,
    ManifestUnreadable: CacheUnreadable,
    DocumentDamaged: CacheInvalid,
    DocumentUnreadable: CacheUnreadable,
}


class ContextEngine:
    """Each answer is the text of a tool: JSON, byte for byte what the command would print."""

    def __init__(
        self,
        root: str,
        tokenizer: str = "bytes/4",
        served: Callable[[], Sequence[str]] = lambda: (),
    ) -> None:
        """``served`` tells the names of the folders whose index may be asked."""
        self._root = root
        self._served = served
        self._tokenizer = tokenizer
        self._made: Caches | None = None
        self._live: Live | None = None
        self._making = threading.Lock()
        self._workers = Workers()

    async def resolve(self, cache: str, query: str, budget: int) -> bytes:
        return await self._run(
            lambda pause: _encoded(self._caches().resolve(cache, query, budget, pause), pause)
        )

    async def resolve_live(
        self, index: "Index", name: str, query: str, budget: int, progress: "Progress"
    ) -> bytes:
        """The same from the live index of the served folder of that name."""
        from sightline.context.code.live import Live
        from sightline.context.tokens import counter

        if self._live is None:
            self._live = Live(counter(self._tokenizer))
        try:
            selection = await self._live.resolve(
                index, name, query, budget, self._workers.run, progress
            )
        except CacheProblem as problem:
            raise _FAILURES[type(problem)] from None
        return await self._run(lambda pause: _encoded(selection, pause))

    async def listing(self) -> bytes:
        names = self._served()
        live = [LIVE + name for name in names if names.count(name) == 1]
        return await self._run(lambda pause: self._caches().listing(pause, live))

    async def inspect(self, cache: str) -> bytes:
        return await self._run(lambda pause: self._caches().inspect(cache, pause))

    def close(self) -> None:
        self._workers.close()

    def _caches(self) -> "Caches":
        from sightline.context.caches import Caches
        from sightline.context.tokens import counter

        with self._making:
            if self._made is None:
                self._made = Caches(self._root, count=counter(self._tokenizer))
            return self._made

    async def _run(self, work: Callable[[Pause], T]) -> T:
        try:
            return await self._workers.run(work)
        except CacheProblem as problem:
            raise _FAILURES[type(problem)] from None


def _encoded(selection: "Selection", pause: Pause) -> bytes:
    """The answer as the command prints it, unless it is larger than one may be."""
    pieces: list[bytes] = []
    size = 0
    for piece in selection.compact():
        pause()
        encoded = piece.encode()
        pieces.append(encoded)
        size += len(encoded)
        if size > MAX_CONTEXT_RESPONSE_BYTES:
            raise TooLarge("the documents do not fit an answer; pass a smaller budget")
    return b"".join([*pieces, b"\n"])
