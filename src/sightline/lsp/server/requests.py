"""Putting questions to the ready server, and reading its errors.

A question is put to a run of the server that was shown nothing that changes the answer. While
somebody waits for an answer about a document, it stays open.
"""

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from itertools import count
from typing import Any

from sightline.contract.failures import NotReady, Unavailable
from sightline.contract.source import SourceFile
from sightline.contract.uris import path_of, uri_of
from sightline.lsp.project.first_lines import may_be_script
from sightline.lsp.server.launch import Launch
from sightline.lsp.server.lifecycle import Lifecycle
from sightline.lsp.server.published import Overtaken
from sightline.lsp.server.run import Run
from sightline.lsp.wire.client import Illegible, ServerError, ServerGone

__all__ = ["Asking"]

#: The method is not known, or its parameters were not understood at all.
_NOT_UNDERSTOOD = frozenset({-32601, -32700})
_CONTENT_MODIFIED, _SERVER_CANCELLED, _CANCELLED = -32801, -32802, -32800
_RETRYABLE = frozenset({_CONTENT_MODIFIED, _SERVER_CANCELLED, _CANCELLED})
#: So often a question is put that the server drops; then the caller is told to ask again.
_TRIES = 16
#: The question about nothing but a document.
_OUTLINE = "textDocument/documentSymbol"
#: What is said of a file that a server would wait for.
_ENDLESS = (
    "this file includes what is no file, such as a pipe, and is not read; "
    "take that include out, or put a file in its place"
)
_NOT_SHOWN = (
    "this script has no extension and is no text of the project's own, or one of too many; "
    "search its text"
)


