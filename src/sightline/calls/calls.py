"""The path of a call, from its name and arguments to its outcome.

The deadline starts when the message was complete and includes queueing; it is set here and nowhere
below. Every failure below is a ``Failure``; anything else is a bug, which is logged and answered
without a word of what it was.
"""

import asyncio
import contextlib
import errno
from collections.abc import Awaitable, Callable, Hashable, Sequence
from itertools import count
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct, field

from sightline.calls import families
from sightline.calls.flights import Flights, OutOfTime
from sightline.calls.memory import AnswerCache, Newest, Retained, RetainedSet
from sightline.calls.pages import EncodedPage, page_of
from sightline.calls.recent import Recent, Recently
from sightline.calls.texts import digest_of, page_of_text, wanted
from sightline.calls.unknown import unknown_tool
from sightline.calls.validate import Validator
from sightline.calls.waiting import told_to_wait
from sightline.contract import cursors, keys, limits
from sightline.contract.cursors import Cursor
from sightline.contract.failures import (
    Bug,
    Cancelled,
    CursorStale,
    Failure,
    InvalidArguments,
    NotReady,
    Overloaded,
    TimedOut,
    TooLarge,
    Unavailable,
)
from sightline.contract.settings import Settings
from sightline.contract.source import Expected, SourceFile
from sightline.contract.texts import cut_sentences
from sightline.protocol.revisions import Revision
from sightline.protocol.session import Outcome
from sightline.protocol.surface import ClientOptions
from sightline.tools.tool import Desk, Paged, Progress, Question, Said, Tool, Whole, silent
from sightline.workspace.gate import Gate
from sightline.workspace.roots import RootSet
from sightline.workspace.view import Epochs, View, ViewOutdated

__all__ = ["Caller", "Calls", "Engines", "Finished", "Record", "underscored"]

_MAX_KNOWN = 1_024
#: How soon a tool that waits looks again whether what was not ready is.
_PAUSE_S = 0.05
STOPPED = "the time limit passed and the work was stopped; ask for less, or again to go on"
_FULL = "the disk of the user's folders is full; free some space, or set XDG_CACHE_HOME"
_encoder = msgspec.json.Encoder()


class Caller(NamedTuple):
    """Who asks, and how the answer should look."""

    options: ClientOptions
    revision: Revision
    progress: Progress = silent
    #: Whether an answer in words is wanted as data. Only commands ask for that.
    data: bool = False


class Finished(NamedTuple):
    """How a call ended: what the client is told, and the failure behind it if there was one."""

    outcome: Outcome
    failure: Failure | None


class Record(NamedTuple):
    """What is known of a finished call: enough for a log, nothing of its content."""

    tool: str
    outcome: str
    milliseconds: float
    size: int


class Engines(Struct, frozen=True):
    """What calls run on: how to begin a view, and what answers."""

    begin: Callable[[], Awaitable[View]]
    desk: Callable[[View, Progress], Desk]
    #: What else than the view decides an answer: server versions and settings.
    identity: Callable[[str | None], str]
    #: A file was found changed although nothing announced it.
    surprised: Callable[[str], None]
    #: What a caller that runs out of time was waiting for, in constant words.
    waiting_for: Callable[[str | None], str]
    #: The same view as ``begin`` where nothing has to be waited for, else ``None``.
    begin_now: Callable[[], View | None] = lambda: None
    #: What documents can be read in while the first view is not there yet, else ``None``.
    view_ahead: Callable[[], View | None] = lambda: None
    #: Told of a question that waits for the first view.
    expect: Callable[[Expected], None] = lambda question: None


