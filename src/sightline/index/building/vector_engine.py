"""Vectors for the roots of an index: made in the background, used when they are all there.

A root is ranked with vectors only when every living chunk has one; until then its answers go by
words alone and say so. What an edit changed is encoded before the next question is answered, as
long as it is little. A model that cannot be loaded turns vectors off with its reason, and nothing
else.
"""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from sightline.contract.failures import Unavailable
from sightline.index.building.builder import Builder
from sightline.index.building.jobs import Encoded, EncodeFile, EncodeJob
from sightline.index.building.workers import Stuck, Workers
from sightline.index.dense.nearness import Block, Matrix, missing_files
from sightline.index.dense.vectors import VectorLog, log_path, path_key
from sightline.index.dense.weights import Weights, bundled
from sightline.index.storage.snapshot import Snapshot

__all__ = ["Dense", "Standing"]

#: So many chunks are encoded while a search waits; more are left to the background.
_WAIT_CHUNKS = 400
#: Chunks per job: about two seconds of work, after which what is done is kept.
_JOB_CHUNKS = 800
_MAX_STRIKES = 2
#: Vectors that could not be made are tried again after so long.
_REST_S = 60.0


class Standing(NamedTuple):
    """How far the vectors of a root are."""

    chunks: int
    done: int
    #: Why there are none and will be none, or nothing.
    problem: str = ""

    @property
    def complete(self) -> bool:
        return self.done == self.chunks and not self.problem


@dataclass
class _Root:
    log: VectorLog
    #: One thread at a time looks at the log.
    lock: threading.Lock = field(default_factory=threading.Lock)
    #: What is known of the snapshot's segments, by their numbers. A segment never changes.
    blocks: dict[int, Block] = field(default_factory=dict)
    #: The generation whose files were compared with the log, and what was missing then.
    generation: int = -1
    missing: list[str] | None = None
    #: The generation and the size of the log that were compared last.
    compared: tuple[int, int] = (-1, -1)
    matrix: Matrix | None = None
    task: asyncio.Task[None] | None = None
    #: Files that no worker could encode, with the content they had.
    failed: dict[str, bytes] | None = None


