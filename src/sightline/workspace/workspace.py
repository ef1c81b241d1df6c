"""The one owner of roots, change detection and epochs.

``begin`` is called when a call starts: it collects every change that was finished before, tells
the listeners, moves the epochs and returns the view the call runs on. ``starting`` epochs come
from a digest of the tree, so that equal trees give equal cursors in any process. An editor may hold
unsaved texts here and change the roots; nobody else moves an epoch.
"""

import asyncio
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import chain

from sightline.contract.failures import Failure, NotReady, Unavailable
from sightline.contract.source import SourceFile
from sightline.contract.texts import PLAIN_PATH
from sightline.workspace.beside import Beside
from sightline.workspace.changes import Change, Kind
from sightline.workspace.gate import Gate
from sightline.workspace.observers import Observer, Scope, Watcher, observe, suspects_of
from sightline.workspace.obstacles import Obstacles
from sightline.workspace.roots import Root, RootSet
from sightline.workspace.surroundings import Surroundings
from sightline.workspace.tree import Tree, device_of, digest48, file_count, last_change, scan
from sightline.workspace.view import Epochs, View, text_digest48, top_folders

__all__ = ["UNLISTED", "Listener", "Workspace"]

#: Told of every batch of changes, in order, before the view that contains them is handed out.
Listener = Callable[[Sequence[Change]], None]

#: What is waited for while files could not be looked for.
UNLISTED = "a folder that cannot be looked into"
#: Of no state of the workspace.
_NO_EPOCHS = Epochs(0, 0, 0, 0)
#: The audit of the announcements takes at most this share of one processor, and rests this long.
_AUDIT_SHARE = 0.01
_AUDIT_REST_S = 2.0