class Calls(Struct, eq=False, dict=True):
    catalogue: Sequence[Tool[Any]]
    engines: Engines
    settings: Settings
    clock: Callable[[], float]
    bug: Callable[[BaseException], None]
    finished: Callable[[Record], None] = lambda record: None
    context_timeout_ms: int = limits.CONTEXT_TIMEOUT_MS
    code_timeout_ms: int = limits.CODE_TIMEOUT_MS
    index_timeout_ms: int = limits.INDEX_TIMEOUT_MS
    index_build_timeout_ms: int = limits.INDEX_BUILD_TIMEOUT_MS
    in_flight: int = 0
    _flights: Flights[Any] = field(default_factory=Flights)

    def __post_init__(self) -> None:
        self.retained = Retained(self.clock)
        self.answers = AnswerCache(self.clock)
        self._by_name = {tool.info.name: tool for tool in self.catalogue}
        self._by_underscore = {underscored(name): tool for name, tool in self._by_name.items()}
        self._caps = {tool.info.name: self._limits(tool) for tool in self.catalogue}
        self._validators: dict[str, Validator] = {}
        self._said = Newest[Said]()
        self._newest: View | None = None
        #: What tools see that do not look at the workspace.
        self._nowhere = View(Gate(RootSet.of(())), Epochs(0, 0, 0, 0), "")
        self._numbers = count()
        #: The request and snapshot keys of what was asked of the newest view.
        self._known: dict[tuple[str, tuple[str | int | bool, ...]], tuple[str, str]] = {}
        self._recent = Recent()

    async def run(
        self, name: str, arguments: dict[str, Any], caller: Caller, *, arrived: float
    ) -> Finished:
        """The one terminal outcome of a call. It raises nothing but its own cancelling."""
        tool = self._find(name, caller)
        if tool is None:
            unknown = unknown_tool(name, list(self._names(caller)))
            return Finished(families.failed("lsp", unknown), unknown)
        failure: Failure | None = None
        result = b""
        self.in_flight += 1
        try:
            result = await self._answer(tool, arguments, caller, arrived)
        except Failure as raised:
            failure = raised
        except asyncio.CancelledError:
            failure = Cancelled()
            raise
        except Exception as error:  # the top level: whatever reaches it is ours to answer for
            if _disk_is_full(error):
                failure = Unavailable(_FULL)
            else:
                self.bug(error)
                failure = Bug()
        finally:
            self.in_flight -= 1
            word = "ok" if failure is None else type(failure).__name__
            milliseconds = (self.clock() - arrived) * 1000
            self.finished(Record(tool.info.name, word, milliseconds, len(result)))
        if failure is not None:
            return Finished(families.failed(tool.info.family, failure), failure)
        return Finished(msgspec.Raw(result), None)

    def now(
        self, name: str, arguments: dict[str, Any], caller: Caller, *, arrived: float
    ) -> Finished | None:
        """The outcome of a call that was just made in the same words and still holds."""
        tool = self._find(name, caller)
        if tool is None or tool.info.name not in self._validators:
            return None
        try:
            typed = self._validate(tool, arguments)
            recently = self._recent.find(typed, *_asker(tool, caller))
            if recently is None or not recently.holds(self._view_now()):
                return None
        except Failure:  # said by the ordinary way
            return None
        except Exception as error:  # the top level, too: a bug here would otherwise never be known
            self.bug(error)
            return None
        milliseconds = (self.clock() - arrived) * 1000
        self.finished(Record(tool.info.name, "ok", milliseconds, len(recently.result)))
        return Finished(msgspec.Raw(recently.result), None)

    def cancelled(self, name: str, caller: Caller) -> Finished:
        """The terminal outcome of a call that was cancelled."""
        tool = self._find(name, caller)
        failure = Cancelled()
        return Finished(families.failed(tool.info.family if tool else "lsp", failure), failure)

    async def close(self) -> None:
        await self._flights.close()

    # The steps

    def _find(self, name: str, caller: Caller) -> Tool[Any] | None:
        return self._names(caller).get(name)

    def _names(self, caller: Caller) -> dict[str, Tool[Any]]:
        return self._by_underscore if caller.options.tool_names == "underscore" else self._by_name

    def _limits(self, tool: Tool[Any]) -> families.Limits:
        return families.limits_of(
            tool.info.family,
            tool.info.name,
            request_timeout_ms=self.settings.request_timeout_ms,
            max_response_bytes=self.settings.max_response_bytes,
            context_ms=self.context_timeout_ms,
            code_ms=self.code_timeout_ms,
            index_ms=self.index_timeout_ms,
            index_build_ms=self.index_build_timeout_ms,
        )

    async def _answer(
        self, tool: Tool[Any], arguments: dict[str, Any], caller: Caller, arrived: float
    ) -> bytes:
        """The answer. A ``code`` tool waits for what is not ready; the others say so at once."""
        if tool.info.family != "code":
            return await self._attempt(tool, arguments, caller, arrived)
        end = arrived + self.code_timeout_ms / 1000
        async with told_to_wait(caller.progress, self.engines.waiting_for):
            while True:
                try:
                    return await self._attempt(tool, arguments, caller, arrived)
                except NotReady:
                    if self.clock() + _PAUSE_S >= end:
                        raise
                await asyncio.sleep(_PAUSE_S)

    async def _attempt(
        self, tool: Tool[Any], arguments: dict[str, Any], caller: Caller, arrived: float
    ) -> bytes:
        typed = self._validate(tool, arguments)
        if self.in_flight > limits.MAX_CALLS_IN_FLIGHT:
            raise Overloaded
        caps = self._caps[tool.info.name]
        deadline = arrived + caps.timeout_ms / 1000
        uri: str | None = None
        try:
            view, question = await self._ask(tool, typed, deadline)
            uri = question.uri
            known = self._keys(tool, view, question)
            room = caps.response_bytes - limits.ENVELOPE_RESERVE_BYTES
            aim = min(caller.options.answer_bytes, room)
            asked = Asked(tool, view, question, caller, caps, deadline, room, aim, *known)
            page = await self._shown(asked)
            if self.clock() > deadline:
                raise OutOfTime
        except (TimeoutError, OutOfTime):
            if caps.goes_on:
                details = {"waitingFor": self.engines.waiting_for(uri)}
                raise TimedOut(timeout_ms=caps.timeout_ms, details=details) from None
            raise TimedOut(STOPPED, timeout_ms=caps.timeout_ms) from None
        result = asked.wrap(page)
        if len(result) > asked.room:
            raise TooLarge(tool.info.too_large)
        if tool.info.family == "lsp":
            self._recent.keep(self._recently(asked, typed, result), *_asker(tool, caller))
        return result

    async def _ask(
        self, tool: Tool[Any], typed: msgspec.Struct, deadline: float
    ) -> tuple[View, Question[Any]]:
        """The view of this moment, and the question in it."""
        if not tool.info.epochs or tool.info.elsewhere(typed):
            return self._nowhere, tool.ask(self._nowhere, typed)
        while True:
            view = self._view_now()
            if view is None:
                self._expect(tool, typed)
                async with asyncio.timeout(max(deadline - self.clock(), 0)):
                    view = await self.engines.begin()
                self._retire(view)
            try:
                return view, tool.ask(view, typed)
            except ViewOutdated as outdated:
                self.engines.surprised(outdated.path)

    def _expect(self, tool: Tool[Any], typed: msgspec.Struct) -> None:
        """Lets the engines begin with a question that has to wait for the first view."""
        view = self.engines.view_ahead()
        if view is None:
            return
        with contextlib.suppress(Failure, ViewOutdated):  # said when there is a view
            question = tool.info.expects(tool.ask(view, typed))
            if question is not None:
                self.engines.expect(question)

    def _view_now(self) -> View | None:
        """The view of this moment, where it can be had without waiting."""
        view = self.engines.begin_now()
        if view is not None:
            self._retire(view)
        return view

    def _validate(self, tool: Tool[Any], arguments: dict[str, Any]) -> msgspec.Struct:
        name = tool.info.name
        if name not in self._validators:
            self._validators[name] = Validator(name, tool.arguments)
        try:
            return self._validators[name].check(arguments)
        except InvalidArguments as invalid:
            raise _refusal(tool, invalid) from None

    def _keys(self, tool: Tool[Any], view: View, question: Question[Any]) -> "Keys":
        """What a question in a view is known by; for paging, in the contract's words."""
        name = (tool.info.name, question.fields)
        if not tool.info.repeatable:
            own: Hashable = next(self._numbers)  # of nobody else's
        else:
            own = self.engines.identity(question.uri)
        if not tool.info.paged:
            return Keys((name, view.roots_key, view.epochs.select(tool.info.epochs), own))
        known = self._known.get(name)
        if known is None:
            request = keys.request_key(tool.info.name, *question.fields)
            known = (request, view.snapshot_key(request, tool.info.epochs))
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            self._known[name] = known
        return Keys((known[1], own), *known)

    async def _shown(self, asked: "Asked") -> EncodedPage:
        if asked.tool.info.family == "code":
            return await self._text(asked)
        return await (self._page(asked) if asked.tool.info.paged else self._whole(asked))

    async def _text(self, asked: "Asked") -> EncodedPage:
        """A page of an answer in words, or all of it as data."""
        page = wanted(asked.question.arguments.page)
        # Half of the room is enough however many characters JSON has to escape.
        size = min(asked.question.budget or asked.aim, asked.aim, asked.room // 2)
        key = (asked.key, page, size, asked.caller.data)
        remembered = self.answers.get(key)
        if remembered is not None:
            return EncodedPage(*remembered)
        said = self._said.get(asked.key) or await self._share(asked)
        if asked.caller.data:
            found = EncodedPage(_encoder.encode(said.data), "")
        else:
            view, tool = asked.view, asked.tool.info
            state = view.snapshot_key(tool.name, tool.epochs)
            digest = digest_of(*map(repr, asked.question.fields), state, size)
            found = EncodedPage(page_of_text(said.sections, page, size, digest).encode(), "")
        self.answers.put(key, *found)
        return found

    async def _page(self, asked: "Asked") -> EncodedPage:
        """A page of a retained set, which the first page makes."""
        arguments = asked.question.arguments
        if arguments.cursor is None:
            result = self._kept(asked.snapshot) or await self._share(asked)
            start = Cursor(0, asked.request, _bound(asked.snapshot, result))
        else:
            start = cursors.decode(arguments.cursor, asked.request)
            if start.snapshot not in (asked.snapshot, keys.preliminary_key(asked.snapshot)):
                raise CursorStale
            result = self.retained.require(start.snapshot)
        size = arguments.pageSize or asked.tool.info.page_size
        size = min(size, self.settings.max_items_per_page)
        budget = min(asked.question.budget or asked.aim, asked.aim)
        cut = (start.offset, size, budget, asked.caller.options.content, asked.caller.revision)
        if result.last is not None and result.last[0] == cut:
            return EncodedPage(*result.last[1:])
        if result.waits_for(start.offset, size):
            await asyncio.to_thread(result.prepare, start.offset, size)
        try:
            page = page_of(
                result,
                start,
                size,
                lambda page: len(page.payload) <= budget and asked.fits(page),
            )
        except TooLarge:
            if budget < asked.aim:
                raise  # the caller's own wish
            # One item that is more than a client shows is still an answer.
            page = page_of(result, start, 1, lambda page: len(asked.wrap(page)) <= asked.room)
        result.last = (cut, *page)
        return page

    def _kept(self, snapshot: str) -> RetainedSet | None:
        """The list that a first page is cut from, if it is there and no better one can be had."""
        for key in (snapshot, keys.preliminary_key(snapshot)):
            found = self.retained.find(key)
            if found is not None and found.holds():
                return found
        return None

    async def _whole(self, asked: "Asked") -> EncodedPage:
        """An unpaged payload, remembered as it was fitted for this kind of client."""
        if not asked.tool.info.repeatable:
            return fit(await self._share(asked), asked)
        key = asked.answer_key
        remembered = self.answers.get(key)
        if remembered is not None:
            return EncodedPage(*remembered)
        page = fit(await self._share(asked), asked)
        self.answers.put(key, page.payload, page.summary)
        return page

    def _recently(self, asked: "Asked", typed: msgspec.Struct, result: bytes) -> Recently:
        """An answer for those who ask the same again in the same words."""
        paged, snapshot, key = asked.tool.info.paged, asked.snapshot, asked.answer_key

        def is_kept() -> bool:
            found = self.retained.find(snapshot) if paged else self.answers.get(key)
            return found is not None

        notes, spelled = asked.question.notes, getattr(typed, "uri", "")
        document = notes if isinstance(notes, SourceFile) else None
        return Recently(typed, asked.view, document, spelled, is_kept, result)

    async def _share(self, asked: "Asked") -> Any:  # noqa: ANN401 - RetainedSet, Whole or Said, by tool
        """The full answer, computed once for everybody who asks the same now."""

        async def compute() -> RetainedSet | Whole | Said:
            desk = self.engines.desk(asked.view, asked.caller.progress)
            answer = await asked.tool.answer(desk, asked.question)
            if isinstance(answer, Said):
                self._said.put(asked.key, answer)
                return answer
            if not isinstance(answer, Paged):
                if self.clock() > asked.deadline and asked.tool.info.repeatable:
                    # Nobody may wait any more; whoever was told to retry finds it.
                    page = fit(answer, asked)
                    self.answers.put(asked.answer_key, page.payload, page.summary)
                return answer
            kept = RetainedSet.of(answer)
            self.retained.keep(_bound(asked.snapshot, kept), kept)
            return kept

        return await self._flights.join(
            asked.key,
            compute,
            seconds=asked.deadline - self.clock(),
            goes_on=asked.caps.goes_on,
        )

    def _retire(self, view: View) -> None:
        """Unattended work on an older state of the workspace is of no use to anybody."""
        if view is not self._newest:
            self._newest = view
            self._known.clear()
            self._said.clear()
            self._recent.clear()
            self._flights.abandon()


class Keys(NamedTuple):
    """What a question is known by, in one state of the workspace."""

    #: Within this process.
    key: Hashable
    #: What its cursors are bound to, where it is paged.
    request: str = ""
    snapshot: str = ""


class Asked(NamedTuple):
    """One question of one caller in one state, and everything its answer is measured by."""

    tool: Tool[Any]
    view: View
    question: Question[Any]
    caller: Caller
    caps: families.Limits
    deadline: float
    #: How many bytes the result may take.
    room: int
    #: How many bytes the payload should take, where it can be made shorter.
    aim: int
    key: Hashable
    request: str
    snapshot: str

    @property
    def answer_key(self) -> Hashable:
        """What an unpaged answer is remembered by."""
        return (self.key, self.caller.options.content, self.aim)

    def fits(self, page: EncodedPage) -> bool:
        if len(page.payload) > self.aim:
            return False
        # A text that repeats the payload takes at most six bytes for one of it.
        return 8 * len(page.payload) < self.room or len(self.wrap(page)) <= self.room

    def wrap(self, page: EncodedPage) -> bytes:
        return families.succeeded(
            self.tool.info.family,
            page.payload,
            page.summary,
            content=self.caller.options.content,
            revision=self.caller.revision,
        )


def fit(whole: Whole, asked: Asked) -> EncodedPage:
    """The payload, shortened where the client shows less, or where the cap may cut it.

    A list that is over the cap stays as it is, and is refused.
    """
    page = _encoded(whole.payload)
    may_cut = whole.cut_to_cap or asked.aim < asked.room
    if whole.shorten is None or not may_cut or asked.fits(page):
        return page
    # How much the envelope adds depends on the text (a mirror escapes what it repeats), so the
    # longest payload that fits is searched for.
    page = _encoded(whole.shorten(0))
    fits, too_long = 0, asked.room + 1
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        longer = _encoded(whole.shorten(middle))
        if asked.fits(longer):
            fits, page = middle, longer
        else:
            too_long = middle
    return page


def _bound(snapshot: str, result: RetainedSet) -> str:
    """What the cursors of a result set are bound to."""
    return keys.preliminary_key(snapshot) if result.preliminary else snapshot


def _asker(tool: Tool[Any], caller: Caller) -> tuple[Hashable, ...]:
    """What besides the arguments decides the bytes of a result."""
    return (tool.info.name, caller.options, caller.revision)


def underscored(name: str) -> str:
    """A tool's name for clients that cannot take dots."""
    return name.replace(".", "_")


def _refusal(tool: Tool[Any], invalid: InvalidArguments) -> Failure:
    """The failure that a tool has for all that is wrong with its arguments, if there is one."""
    issues: Any = invalid.details.get("issues", [])
    kinds = {tool.info.refusals.get((issue["path"], issue["keyword"])) for issue in issues}
    kind = kinds.pop() if len(kinds) == 1 else None
    return invalid if kind is None else kind()


def _encoded(payload: msgspec.Struct | bytes) -> EncodedPage:
    if isinstance(payload, bytes):
        return EncodedPage(payload, "")
    told: str = getattr(payload, "summary", "")
    summary = cut_sentences(told, limits.MAX_SUMMARY_CODE_POINTS)
    if summary != told:
        payload = msgspec.structs.replace(payload, summary=summary)
    return EncodedPage(_encoder.encode(payload), summary)


def _disk_is_full(error: BaseException | None) -> bool:
    """Whether this is why it happened. That is no bug, and its cure can be named."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        error = error.__cause__ or error.__context__
    return False