class Dense:
    def __init__(
        self, workers: Workers, ready: Callable[[], None], *, enabled: bool = True
    ) -> None:
        """``ready`` is called once vectors are complete that an answer lacked which is kept and
        does not watch ``turn``."""
        self.enabled = enabled
        #: Why there are no vectors, and will be none.
        self._lasting = "" if enabled else "turned off by the setting dense"
        #: Why the last ones could not be made, and until when nobody tries again.
        self._passing, self._rests_until = "", 0.0
        self._resting: asyncio.TimerHandle | None = None
        self._workers = workers
        self._ready = ready
        self._roots: dict[str, _Root] = {}
        self._weights: Weights | None = None
        #: Whether an answer lacked vectors that is kept and does not watch ``turn``.
        self.owes = False
        #: Counts how often vectors have become complete, or may be tried again.
        self.turn = 0

    @property
    def is_lost(self) -> bool:
        """Whether there will be no vectors as long as this process runs."""
        return bool(self._lasting)

    @property
    def problem(self) -> str:
        """Why there are no vectors now, or nothing."""
        resting = time.monotonic() < self._rests_until
        return self._lasting or (self._passing if resting else "")

    # The model

    async def weights(self) -> Weights | None:
        """The model, or nothing and the reason in ``problem``."""
        if self._weights is None and not self._lasting:
            try:
                self._weights = await asyncio.to_thread(bundled)
            except Unavailable as failure:
                self._lasting = failure.advice
        return self._weights

    async def open(self, builders: Iterable[Builder]) -> None:
        """Reads the model and the vectors on disk, beside what else a first question waits for."""
        weights = await self.weights()
        if weights is not None:
            for builder in builders:
                await asyncio.to_thread(self._refresh, self._root(builder, weights))

    # How things stand

    async def standing(self, builder: Builder, snapshot: Snapshot | None) -> Standing:
        """How far the vectors of a root are, without doing anything for them."""
        weights = await self.weights()
        if snapshot is None:
            return await asyncio.to_thread(self._on_disk, builder, weights)
        if weights is None:
            return Standing(snapshot.living_chunks, 0, self.problem)
        root = self._root(builder, weights)
        missing = await asyncio.to_thread(self._compare, root, snapshot)
        left = sum(snapshot.rows[path].chunks for path in missing)
        return Standing(snapshot.living_chunks, snapshot.living_chunks - left)

    def _on_disk(self, builder: Builder, weights: Weights | None) -> Standing:
        """The same before anything was searched, from the files of the index."""
        rows = dict(builder.library.rows)
        chunks = sum(row.chunks for row in rows.values() if row.place >= 0)
        if weights is None or not chunks:
            return Standing(chunks, 0, self.problem)
        root = self._root(builder, weights)
        with root.lock:
            root.log.refresh()
            missing = missing_files(rows, root.log)
        return Standing(chunks, chunks - sum(rows[path].chunks for path in missing))

    async def matrix(
        self, builder: Builder, snapshot: Snapshot, most: int | None = None
    ) -> Matrix | None:
        """The vectors of a root's snapshot if they are complete, or soon can be: those of ``most``
        chunks are waited for."""
        if self._weights is not None:
            ready = self._root(builder, self._weights)
            if ready.matrix is not None and ready.generation == snapshot.generation:
                return ready.matrix
        standing = await self.standing(builder, snapshot)
        if standing.problem or self._weights is None:
            return None
        root = self._root(builder, self._weights)
        little = 0 < standing.chunks - standing.done <= (_WAIT_CHUNKS if most is None else most)
        if little:
            self.start(builder)
            if root.task is not None:
                await asyncio.shield(root.task)
        if root.missing or root.generation != snapshot.generation:
            self.start(builder)
            return None
        return await asyncio.to_thread(self._matrix, root, snapshot)

    # Work

    def start(self, builder: Builder) -> None:
        """Begins to encode what is missing, in the background."""
        if self.problem or self._weights is None:
            return
        root = self._root(builder, self._weights)
        if root.task is None:
            root.task = asyncio.create_task(self._background(builder, root), name="encode vectors")

    async def prepare(self, builder: Builder) -> None:
        """After a build: makes what is little, and begins with more in the background."""
        standing = await self.standing(builder, builder.snapshot)
        if standing.problem or standing.complete:
            return
        if standing.chunks - standing.done <= _WAIT_CHUNKS:
            await self.finish(builder)
        else:
            self.start(builder)

    async def finish(self, builder: Builder) -> Standing:
        """Waits until everything that can be encoded is."""
        if await self.weights() is not None and builder.snapshot is not None:
            self.start(builder)
            root = self._root(builder, self._weights)  # type: ignore[arg-type]
            if root.task is not None:
                await asyncio.shield(root.task)
        return await self.standing(builder, builder.snapshot)

    async def close(self) -> None:
        tasks = [root.task for root in self._roots.values() if root.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._resting is not None:
            self._resting.cancel()

    def _rest(self, problem: str) -> None:
        """Vectors cannot be made now. Whoever asks later gets a new answer, and has them tried."""
        self._passing, self._rests_until = problem, time.monotonic() + _REST_S
        if self._resting is None:
            self._resting = asyncio.get_running_loop().call_later(_REST_S, self._rested)

    def _rested(self) -> None:
        self._resting = None
        self._turned()

    def _turned(self) -> None:
        """Answers that lacked vectors would be better now."""
        self.turn += 1
        if self.owes:
            self.owes = False
            self._ready()

    def _root(self, builder: Builder, weights: Weights) -> _Root:
        store = builder.library.store
        if store.root not in self._roots:
            log = VectorLog(log_path(store.folder, weights.digest), weights.size)
            self._roots[store.root] = _Root(log)
        return self._roots[store.root]

    @staticmethod
    def _refresh(root: _Root) -> None:
        with root.lock:
            root.log.refresh()

    @staticmethod
    def _compare(root: _Root, snapshot: Snapshot) -> list[str]:
        """The files that miss vectors. What had them in a segment still has them, so only new
        segments cost anything."""
        with root.lock:
            if root.generation == snapshot.generation and not root.missing:
                return []
            root.log.refresh()
            state = (snapshot.generation, root.log.size)
            if root.missing is not None and root.compared == state:
                return root.missing
            missing: list[str] = []
            blocks: dict[int, Block] = {}
            for part in snapshot.parts:
                block = root.blocks.get(part.id)
                if block is None or not block.holds(part):
                    block = Block.of(part, snapshot.rows, root.log, missing)
                if block is not None:
                    blocks[part.id] = block
            root.blocks = blocks
            if root.generation != snapshot.generation:
                root.matrix = None
            root.generation, root.missing = snapshot.generation, sorted(missing)
            root.compared = state
            return root.missing

    @staticmethod
    def _matrix(root: _Root, snapshot: Snapshot) -> Matrix | None:
        """The vectors of a snapshot if they are all there. Only new segments cost anything."""
        with root.lock:
            if root.generation != snapshot.generation or root.missing:
                return None
            if root.matrix is None:
                blocks: dict[int, Block] = {}
                for part in snapshot.parts:
                    block = root.blocks.get(part.id)
                    if block is None or not block.holds(part):
                        block = Block.of(part, snapshot.rows, root.log)
                    if block is None:
                        return None  # the log went on to a later state of the files
                    blocks[part.id] = block
                root.blocks = blocks
                root.matrix = Matrix(list(blocks.values()), root.log.width)
            return root.matrix

    async def _background(self, builder: Builder, root: _Root) -> None:
        try:
            while (snapshot := builder.snapshot) is not None:
                await asyncio.to_thread(self._compare, root, snapshot)
                if not root.missing:
                    break
                before = len(root.missing)
                await self._encode(builder, root, snapshot)
                if builder.snapshot is snapshot and root.missing and len(root.missing) >= before:
                    break  # the rest cannot be encoded now; the next search tries again
            if not root.missing:
                self._turned()
        except Unavailable as failure:  # a full disk, say, which may have room again
            self._rest(failure.advice)
        finally:
            root.task = None

    async def _encode(self, builder: Builder, root: _Root, snapshot: Snapshot) -> None:
        """Encodes the files that miss vectors, job by job."""
        store = builder.library.store
        failed = root.failed = root.failed or {}
        strikes: dict[str, int] = {}
        waiting = [p for p in root.missing or () if failed.get(p) != snapshot.rows[p].hash]
        while waiting and builder.snapshot is snapshot:
            paths, waiting = _portion(waiting, snapshot)
            files = [
                EncodeFile(
                    path,
                    snapshot.rows[path].hash,
                    store.segment_path(snapshot.rows[path].segment).rpartition("/")[2],
                    snapshot.rows[path].place,
                )
                for path in paths
            ]
            try:
                reply = await self._workers.do(EncodeJob(store.root, store.folder, files))
            except Stuck as stuck:
                path = paths[max(0, stuck.task)]
                strikes[path] = strikes.get(path, 0) + 1
                if strikes[path] >= _MAX_STRIKES:
                    failed[path] = snapshot.rows[path].hash
                    paths = [other for other in paths if other != path]
                waiting = paths + waiting
                continue
            if not isinstance(reply, Encoded):
                if builder.snapshot is not snapshot:
                    break  # its segments are gone, and others have what they had
                problem = getattr(reply, "problem", "")
                raise Unavailable(f"vectors could not be made: {problem}")
        await asyncio.to_thread(self._compare, root, snapshot)
        await asyncio.to_thread(self._tidy, root, snapshot)

    @staticmethod
    def _tidy(root: _Root, snapshot: Snapshot) -> None:
        """Writes the log anew when most of it is about files as they no longer are. A disk that has
        no room for that keeps the long one."""
        with root.lock, contextlib.suppress(OSError):
            if root.log.dead * 2 > root.log.size and not root.missing:
                rows = snapshot.rows.items()
                root.log.compact({path_key(path): row.hash for path, row in rows if row.chunks})
                root.matrix, root.blocks = None, {}


def _portion(waiting: list[str], snapshot: Snapshot) -> tuple[list[str], list[str]]:
    """The next files to encode together, and the rest."""
    total = 0
    for number, path in enumerate(waiting):
        total += snapshot.rows[path].chunks
        if total >= _JOB_CHUNKS:
            return waiting[: number + 1], waiting[number + 1 :]
    return waiting, []
