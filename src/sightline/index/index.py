"""The index of a workspace: every root's index behind one door.

``search`` and ``show`` answer about the files as they are now: what was announced as changed is
indexed first. There is no answer before the first build is complete (``NoIndex``, with counts), and
none that mixes an old index with new files.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import islice
from typing import NamedTuple, TypeVar

from sightline.contract.failures import NoIndex, NotReady, Unavailable
from sightline.index.building.builder import Builder, Progress, Tally
from sightline.index.building.discover import Discovery
from sightline.index.building.planning import plan_all
from sightline.index.building.vector_engine import Dense
from sightline.index.building.workers import Workers
from sightline.index.dense.encoder import encode_query
from sightline.index.dense.nearness import Matrix
from sightline.index.searching.filters import split_name
from sightline.index.searching.fusion import fusion_for
from sightline.index.searching.lookup import Lookup
from sightline.index.searching.nearby import closest
from sightline.index.searching.query import Query, understand
from sightline.index.searching.ranked import MAX_RESULTS, Near
from sightline.index.searching.results import Found, Missing
from sightline.index.searching.scanning import MAX_HITS
from sightline.index.searching.search import Item, Request, RootSearch
from sightline.index.searching.texts import Outdated
from sightline.index.storage.disk import DiskRefuses
from sightline.index.storage.snapshot import Snapshot
from sightline.index.storage.store import Store, index_folder
from sightline.workspace.changes import Change
from sightline.workspace.roots import Root
from sightline.workspace.tree import Tree
from sightline.workspace.workspace import Workspace

__all__ = ["Answer", "Index", "Seen"]

T = TypeVar("T")

_MAX_ATTEMPTS = 4
#: Who cannot say in an answer that it goes by words alone waits for the vectors of so many chunks,
#: about ten seconds of work.
_VECTORS_AWAITED = 4_000
#: How often somebody who waits for vectors is told how far they are.
_TELL_S = 0.25
_BY_WORDS = "ask with ranking words"
_TOO_FAST = "files change faster than they can be read; ask again"


def always() -> bool:
    return True


def _unheard(
    message: str, *, phase: str, done: int | None = None, total: int | None = None
) -> None:
    """Progress of what nobody waits for."""


def _searches_at_once() -> int:
    """All but two of the threads that a loop has by default."""
    return min(32, (os.cpu_count() or 1) + 4) - 2


class _Stopped(Exception):
    """The search was cancelled."""


@dataclass
class Answer:
    """An ordered, complete set of results over all roots."""

    searches: Sequence[RootSearch]
    #: (which search, result), best first.
    found: Sequence[tuple[int, Found]]
    capped: bool = False
    note: str = ""
    matches: int = 0
    #: How many lines they begin in.
    lines: int = 0
    skipped: int = 0
    #: Folders that could not be looked into.
    closed: int = 0
    #: Whether no file anywhere passes the filters of files.
    fileless: bool = True
    #: A name that was asked for and that no root has.
    missing: Missing | None = None
    #: Whether it was ranked by words alone for want of vectors.
    preliminary: bool = False
    #: Whether the same search would still be answered so.
    holds: Callable[[], bool] = always
    _items: dict[int, Item] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.found)

    def item(self, place: int) -> Item:
        if place not in self._items:
            try:
                self._make(place)
            except Outdated:
                raise NotReady(
                    "a file changed while it was read; ask again", waiting_for="the index"
                ) from None
        return self._items[place]

    @property
    def files(self) -> int:
        """How many files have a result."""
        return len({(which, self.searches[which].path(found)) for which, found in self.found})

    def real(self, place: int) -> str:
        """The path of a result's file."""
        which, found = self.found[place]
        return f"{self.searches[which].root}/{self.searches[which].path(found)}"

    def qualified(self, place: int) -> str:
        """The name of a result with the names around it."""
        which, found = self.found[place]
        chunk, name = self.searches[which].chunk(found), self.item(place).name
        inner = chunk.name if name != chunk.name else ""
        return ".".join(filter(None, (chunk.container, inner, name)))

    def source(self, place: int) -> str:
        """The line of source that a result is best shown by: the one with its name, if it has one.

        Raises ``Outdated`` if its file changed meanwhile."""
        which, found = self.found[place]
        item = self.item(place)
        if not item.name:
            return item.snippet.partition("\n")[0].partition(": ")[2]
        return self.searches[which].line(found, item.position.line)

    def by_file(self, most: int) -> list[tuple[str, str, dict[int, str]]]:
        """Of a text search: (root, path, source by line) of the files with matches, best first,
        until so many lines are found."""
        files: dict[tuple[int, str], list[Found]] = {}
        for which, found in self.found:
            files.setdefault((which, self.searches[which].path(found)), []).append(found)
        listed: list[tuple[str, str, dict[int, str]]] = []
        for (which, path), found_there in files.items():
            if most <= 0:
                break
            search = self.searches[which]
            lines = search.lines(path, found_there)
            listed.append((search.root, path, dict(islice(lines.items(), most))))
            most -= len(lines)
        return listed

    def begin(self, count: int) -> None:
        """Makes the first items while what the search read is at hand, and lets go of that."""
        for place in range(min(count, len(self.found))):
            self._make(place)
        for search in self.searches:
            search.release()

    @property
    def made(self) -> int:
        """How many of the first items are there."""
        return len(self._items)

    def _make(self, place: int) -> None:
        which, found = self.found[place]
        self._items[place] = self.searches[which].item(found)