class Asking:
    def __init__(
        self,
        launch: Launch,
        lifecycle: Lifecycle,
        *,
        ready: Callable[[], Awaitable[Run]],
        used: dict[str, int],
    ) -> None:
        self._launch = launch
        self._spec = launch.spec
        self._lifecycle = lifecycle
        self._ready = ready
        #: How many questions wait about each document.
        self._used = used
        #: Set when nobody waits any more.
        self._quiet = asyncio.Event()
        #: Of a compiler's server, the questions whose answers depend on more than one file: those
        #: that wait until it has read what it was shown, and how many it has been asked.
        self._waiting: set[int] = set()
        self._asked = 0
        #: The questions that wait until it may be shown a document.
        self._opening: set[int] = set()
        #: Set when one of them goes on, or is answered.
        self._moved = asyncio.Event()
        #: The questions in the order in which they came.
        self._numbers = count()
        self._names = 0

    async def ask(
        self,
        method: str,
        params: object,
        result: Any,  # noqa: ANN401 - the decoder's target type
        *,
        wide: bool,
    ) -> Any:  # noqa: ANN401
        """One question. ``wide``: its answer depends on the whole project."""
        run = await self._alone(None)
        with self._using(""), self._reading():
            if wide:
                self._widen(run)
            answer = await self._request(run, method, params, result)
        if wide and run.readiness.blind and len(run.held_open.opened) < 2:
            raise run.could_not_load()  # it knows nothing of all there is
        return answer

    async def ask_about(
        self,
        file: SourceFile,
        language: str,
        method: str,
        params: object,
        result: Any,  # noqa: ANN401
        *,
        wide: bool,
    ) -> Any:  # noqa: ANN401
        """One question about a document, which the server sees with exactly the caller's text."""
        narrow = method == _OUTLINE
        run = await self._alone(file.path, narrow=narrow)
        self._check_script(run, file.path)
        with self._using(file.uri), contextlib.nullcontext() if narrow else self._reading():
            if wide:
                self._widen(run)
            shown = self._show(run, file, language)

            def holds() -> bool:
                return run.documents.version_of(file.uri) == shown

            return await self._request(run, method, params, result, holds)

    async def diagnostics_pushed(self, file: SourceFile, language: str) -> list[Any]:
        """The list the server publishes for exactly this text."""
        run = await self._alone(file.path, narrow=True)
        try:
            with self._using(file.uri):
                version = self._show(run, file, language)
                said = await run.published.of(file.uri, version)
        except Overtaken:
            raise _changed() from None
        except Illegible:
            raise self._illegible() from None
        except ServerGone:
            raise self._lifecycle.not_ready() from None
        self._lifecycle.answered()
        return said

    async def diagnostics_under_own_name(self, file: SourceFile, language: str) -> list[Any]:
        """The list for this text from a server that does not say which text a list is for."""
        run = await self._ready()
        self._names += 1
        uri = f"{file.uri}?{self._names}"
        run.documents.show_once(uri, file, language)
        try:
            said = await run.published.of(uri, None)
        except Illegible:
            raise self._illegible() from None
        except ServerGone:
            raise self._lifecycle.not_ready() from None
        finally:
            run.documents.close_once(uri)
            run.published.forget(uri)
        self._lifecycle.answered()
        return said

    def _show(self, run: Run, file: SourceFile, language: str) -> int:
        """Makes the server see a file as the caller has read it; its version.

        Whoever waited may have read it before a change of which the server was told meanwhile. What
        is opened then would hide the new text from everybody.
        """
        database = run.start.database
        if file.path in database.endless:
            if database.lead_nowhere() == database.nowhere:
                raise Unavailable(_ENDLESS)
            self._lifecycle.start_over()  # meanwhile something else is there
            raise self._lifecycle.not_ready()
        if not run.documents.has(file) and not self._launch.is_current(file):
            raise _changed()
        return run.show(file, language)

    async def _request(
        self,
        run: Run,
        method: str,
        params: object,
        result: Any,  # noqa: ANN401
        holds: Callable[[], bool] = lambda: True,
    ) -> Any:  # noqa: ANN401
        """One question. ``holds``: whether it can still be asked, in the same words."""
        name = self._launch.name
        try:
            answer = await self._asked_again(run, method, params, result, holds)
        except ServerGone:
            raise self._lifecycle.not_ready() from None
        except ServerError as error:
            if error.code in _RETRYABLE:
                raise NotReady(waiting_for=f"{name} to settle") from None
            if self._spec.no_symbol and re.search(self._spec.no_symbol, error.message):
                return None
            if run.readiness.blind:
                raise run.could_not_load() from None
            if isinstance(error, Illegible):
                raise self._illegible() from None
            if error.code in _NOT_UNDERSTOOD:
                newer = f"; a newer one may: {self._spec.get}" if self._spec.get else ""
                raise Unavailable(f"this {name} does not answer that{newer}") from None
            raise Unavailable(f"{name} could not answer; run sightline doctor") from None
        self._lifecycle.answered()
        return answer

    async def _asked_again(
        self,
        run: Run,
        method: str,
        params: object,
        result: Any,  # noqa: ANN401
        holds: Callable[[], bool],
    ) -> Any:  # noqa: ANN401
        """The answer, although the server drops questions while it takes in other documents.

        ty drops what it is working on whenever a document is opened, which the question beside
        this one may do.
        """
        for _ in range(_TRIES - 1):
            try:
                return await run.client.request(method, params, result)
            except ServerError as error:
                if error.code not in _RETRYABLE:
                    raise
                if not holds():
                    raise _changed() from None  # its place is another one now
        return await run.client.request(method, params, result)

    async def _alone(self, path: str | None, *, narrow: bool = False) -> Run:
        """The ready run, which was shown nothing that changes the answer to a question, and has
        taken in what it was shown.

        ``narrow``: only the file that is asked about decides the answer.
        """
        if not self._spec.compile_database:
            return await self._ready()
        number = next(self._numbers)
        if not narrow:
            self._waiting.add(number)
        try:
            return await self._in_turn(number, path, narrow=narrow)
        finally:
            self._waiting.discard(number)
            self._opening.discard(number)
            self._moved.set()

    async def _in_turn(self, number: int, path: str | None, *, narrow: bool) -> Run:
        """The run of a compiler's server, once it may be asked. If what it was shown changes the
        answer it starts over, when nobody waits for one.

        Nothing is opened while it owes an answer that may lack what it is reading, nor while
        somebody who came before waits for it to have read everything. Nor does anybody overtake
        whoever waits to open something: there might be no end to either.
        """
        while True:
            run = await self._ready()
            uncompiled, shown, database = run.uncompiled, len(run.uncompiled), run.start.database
            strange = path is not None and not database.compiles(path)
            new = strange and path not in uncompiled
            fit = narrow or not (strange and uncompiled.touched)
            if fit and not narrow and shown:
                with contextlib.suppress(ServerGone):
                    known = database, run.documents, run.published
                    fit = not await uncompiled.matter(path, *known)
            if self._lifecycle.run is not run or len(uncompiled) != shown:
                continue  # meanwhile it ended, or was shown more
            if fit and not (new and self._used):
                opens = path is not None and uri_of(path) not in run.documents
                unseen = () if narrow else run.documents.unseen_but(path)
                if opens and (self._asked or _is_behind(number, self._waiting)):
                    self._opening.add(number)
                    await self._somebody_moves()
                elif not (narrow or opens) and _is_behind(number, self._opening):
                    await self._somebody_moves()
                elif not unseen:
                    return run
                else:
                    with contextlib.suppress(ServerGone, Overtaken):
                        await self._taken_in(run, *unseen)
                        run.documents.seen(*unseen)  # what was said too early counts, too
            elif self._used:
                self._opening.add(number)
                await self._nobody_waits()
            else:
                self._lifecycle.start_over()

    async def _taken_in(self, run: Run, uri: str, version: int) -> None:
        """Returns when the server says that it has taken in a version of a document."""
        try:
            await run.published.taken_in(uri, version)
        except Illegible:
            raise self._illegible() from None

    async def _somebody_moves(self) -> None:
        self._moved.clear()
        await self._moved.wait()

    async def _nobody_waits(self) -> None:
        self._quiet.clear()
        await self._quiet.wait()

    def _check_script(self, run: Run, path: str) -> None:
        """Only scripts that are held open are shown: others would leave traces in later answers."""
        name = path.rpartition("/")[2]
        if not may_be_script(name) or path in run.scripts:
            return
        if not self._launch.project().speaks(name):
            raise Unavailable(_NOT_SHOWN)

    def _widen(self, run: Run) -> None:
        """Before a question about the whole project: nothing of it is in doubt."""
        if run.held_open.too_many:
            markers = " or ".join(self._spec.root_markers)
            raise Unavailable(f"too many files here belong to no project; add a {markers}")
        if self._spec.opened_join:
            leaves_out = run.start.leaves_out
            run.documents.close_others(
                lambda uri: uri in self._used or not leaves_out(path_of(uri))
            )

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """While an answer is owed that depends on more than one file."""
        self._asked += 1
        try:
            yield
        finally:
            self._asked -= 1
            self._moved.set()

    def _illegible(self) -> Unavailable:
        name = self._launch.name
        return Unavailable(f"{name} gave an answer that cannot be read; run sightline doctor")

    def _using(self, uri: str) -> "_Use":
        """While somebody waits for an answer about a document, it stays open."""
        return _Use(self._used, uri, self._quiet)


class _Use:
    """One question that waits about a document."""

    __slots__ = ("_quiet", "_uri", "_used")

    def __init__(self, used: dict[str, int], uri: str, quiet: asyncio.Event) -> None:
        self._used = used
        self._uri = uri
        self._quiet = quiet

    def __enter__(self) -> None:
        self._used[self._uri] = self._used.get(self._uri, 0) + 1

    def __exit__(self, *raised: object) -> None:
        left = self._used[self._uri] - 1
        if left:
            self._used[self._uri] = left
        else:
            del self._used[self._uri]
        if not self._used:
            self._quiet.set()


def _is_behind(number: int, others: Iterable[int]) -> bool:
    """Whether some of the others came before."""
    return any(other < number for other in others)


def _changed() -> NotReady:
    return NotReady("the file has changed meanwhile; retry", waiting_for="quiet files")