class Workspace:
    def __init__(
        self,
        roots: Iterable[Root],
        *,
        notify: bool = True,
        choose: Callable[[Root], Root] = lambda root: root,
    ) -> None:
        """``choose`` adds to a root what the user's settings say of it."""
        self._choose = choose
        self.roots = RootSet.of(map(choose, roots))
        self.notify = notify
        #: By the real path of a root.
        self.observers: dict[str, Observer] = {}
        self._around = Surroundings()
        self.beside = Beside()
        self.obstacles = Obstacles()
        self._listeners: list[Listener] = []
        self._root_listeners: list[Callable[[], None]] = []
        self._epochs: Epochs | None = None
        self._view: View | None = None
        self._scan: asyncio.Task[None] | None = None
        self._ahead: tuple[int, Callable[[], None]] | None = None
        #: Held while the observers are asked in a thread, or others take their place.
        self._collecting = asyncio.Lock()
        #: Asks the observers in a thread next, and has not begun.
        self._next_sweep: asyncio.Task[View] | None = None
        self._sweeps: set[asyncio.Task[View]] = set()
        self._top_folders = top_folders()
        #: The roots that are no folders any more, as they were given.
        self._gone: tuple[str, ...] = ()
        self._unsaved: Mapping[str, str | None] = {}
        self._audit_due = 0.0
        self._auditing: asyncio.Task[None] | None = None
        #: The observer whose first look is under way, in a thread.
        self._starting: Observer | None = None

    def listen(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def listen_to_roots(self, listener: Callable[[], None]) -> None:
        """``listener`` is called after the roots have changed."""
        self._root_listeners.append(listener)

    async def set_roots(self, roots: Iterable[Root]) -> None:
        """Other roots from now on. What stays is not scanned again; no older answer holds."""
        with suppress(Failure):  # what is wrong with the roots may be why there are to be others
            await self.begin()
        self.follow(roots)
        await self.begin()

    def head_start(self, overtaken: Callable[[], None]) -> None:
        """Somebody reads the files from now on, before they are watched.

        ``overtaken`` is called at the end of the first scan, before there is a view, if anything
        may have changed since: what was read until then counts no longer.
        """
        self._ahead = (time.time_ns(), overtaken)

    def view_ahead(self) -> View | None:
        """Until the first scan is over, and only for what has a head start: documents can be read
        in it, but it is no state of the workspace.
        """
        if self._epochs is not None or self._ahead is None:
            return None
        return self._new_view(_NO_EPOCHS)

    def start(self) -> None:
        """Begins the first scan in the background. ``begin`` waits for it."""
        if self._scan is None:
            self._scan = asyncio.create_task(self._first_scan(), name="workspace scan")
        elif _has_failed(self._scan):
            self._scan = asyncio.create_task(self._rescan(self._scan), name="another scan")

    def begin_now(self) -> View | None:
        """What ``begin`` returns, where it can be had without waiting."""
        scan = self._scan
        if self._epochs is None or scan is None or not scan.done() or _has_failed(scan):
            return None
        if self._must_sweep() or not self._is_complete():
            return None
        changes, failure = self._collect()
        self._look_for_roots()
        view = self._view if self._view is not None and not changes else self.apply(changes)
        known = failure is None and self._is_complete() and not self._is_deserted()
        return view if known else None

    async def begin(self) -> View:
        """The view that contains every change finished before this moment."""
        while True:
            self.start()
            assert self._scan is not None
            while not self._scan.done():  # it may be another one by the time this one is done
                await asyncio.wait({self._scan})
            if self._scan.cancelled():
                raise NotReady(waiting_for="the first scan of the workspace")
            self._scan.result()  # what went wrong is no answer; who asks again gets another scan
            self._require_complete()
            if not self._must_sweep():
                view = self._take(self._collect())
                self._require_complete()
                self._require_roots()
                return view
            view = await self._sweep()
            self._require_complete()
            self._require_roots()
            if self._scan.done():
                return view
            # There are other roots now, which nobody has looked at yet.

    def apply(self, changes: Sequence[Change]) -> View:
        """Moves the epochs for observed changes and returns the view after them."""
        assert self._epochs is not None
        if changes:
            text = any(c.kind == Kind.CHANGED for c in changes)
            fs = any(c.kind != Kind.CHANGED for c in changes)
            self._move(text=text, fs=fs, diagnostics=True)
            # Whoever fails is a bug that is heard of; the others are told nevertheless, because
            # nobody will be told again.
            with ExitStack() as everybody:
                for listener in reversed(self._listeners):
                    everybody.callback(listener, changes)
        if self._view is None:
            self._view = self._new_view(self._epochs)
        return self._view

    def surprised(self, path: str) -> None:
        """A file was found changed although nothing announced it."""
        self.apply([Change(path, Kind.CHANGED, disguised=True)])

    def source_changed(self) -> None:
        """A source started over: its answers may differ, so nothing older may be paged."""
        if self._epochs is not None:
            self._move(text=True, diagnostics=True)

    def diagnostics_changed(self) -> None:
        """A source reports other diagnostics than before, though no file changed."""
        if self._epochs is not None:
            self._move(diagnostics=True)

    def hold(self, unsaved: Mapping[str, str | None]) -> None:
        """The texts of documents that an editor has not saved, by real path: they stand for the
        files. ``None`` is a text that is too large to hold.
        """
        if unsaved != self._unsaved:
            self._unsaved = dict(unsaved)
            if self._epochs is not None:
                self._move(text=True, diagnostics=True)

    def follow(self, roots: Iterable[Root]) -> None:
        """Other roots. What is no longer in one is denied from now on; what is new is scanned
        before the next view.
        """
        before, self.roots = self.roots, RootSet.of(map(self._choose, roots))
        if self.roots == before:
            return
        self._view = None
        if self._scan is not None:
            self._scan = asyncio.create_task(self._rescan(self._scan), name="scan of other roots")

    def tree_state(self) -> tuple[int, int] | None:
        """What identifies the set of files: it changes when one comes or goes."""
        return None if self._epochs is None else (self._epochs.roots, self._epochs.fs)

    def read(self, uri: str) -> SourceFile:
        """A document as it is on disk now, gated, outside any view."""
        newest = self._view
        if newest is None:
            return self._new_view(self._epochs or _NO_EPOCHS).document(uri)
        # What its gate knows of folders holds until something changes.
        view = View(
            newest.gate,
            newest.epochs,
            newest.roots_key,
            newest.top_folders,
            newest.unsaved,
            newest.gone,
        )
        return view.document(uri)

    def is_current(self, document: SourceFile) -> bool:
        """Whether a document that was read before is as it is on disk now."""
        if self._view is not None and self._view.has_read(document):
            return True  # nothing was announced since
        try:
            return self.read(document.uri).text == document.text
        except Failure:
            return False

    def trees(self) -> list[tuple[Root, Tree]]:
        """The tracked files of every root as last seen."""
        return [
            (root, self.observers[root.real].tree)
            for root in self.roots.roots
            if root.real in self.observers
        ]

    def all_trees(self) -> list[tuple[str, Tree]]:
        """Every observed tree, of the roots and of what is around them, by its top."""
        return [*((root.real, tree) for root, tree in self.trees()), *self._around.trees()]

    def is_unwatched_around(self, root: Root) -> bool:
        """Whether a root is a part of a repository that is too large to be observed."""
        return bool(self._around.why_not(root))

    def report(self) -> list[dict[str, str | int]]:
        """What people are told about the roots."""
        rows: list[dict[str, str | int]] = []
        for root in self.roots.roots:
            observer = self.observers.get(root.real)
            how = "not scanned yet"
            if observer is not None:
                how = f"swept: {observer.reason}" if observer.sweeps else "changes announced"
            if root.given in self._gone:
                how = "gone"
            files = file_count(observer.tree) if observer is not None else 0
            row: dict[str, str | int] = {"path": root.given, "files": files, "changes": how}
            around = self._around.report(root)
            rows.append(row | {"around": around} if around else row)
        return rows

    def audit_soon(self, bug: Callable[[BaseException], None]) -> None:
        """Looks for changes that were not announced, in the background, if that is due.

        Nobody waits for it, so ``bug`` is told of what goes wrong.
        """

        def over(task: "asyncio.Task[None]") -> None:
            error = None if task.cancelled() else task.exception()
            if error is not None:
                bug(error)

        if self._epochs is not None and time.monotonic() >= self._audit_due:
            self._audit_due = float("inf")
            self._auditing = asyncio.create_task(self.audit(), name="audit of announcements")
            self._auditing.add_done_callback(over)

    async def audit(self) -> None:
        """One look at everything; what the kernel did not announce is applied."""
        began = time.monotonic()
        try:
            for observer in self._all():
                if isinstance(observer, Watcher):
                    await self._audit(observer)
        finally:
            self._rest_after(began)

    async def _audit(self, observer: Watcher) -> None:
        try:
            scope = observer.scope
            found, _ = await asyncio.to_thread(
                scan, observer.top, enters=scope.enters, keeps=scope.keeps
            )
        except OSError:
            return  # the next one may know
        async with self._collecting:
            if any(observer is each for each in self._all()):
                try:
                    # At once: what the observer has handed over is found by nobody else.
                    missed = (
                        await asyncio.to_thread(observer.audit, found)
                        if observer.sweeps
                        else observer.audit(found)
                    )
                except OSError:
                    return  # which whoever asks next is told
                self.apply(missed)

    def _rest_after(self, began: float) -> None:
        """The next audit is due a while after the scan that began then."""
        ended = time.monotonic()
        self._audit_due = ended + max(_AUDIT_REST_S, (ended - began) / _AUDIT_SHARE)

    def close(self) -> None:
        for task in (self._scan, self._auditing, *self._sweeps):
            if task is not None:
                task.cancel()
        for observer in self.observers.values():
            observer.close()
        if self._starting is not None:
            self._starting.close()  # which ends its thread, for which the process would wait
        self._around.close()

    async def _first_scan(self) -> None:
        began = time.monotonic()
        await self._observe_roots()
        self._rest_after(began)
        start = await asyncio.to_thread(digest48, self.all_trees())
        await asyncio.to_thread(self._look_for_obstacles)
        if self._ahead is not None:
            since, overtaken = self._ahead
            touched = await asyncio.to_thread(self._touched_since, since)
            if touched or self.obstacles.found:
                overtaken()
        if self._unsaved:
            start ^= text_digest48(self._unsaved)
        self._epochs = Epochs(start, start, start, start)

    def _touched_since(self, moment: int) -> bool:
        """Whether a file or folder changed then or later, or where that cannot be known."""
        return any(
            observer.sweeps or last_change(observer.tree) >= moment for observer in self._all()
        )

    async def _rescan(self, before: "asyncio.Task[None]") -> None:
        await asyncio.wait({before})
        if self._epochs is None:
            await self._first_scan()
        else:
            async with self._collecting:
                await self._observe_roots()
            self._move(roots=True)
        with ExitStack() as everybody:
            for listener in reversed(self._root_listeners):
                everybody.callback(listener)

    async def _observe_roots(self) -> None:
        """An observer for every root and none for anything else."""
        try:
            await self._observe(self.roots.roots)
        except OSError as error:
            raise self._not_listed(error) from None

    async def _observe(self, roots: Sequence[Root]) -> None:
        for real in self.observers.keys() - {root.real for root in roots}:
            self.observers.pop(real).close()
        for root in roots:
            if root.real not in self.observers:
                if self._starting is not None:
                    self._starting.close()  # its first look failed
                scope = Scope(exclude=root.exclude, root=root.real)
                self._starting = observe(root.real, notify=self.notify, scope=scope)
                await asyncio.to_thread(self._starting.start)
                self.observers[root.real], self._starting = self._starting, None
        if self._around.observers or any(root.around for root in roots):
            await asyncio.to_thread(self._around.follow, roots, notify=self.notify)

    def _all(self) -> list[Observer]:
        return [*self.observers.values(), *self._around.observers]

    def _new_view(self, epochs: Epochs) -> View:
        return View(
            Gate(self.roots),
            epochs,
            self.roots.key(),
            self._top_folders,
            self._unsaved,
            self._gone,
        )

    def _must_sweep(self) -> bool:
        """Whether the observers cannot be asked here and now, but in a thread only."""
        # While a thread asks them, what they have handed over is not applied yet.
        return self._collecting.locked() or any(observer.sweeps for observer in self._all())

    async def _sweep(self) -> View:
        """Asks the observers in a thread.

        They tell a change once. So the look is nobody's own: it goes on and is applied although
        those who wait for it have left. Who comes before it begins shares it.
        """
        if self._next_sweep is None:
            self._next_sweep = asyncio.create_task(self._sweep_once(), name="sweep")
            self._sweeps.add(self._next_sweep)
            self._next_sweep.add_done_callback(self._sweeps.discard)
        return await asyncio.shield(self._next_sweep)

    async def _sweep_once(self) -> View:
        async with self._collecting:
            self._next_sweep = None  # whoever comes now may mean a change that this look misses
            return self._take(await asyncio.to_thread(self._collect))

    def _is_complete(self) -> bool:
        return all(observer.complete for observer in self.observers.values())

    def _require_complete(self) -> None:
        if not self._is_complete():
            raise Unavailable("the workspace has more than 1,000,000 files; open a part of it")

    def _look_for_roots(self) -> None:
        """Notes which roots are no folders any more, which changes answers, too."""
        gone = tuple(root.given for root in self.roots.roots if self._is_gone(root))
        if gone != self._gone:
            self._gone = gone
            self._move(fs=True)

    def _is_gone(self, root: Root) -> bool:
        """One that has files is not looked at again. A link is none: where it leads is no root.

        What is unmounted leaves an empty folder behind, which is on another file system.
        """
        observer = self.observers.get(root.real)
        if observer is None or any(observer.tree.values()):
            return False
        device = device_of(root.real)
        return device is None or observer.device not in (None, device)

    def _is_deserted(self) -> bool:
        """Whether no root is a folder any more."""
        return bool(self._gone) and len(self._gone) == len(self.roots.roots)

    def _require_roots(self) -> None:
        """A project that was moved, removed or unmounted has no files, which says nothing about
        its code."""
        if self._is_deserted():
            gone = self._gone[0]
            raise Unavailable(
                f"the folder {gone} is gone; put it back, or start Sightline where the project is"
            )

    def _collect(self) -> tuple[list[Change], NotReady | None]:
        """What has changed, and why that may not be all."""
        changes: list[Change] = []
        failure = None
        for observer in self._all():
            try:
                changes += observer.changes()
            except OSError as error:
                failure = self._not_listed(error)
        return changes + self.beside.changes() + self._look_for_obstacles(), failure

    def _look_for_obstacles(self) -> list[Change]:
        return self.obstacles.look(chain.from_iterable(map(suspects_of, self._all())))

    def _take(self, collected: tuple[list[Change], NotReady | None]) -> View:
        """The view after what was collected. What is known is told, also where it is not all."""
        changes, failure = collected
        self._look_for_roots()
        view = self.apply(changes)
        if failure is not None:
            raise failure
        return view

    def _not_listed(self, error: OSError) -> NotReady:
        """Files that nobody could look for are not gone."""
        path = error.filename
        root = self.roots.containing(path) if isinstance(path, str) else None
        where = "a folder around the workspace"
        if root is not None:
            # Whoever made it chose its name, which may be no text, or one to be believed.
            is_plain = re.fullmatch(PLAIN_PATH, os.path.relpath(path, root.real))
            where = path if is_plain else f"a folder in {root.given}"
        return NotReady(
            f"cannot look into {where} ({error.strerror}); retry in a moment",
            waiting_for=UNLISTED,
        )

    def _move(
        self,
        *,
        roots: bool = False,
        text: bool = False,
        fs: bool = False,
        diagnostics: bool = False,
    ) -> None:
        old = self._epochs
        assert old is not None
        self._epochs = Epochs(
            old.roots + roots, old.text + text, old.fs + fs, old.diagnostics + diagnostics
        )
        self._view = None


def _has_failed(scan: "asyncio.Task[None]") -> bool:
    return scan.done() and not scan.cancelled() and scan.exception() is not None
