"""The path of a call, from its name and arguments to its outcome.

The deadline starts when the message was complete and includes queueing; it is set here and nowhere
below. Every failure below is a ``Failure``; anything else is a bug, which is logged and answered
without a word of what it was.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

import msgspec

from sightline.calls import families
from sightline.calls.flights import Flights, OutOfTime
from sightline.calls.memory import AnswerCache, Retained, RetainedSet
from sightline.calls.pages import EncodedPage, page_of
from sightline.calls.validate import Validator
from sightline.contract import cursors, keys, limits
from sightline.contract.cursors import Cursor
from sightline.contract.failures import (
    Bug,
    Cancelled,
    CursorStale,
    Failure,
    InvalidArguments,
    Overloaded,
    TimedOut,
    TooLarge,
    UnknownTool,
)
from sightline.contract.settings import Settings
from sightline.protocol.revisions import Revision
from sightline.protocol.session import Outcome
from sightline.protocol.surface import ClientOptions
from sightline.tools.tool import Desk, Paged, Progress, Question, Tool, Whole, silent
from sightline.workspace.gate import Gate
from sightline.workspace.roots import RootSet
from sightline.workspace.view import Epochs, View

__all__ = ["Caller", "Calls", "Engines", "Finished", "Record", "underscored"]

_encode = msgspec.json.Encoder().encode


class Caller(NamedTuple):
    """Who asks, and how the answer should look."""

    options: ClientOptions
    revision: Revision
    progress: Progress = silent


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


@dataclass(frozen=True)
class Engines:
    """What calls run on: how to begin a view, and what answers."""

    begin: Callable[[], Awaitable[View]]
    desk: Callable[[View, Progress], Desk]
    #: What else than the view decides an answer: server versions and settings.
    identity: Callable[[str | None], str]
    #: What a caller that runs out of time was waiting for, in constant words.
    waiting_for: Callable[[], str]


@dataclass
class Calls:
    catalogue: Sequence[Tool[Any]]
    engines: Engines
    settings: Settings
    clock: Callable[[], float]
    bug: Callable[[BaseException], None]
    finished: Callable[[Record], None] = lambda record: None
    context_timeout_ms: int = limits.CONTEXT_TIMEOUT_MS
    in_flight: int = 0
    _flights: Flights[Any] = field(default_factory=Flights)

    def __post_init__(self) -> None:
        self.retained = Retained(self.clock)
        self.answers = AnswerCache(self.clock)
        self._by_name = {tool.info.name: tool for tool in self.catalogue}
        self._by_underscore = {underscored(name): tool for name, tool in self._by_name.items()}
        self._validators: dict[str, Validator] = {}
        self._newest: View | None = None
        #: What tools see that do not look at the workspace.
        self._nowhere = View(Gate(RootSet.of(())), Epochs(0, 0, 0, 0), "")
        self._numbers = count()

    async def run(
        self, name: str, arguments: dict[str, Any], caller: Caller, *, arrived: float
    ) -> Finished:
        """The one terminal outcome of a call. It never raises; a cancelled call has one too."""
        try:
            tool = self._find(name, caller)
        except UnknownTool as unknown:
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
        except Exception as error:  # the top level: whatever reaches it is ours to answer for
            self.bug(error)
            failure = Bug()
        finally:
            self.in_flight -= 1
        word = "ok" if failure is None else type(failure).__name__
        self.finished(Record(tool.info.name, word, (self.clock() - arrived) * 1000, len(result)))
        if failure is not None:
            return Finished(families.failed(tool.info.family, failure), failure)
        return Finished(msgspec.Raw(result), None)

    async def close(self) -> None:
        await self._flights.close()

    # The steps

    def _find(self, name: str, caller: Caller) -> Tool[Any]:
        names = self._by_underscore if caller.options.tool_names == "underscore" else self._by_name
        if name not in names:
            raise UnknownTool
        return names[name]

    def _limits(self, tool: Tool[Any]) -> families.Limits:
        return families.limits_of(
            tool.info.family,
            tool.info.name,
            request_timeout_ms=self.settings.request_timeout_ms,
            max_response_bytes=self.settings.max_response_bytes,
            context_ms=self.context_timeout_ms,
        )

    async def _answer(
        self, tool: Tool[Any], arguments: dict[str, Any], caller: Caller, arrived: float
    ) -> bytes:
        typed = self._validate(tool, arguments)
        if self.in_flight > limits.MAX_CALLS_IN_FLIGHT:
            raise Overloaded
        caps = self._limits(tool)
        deadline = arrived + caps.timeout_ms / 1000
        try:
            if tool.info.epochs:
                async with asyncio.timeout(max(deadline - self.clock(), 0)):
                    view = await self.engines.begin()
                self._retire(view)
            else:
                view = self._nowhere
            question = tool.ask(view, typed)
            if tool.info.paged:
                page = await self._paged(tool, view, question, caller, caps, deadline)
            else:
                page = await self._whole(tool, view, question, caller, caps, deadline)
        except (TimeoutError, OutOfTime):
            raise self._timed_out(caps) from None
        if self.clock() > deadline:
            raise self._timed_out(caps)
        result = self._wrap(tool, page, caller)
        if len(result) > caps.response_bytes - limits.ENVELOPE_RESERVE_BYTES:
            raise TooLarge
        return result

    def _validate(self, tool: Tool[Any], arguments: dict[str, Any]) -> msgspec.Struct:
        name = tool.info.name
        if name not in self._validators:
            self._validators[name] = Validator(name, tool.arguments)
        try:
            return self._validators[name].check(arguments)
        except InvalidArguments as invalid:
            raise _refusal(tool, invalid) from None

    async def _paged(
        self,
        tool: Tool[Any],
        view: View,
        question: Question[Any],
        caller: Caller,
        caps: families.Limits,
        deadline: float,
    ) -> EncodedPage:
        request = keys.request_key(tool.info.name, *question.fields)
        snapshot = view.snapshot_key(request, tool.info.epochs)
        text = question.arguments.cursor
        if text is None:
            start = Cursor(0, request, snapshot)
            result = self.retained.find(snapshot)
            if result is None:
                key = (snapshot, self.engines.identity(question.uri))
                result = await self._share(tool, view, question, caller, caps, deadline, key)
        else:
            start = cursors.decode(text, request)
            if start.snapshot != snapshot:
                raise CursorStale
            result = self.retained.require(snapshot)
        size = question.arguments.pageSize or limits.DEFAULT_PAGE_SIZE
        room = caps.response_bytes - limits.ENVELOPE_RESERVE_BYTES
        return page_of(
            result,
            start,
            min(size, self.settings.max_items_per_page),
            lambda page: len(self._wrap(tool, page, caller)) <= room,
        )

    async def _whole(
        self,
        tool: Tool[Any],
        view: View,
        question: Question[Any],
        caller: Caller,
        caps: families.Limits,
        deadline: float,
    ) -> EncodedPage:
        request = keys.request_key(tool.info.name, *question.fields)
        snapshot = view.snapshot_key(request, tool.info.epochs)
        if not tool.info.remembered:
            alone = (snapshot, f"call {next(self._numbers)}")
            whole = await self._share(tool, view, question, caller, caps, deadline, alone)
            return self._fit(tool, whole, caller, caps)
        key = (snapshot, self.engines.identity(question.uri), caller.options.content)
        remembered = self.answers.get(key)
        if remembered is not None:
            return EncodedPage(*remembered)
        whole = await self._share(tool, view, question, caller, caps, deadline, key[:2])
        page = self._fit(tool, whole, caller, caps)
        self.answers.put(key, page.payload, page.summary)
        return page

    async def _share(
        self,
        tool: Tool[Any],
        view: View,
        question: Question[Any],
        caller: Caller,
        caps: families.Limits,
        deadline: float,
        key: tuple[str, str],
    ) -> Any:  # noqa: ANN401 - a RetainedSet for paged tools, a Whole for others
        async def compute() -> RetainedSet | Whole:
            answer = await tool.answer(self.engines.desk(view, caller.progress), question)
            if not isinstance(answer, Paged):
                return answer
            items = [_encode(item) for item in answer.items]
            kept = RetainedSet(items, answer.summary, answer.flags)
            self.retained.keep(key[0], kept)
            return kept

        return await self._flights.join(
            key, compute, seconds=deadline - self.clock(), goes_on=caps.goes_on
        )

    def _fit(
        self, tool: Tool[Any], whole: Whole, caller: Caller, caps: families.Limits
    ) -> EncodedPage:
        """The payload, shortened where the tool knows how and the answer would not fit."""
        room = caps.response_bytes - limits.ENVELOPE_RESERVE_BYTES
        page = _page(whole.payload)
        size = len(page.payload)
        while whole.shorten is not None and len(self._wrap(tool, page, caller)) > room and size > 0:
            # A mirrored text escapes what it repeats, so the excess counts more than once.
            size = min(size - 1, size - (len(self._wrap(tool, page, caller)) - room) // 2)
            shorter = _page(whole.shorten(size))
            if shorter.payload == page.payload:
                break
            page = shorter
        return page

    def _wrap(self, tool: Tool[Any], page: EncodedPage, caller: Caller) -> bytes:
        return families.succeeded(
            tool.info.family,
            page.payload,
            page.summary,
            content=caller.options.content,
            revision=caller.revision,
        )

    def _retire(self, view: View) -> None:
        """Unattended work on an older state of the workspace is of no use to anybody."""
        if view is not self._newest:
            self._newest = view
            self._flights.abandon(lambda key: True)

    def _timed_out(self, caps: families.Limits) -> TimedOut:
        details = {"waitingFor": self.engines.waiting_for()} if caps.goes_on else None
        return TimedOut(timeout_ms=caps.timeout_ms, details=details)


def underscored(name: str) -> str:
    """A tool's name for clients that cannot take dots."""
    return name.replace(".", "_")


def _refusal(tool: Tool[Any], invalid: InvalidArguments) -> Failure:
    """The failure that a tool has for all that is wrong with its arguments, if there is one."""
    issues: Any = invalid.details.get("issues", [])
    kinds = {tool.info.refusals.get((issue["path"], issue["keyword"])) for issue in issues}
    kind = kinds.pop() if len(kinds) == 1 else None
    return invalid if kind is None else kind()


def _page(payload: msgspec.Struct | bytes) -> EncodedPage:
    if isinstance(payload, bytes):
        return EncodedPage(payload, "")
    return EncodedPage(_encode(payload), getattr(payload, "summary", ""))
