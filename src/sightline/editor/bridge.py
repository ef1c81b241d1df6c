"""The connection to the editor: questions out, answers and events in, in order.

A question that is cancelled here is cancelled there, and an answer that still comes is dropped.
When the editor's end of the pipe closes, every question fails and ``closed`` is set: the child has
no reason to live on. A message that is not of the bridge ends the connection; nothing is repaired.
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import TypeVar

import msgspec

from sightline.contract.failures import Failure, NotFound, NotReady, TooMany, Unavailable
from sightline.contract.values import Position
from sightline.editor import messages as m
from sightline.editor.pipes import Pipes

__all__ = ["Bridge", "BridgeBroken"]

T = TypeVar("T")

#: Questions under way in the editor at once; the others wait here.
MAX_QUESTIONS = 16

_GONE = "the editor's window is closing"


class BridgeBroken(Exception):
    """The other side does not speak the bridge. The text says where, never what it said."""


class Bridge:
    def __init__(self, pipes: Pipes) -> None:
        self._reader, self._writer, self._source = pipes
        self._waiting: dict[int, asyncio.Future[m.Answer]] = {}
        self._turns = asyncio.Semaphore(MAX_QUESTIONS)
        self._last_id = 0
        self.closed = asyncio.Event()
        #: Why the connection ended, when it was not the editor's wish.
        self.broken: BridgeBroken | None = None

    @property
    def pending(self) -> int:
        return len(self._waiting)

    async def hello(self) -> m.Hello | None:
        """The first message; ``None`` when the editor left without one."""
        line = await self._line()
        if line is None:
            return None
        try:
            first = m.decode(line)
        except msgspec.DecodeError:
            raise BridgeBroken("the first message cannot be read") from None
        if not isinstance(first, m.Hello):
            raise BridgeBroken("the first message is not hello")
        return first

    async def listen(self, event: Callable[[m.FromEditor], None]) -> None:
        """Reads until the editor is gone. ``event`` gets everything that is not an answer."""
        try:
            while (line := await self._line()) is not None:
                self._take(line, event)
        except BridgeBroken as broken:
            self.broken = broken
        finally:
            self.closed.set()
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(NotReady(waiting_for=_GONE))

    def say(self, message: m.ToEditor) -> None:
        if not self._writer.is_closing():
            self._writer.write(m.encode(message))

    async def ask(
        self,
        kind: m.Ask,
        result: type[T],
        *,
        uri: str | None = None,
        position: Position | None = None,
        include_declaration: bool | None = None,
        query: str | None = None,
        uris: list[str] | None = None,
    ) -> T:
        """One question. Its answer is typed, or the failure the editor reports."""
        self._last_id += 1
        question = m.Question(self._last_id, kind, uri, position, include_declaration, query, uris)
        # Catching up with the window is quick and every call needs it: it never stands in line.
        async with self._turns if kind != "sync" else contextlib.nullcontext():
            answer = await self._put(question)
        try:
            return msgspec.json.decode(answer.result, type=result)
        except msgspec.DecodeError:
            raise Unavailable("the editor gave an answer that cannot be used") from None

    async def close(self) -> None:
        self._source.close()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(1):
                self._writer.close()
                await self._writer.wait_closed()

    async def _put(self, question: m.Question) -> m.Answer:
        if self.closed.is_set():
            raise NotReady(waiting_for=_GONE)
        answered: asyncio.Future[m.Answer] = asyncio.get_running_loop().create_future()
        self._waiting[question.id] = answered
        try:
            self.say(question)
            await self._drain()
            return await answered
        except asyncio.CancelledError:
            self.say(m.Cancel(question.id))
            raise
        finally:
            del self._waiting[question.id]

    async def _drain(self) -> None:
        with contextlib.suppress(ConnectionError):
            await self._writer.drain()

    async def _line(self) -> bytes | None:
        """The next line, or ``None`` at the end. A half line at the end is not a message."""
        try:
            return (await self._reader.readuntil(b"\n"))[:-1]
        except asyncio.IncompleteReadError:
            return None
        except asyncio.LimitOverrunError:
            raise BridgeBroken("a message is too large") from None
        except ConnectionError:
            return None

    def _take(self, line: bytes, event: Callable[[m.FromEditor], None]) -> None:
        try:
            message = m.decode(line)
        except msgspec.DecodeError:
            raise BridgeBroken("a message cannot be read") from None
        match message:
            case m.Answer(id=id_):
                future = self._waiting.get(id_)
                if future is not None and not future.done():
                    future.set_result(message)
            case m.FailedAnswer(id=id_):
                future = self._waiting.get(id_)
                if future is not None and not future.done():
                    future.set_exception(_failure(message))
            case m.Hello():
                raise BridgeBroken("hello came twice")
            case _:
                event(message)


def _failure(failed: m.FailedAnswer) -> Failure:
    """What the editor reports, in the words of the contract."""
    reason = m.reason(failed.reason)
    match failed.kind:
        case "notReady":
            return NotReady(waiting_for=reason or "the editor")
        case "notFound":
            return NotFound(reason or None)
        case "tooMany":
            return TooMany(reason or None)
        case "unavailable":
            return Unavailable(reason or None)
    return Unavailable("the editor could not carry out the question; see its output channel")