class _Asked(NamedTuple):
    """A request and what is known of it before the roots are searched."""

    request: Request
    #: What is meant by it; nothing where the text is taken as it is.
    query: Query | None
    #: Per root.
    near: Sequence[Near | None]
    note: str
    #: Whether vectors would count that are not there.
    preliminary: bool
    holds: Callable[[], bool]
    first: int


class Seen(NamedTuple):
    """A root as one search sees it."""

    root: Root
    builder: Builder
    snapshot: Snapshot

    @classmethod
    def now(cls, root: Root, builder: Builder) -> "Seen":
        assert builder.snapshot is not None
        return cls(root, builder, builder.snapshot)


class Index:
    def __init__(
        self,
        workspace: Workspace,
        *,
        environment: Mapping[str, str],
        cache: str,
        workers: Workers | None = None,
        dense: bool = True,
    ) -> None:
        self.workspace = workspace
        self._environment = environment
        roots = [root.real for root in workspace.roots.roots]
        try:
            os.makedirs(cache, mode=0o700, exist_ok=True)
        except OSError as error:
            raise Unavailable(str(DiskRefuses.by(error))) from None
        self.workers = workers or Workers(environment, roots, cache)
        self.lookup = Lookup()
        self.dense = Dense(self.workers, workspace.source_changed, enabled=dense)
        self._cache = cache
        self._places = asyncio.Semaphore(_searches_at_once())
        self.builders: dict[str, Builder] = {}
        self._first_build: asyncio.Task[dict[str, Tally]] | None = None
        #: Of roots that were taken away. They may come back.
        self._left: dict[str, Builder] = {}
        self._roots_changed()
        workspace.listen(self._changed)
        workspace.listen_to_roots(self._roots_changed)

    def _roots_changed(self) -> None:
        """Every root has a builder, and no other folder has one."""
        known = self._left | self.builders
        self.builders = {}
        for each in self.workspace.roots.roots:
            root = each.real
            if root in self._left:
                known[root].distrust()  # nobody told it what changed meanwhile
            elif root not in known:
                store = Store(index_folder(self._cache, root), root)
                discovery = Discovery(root, self._environment, each.include_ignored)
                known[root] = Builder(store, discovery, self.workers)
            self.builders[root] = known[root]
        self._left = {root: made for root, made in known.items() if root not in self.builders}

    # Freshness

    def look_outside(self) -> bool:
        """Whether ignore rules outside the tracked trees changed, so that answers may too."""
        changed = False
        for builder in self.builders.values():
            if builder.snapshot is not None and builder.discovery.outside_changed():
                builder.distrust()
                changed = True
        return changed

    def _changed(self, changes: Sequence[Change]) -> None:
        for builder in self.builders.values():
            builder.note(changes)

    def tree(self, root: str) -> Tree:
        """The tracked files of a root. A thread may read them: they are never written to."""
        return self.workspace.observers[root].tree

    async def pending(self, root: str) -> int:
        """How many files differ from the index of a root."""
        builder = self.builders[root]
        if builder.pending is not None:
            return builder.pending
        tree = self.tree(root)
        discovery = Discovery(root, self._environment, builder.discovery.included)
        plan = await asyncio.to_thread(
            partial(plan_all, discovery, tree, dict(builder.library.rows), force=False)
        )
        builder.found = builder.found or plan.found
        return len(plan.tasks) + len(plan.removed)

    # Building

    async def build(self, progress: Progress, *, force: bool) -> dict[str, Tally]:
        """Brings the index of every root up to date, from nothing if need be."""
        done: dict[str, Tally] = {}
        for root, builder in self.builders.items():
            done[root] = await builder.refresh(partial(self.tree, root), progress, force=force)
            await self.dense.prepare(builder)
        return done

    def build_ahead(self) -> None:
        """Builds what was never built in the background, for callers who come back for it.

        Raises the failure that the last try ended with; the next call tries again.
        """
        build, self._first_build = self._first_build, None
        if build is not None and build.done():
            build.result()
            return
        if build is None:
            work = self.build(_unheard, force=False)
            build = asyncio.create_task(work, name="build the index")
            build.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        self._first_build = build

    async def finish_vectors(self, progress: Progress) -> None:
        """Waits for the vectors of everything that is indexed, for whoever can."""
        for builder in self.builders.values():
            await self._finish(builder, progress)

    async def _finish(self, builder: Builder, progress: Progress) -> None:
        work = asyncio.create_task(self.dense.finish(builder))
        try:
            while not (await asyncio.wait({work}, timeout=_TELL_S))[0]:
                standing = await self.dense.standing(builder, builder.snapshot)
                progress("vectors", phase="index", done=standing.done, total=standing.chunks)
            await work
        finally:
            work.cancel()  # whoever waited is gone; the vectors themselves are made on

    async def ready(self, progress: Progress) -> list[tuple[Root, Builder]]:
        """Every root with an index that is complete and fresh, or ``NoIndex``."""
        found: list[tuple[Root, Builder]] = []
        for root in self.workspace.roots.roots:
            builder = self.builders[root.real]
            if builder.snapshot is None:
                await self._admit(builder)
            await builder.catch_up(partial(self.tree, root.real), progress)
            found.append((root, builder))
        return found

    async def _admit(self, builder: Builder) -> None:
        """Only a root that has been built once is refreshed by a search."""
        store = builder.library.store
        phase = builder.phase
        if phase is None and store.exists():
            await builder.peek()
            if builder.library.complete or store.damage:
                return
        done = phase.done if phase is not None else builder.library.indexed
        details = {
            "building": phase is not None,
            "filesIndexed": done,
            "filesTotal": phase.total if phase is not None else done,
        }
        if phase is not None:
            advice = "the first build is still running; ask again when index_status says ready"
            raise NoIndex(advice, details=details)
        if done:
            advice = f"the index is not finished: {done} files are in it; index_build goes on"
            raise NoIndex(f"{advice} from there", details=details)
        raise NoIndex(
            "there is no index of this workspace; call index_build first", details=details
        )

    # Searching

    async def search(self, request: Request, progress: Progress, *, first: int = 0) -> Answer:
        """The complete, ordered results of a request on the files as they are now.

        So many of the ``first`` are made to be shown; the others are when they are asked for.
        """
        query = understand(request.query) if request.mode == "auto" else None
        gain = 0.0 if query is None or request.ranking == "words" else fusion_for(query)
        weight = gain if self.dense.enabled else 0.0
        for _ in range(_MAX_ATTEMPTS):
            ready = self.ready(progress)
            if weight > 0.0 and any(one.snapshot is None for one in self.builders.values()):
                found, _ = await asyncio.gather(ready, self.dense.open(self.builders.values()))
            else:
                found = await ready
            seen = [Seen.now(root, builder) for root, builder in found]
            turn = self.dense.turn
            near, note = await self._near(seen, request.query, weight)
            lacks = gain > 0.0 and not any(near)
            if lacks and request.ranking == "full":
                near = await self._near_at_last(seen, request.query, weight, progress)
                lacks, note = False, ""
            holds = partial(self._is_at, turn) if lacks else always
            asked = _Asked(request, query, near, note, lacks, holds, first)
            stopped = threading.Event()
            try:
                return await self._stoppable(partial(self._search, seen, asked, stopped), stopped)
            except Outdated as outdated:
                self.workspace.surprised(outdated.real)
        raise NotReady(_TOO_FAST, waiting_for="the files")

    async def _near(
        self, seen: Sequence["Seen"], text: str, weight: float
    ) -> tuple[Sequence[Near | None], str]:
        """The vectors for a search, of all roots or of none, and what to say when there are
        none."""
        nothing: list[Near | None] = [None] * len(seen)
        if weight <= 0.0:
            return nothing, ""
        weights = await self.dense.weights()
        if weights is None:
            return nothing, f"Ranked by words alone: {self.dense.problem}."
        encode = cache(partial(encode_query, weights, text))
        found: list[Near | None] = []
        for root in seen:
            matrix = await self.dense.matrix(root.builder, root.snapshot)
            if matrix is None:
                return nothing, await self._words_alone(seen)
            found.append(Near(matrix, encode, weight))
        return found, ""

    def _is_at(self, turn: int) -> bool:
        return self.dense.turn == turn

    async def _near_at_last(
        self, seen: Sequence["Seen"], text: str, weight: float, progress: Progress
    ) -> Sequence[Near | None]:
        """The vectors for a search that is not to be answered without. They are waited for."""
        if self.dense.is_lost:
            raise Unavailable(f"there are no vectors: {self.dense.problem}; {_BY_WORDS}")
        for root in seen:
            await self._finish(root.builder, progress)
        near, note = await self._near(seen, text, weight)
        if any(near):
            return near
        why = note.partition(": ")[2].rstrip(".") or "the vectors are not ready"
        raise NotReady(f"{why}; ask again, or {_BY_WORDS}", waiting_for="vectors")

    async def vectors(self, builder: Builder, snapshot: Snapshot) -> tuple[Matrix | None, str]:
        """The vectors of a root's chunks if they are complete or soon are; or nothing, and why."""
        if await self.dense.weights() is None:
            return None, self.dense.problem
        matrix = await self.dense.matrix(builder, snapshot, _VECTORS_AWAITED)
        if matrix is None:
            self.dense.owes = True
            standing = await self.dense.standing(builder, snapshot)
            return None, f"{standing.done} of {standing.chunks} vectors are ready"
        return matrix, ""

    async def _words_alone(self, seen: Sequence["Seen"]) -> str:
        standings = [await self.dense.standing(root.builder, root.snapshot) for root in seen]
        if self.dense.problem:
            return f"Ranked by words alone: {self.dense.problem}."
        done, chunks = sum(s.done for s in standings), sum(s.chunks for s in standings)
        return f"Ranked by words alone, until vectors are ready: {done} of {chunks} are."

    def _search(self, ready: Sequence["Seen"], asked: "_Asked", stopped: threading.Event) -> Answer:
        def check() -> None:
            if stopped.is_set():
                raise _Stopped

        searches: list[RootSearch] = []
        merged: list[tuple[float, int, int, Found]] = []
        missing: list[Missing] = []
        answer = Answer(
            searches, [], note=asked.note, preliminary=asked.preliminary, holds=asked.holds
        )
        for which, (root, builder, snapshot) in enumerate(ready):
            near = asked.near[which]
            inner = self.inner_roots(root)
            search = RootSearch(
                snapshot, root.real, self.lookup, asked.request, check, near, asked.query, inner
            )
            searches.append(search)
            results = search.run()
            answer.capped |= results.capped
            answer.fileless &= not search.has_files
            if results.note and results.note not in answer.note:
                answer.note = f"{results.note} {answer.note}".strip()
            missing += [results.missing] if results.missing is not None else []
            answer.matches += results.matches
            answer.lines += results.lines
            answer.skipped += snapshot.left_out_without(inner)
            if builder.found is not None:
                unnameable, closed = builder.found.unnameable, builder.found.closed
                answer.skipped += sum(not path.startswith(inner) for path in unnameable)
                answer.closed += sum(not f"{path}/".startswith(inner) for path in closed)
            merged += [
                (-found.score, which, place, found) for place, found in enumerate(results.found)
            ]
        if len(ready) > 1:  # the results of one search are in order
            merged.sort(key=lambda entry: entry[:3])
            most = MAX_RESULTS if asked.request.mode == "auto" else MAX_HITS
            answer.capped |= len(merged) > most
            del merged[most:]
        if missing and len(missing) == len(ready):
            name = split_name(missing[0].name)[-1]
            alike = closest(name, {one for own in missing for one in own.near})
            answer.missing = missing[0]._replace(near=alike)
        answer.found = [(which, found) for _, which, _, found in merged]
        answer.begin(asked.first)
        return answer

    async def look(self, work: Callable[[Sequence["Seen"]], T], progress: Progress) -> T:
        """What some work in a thread finds in the roots as they are now. It starts over where it
        raises ``Outdated``."""
        for _ in range(_MAX_ATTEMPTS):
            seen = [Seen.now(*each) for each in await self.ready(progress)]
            try:
                return await self._stoppable(partial(work, seen), threading.Event())
            except Outdated as outdated:
                self.workspace.surprised(outdated.real)
        raise NotReady(_TOO_FAST, waiting_for="the files")

    async def _stoppable(self, work: Callable[[], T], stopped: threading.Event) -> T:
        """Searches in a thread that is told to stop when the caller is cancelled.

        A pattern may keep one for a while after that, so the place is free when the thread is, and
        some of the threads that the loop shares are left to everything else.
        """
        await self._places.acquire()
        loop = asyncio.get_running_loop()

        def search() -> T:
            try:
                return work()
            finally:
                with suppress(RuntimeError):  # the loop has ended meanwhile
                    loop.call_soon_threadsafe(self._places.release)

        thread = loop.run_in_executor(None, search)
        try:
            return await asyncio.shield(thread)
        except asyncio.CancelledError:
            stopped.set()
            thread.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            raise

    def inner_roots(self, root: Root) -> tuple[str, ...]:
        """Roots inside this one answer for themselves."""
        others = [other.real for other in self.workspace.roots.roots if other.real != root.real]
        prefix = root.real + "/"
        return tuple(f"{o[len(prefix) :]}/" for o in others if o.startswith(prefix))

    # Lifetime

    async def close(self) -> None:
        if self._first_build is not None:
            self._first_build.cancel()
            await asyncio.wait({self._first_build})
        await self.dense.close()
        await self.workers.close()
        for builder in (*self.builders.values(), *self._left.values()):
            builder.library.store.unlock()
            builder.library.store.close()
