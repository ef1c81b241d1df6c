"""The stdio transport: one message per line, one client, nothing else on standard output.

A line that is not a message is answered, a line over 1 MiB is drained and answered once. The
server ends when its input ends, when nobody reads its output, or when its parent is gone.
"""

import asyncio
import contextlib
import os
import stat
from collections.abc import Callable
from typing import cast

from sightline.contract.limits import MAX_REQUEST_BYTES
from sightline.protocol import jsonrpc
from sightline.protocol.jsonrpc import Error, Fault, Malformed
from sightline.protocol.revisions import STDIO_REVISIONS
from sightline.protocol.session import Cancel, Effect, Phase, Profile, Send, Session, Start
from sightline.protocol.surface import Surface
from sightline.server.running import Runner

__all__ = ["Input", "StdioServer"]

PROFILE = Profile(STDIO_REVISIONS, needs_initialized=False, answers_cancelled=False)

_CHUNK = 1 << 16
_PARENT_CHECK_S = 0.5
#: How long calls may still run after the end of input, while somebody reads the answers.
_LAST_CALLS_S = 10.0
_MESSAGES = {Fault.PARSE: "Parse error", Fault.INVALID: "Invalid Request"}


class StdioServer:
    def __init__(
        self,
        surface: Surface,
        runner: Runner,
        clock: Callable[[], float],
        bug: Callable[[BaseException], None],
        initialized: Callable[[], None] = lambda: None,
    ) -> None:
        self._session = Session(surface, PROFILE)
        self._runner = runner
        self._clock = clock
        self._bug = bug
        #: Told once, after ``initialize`` was answered: now there is time to prepare.
        self._initialized: Callable[[], None] | None = initialized
        self._input = Input(self._take)
        self._output: Output | None = None

    @property
    def client(self) -> str:
        return self._session.client

    async def serve(self, read_fd: int, write_fd: int) -> None:
        """Serves one client until it is gone."""
        self._output = Output(write_fd, self._input)
        await self._output.open()
        reading = asyncio.create_task(self._input.read(read_fd), name="stdio reader")
        leaving = [
            asyncio.create_task(self._output.reader_gone(), name="stdio writer"),
            asyncio.create_task(_parent_gone(), name="stdio parent"),
        ]
        try:
            await asyncio.wait({reading, *leaving}, return_when=asyncio.FIRST_COMPLETED)
            if reading.done() and not any(task.done() for task in leaving):
                drained = asyncio.create_task(self._runner.drain(_LAST_CALLS_S))
                await asyncio.wait({drained, *leaving}, return_when=asyncio.FIRST_COMPLETED)
                drained.cancel()
        finally:
            for task in (reading, *leaving):
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await reading
            await self._output.close()

    def _take(self, line: bytes | None) -> None:
        if line is None:
            self._answer_malformed(Malformed(Fault.PARSE))
        elif line.strip(b" \t\r"):
            self._line(line)

    def _line(self, line: bytes) -> None:
        arrived = self._clock()
        try:
            effects = self._session.receive(jsonrpc.read(line))
        except Malformed as malformed:
            self._answer_malformed(malformed)
            return
        except Exception as error:  # the top level of a message: one bad line ends no conversation
            self._bug(error)
            self._say(jsonrpc.error_bytes(None, Error(jsonrpc.INTERNAL_ERROR, "Internal error")))
            return
        for effect in effects:
            self._carry_out(effect, arrived)
        if self._initialized is not None and self._session.phase is not Phase.NEW:
            asyncio.get_running_loop().call_soon(self._initialized)
            self._initialized = None

    def _carry_out(self, effect: Effect, arrived: float) -> None:
        match effect:
            case Send(body):
                self._say(body)
            case Start(call):
                known = self._runner.now(self._session, call, arrived=arrived)
                if known is not None:
                    self._say(known)
                    return
                self._runner.start(
                    self._session, call, arrived=arrived, progress=self._say, answer=self._say
                )
            case Cancel(call):
                self._runner.cancel(call)
            case _:
                pass  # a notification is never answered

    def _answer_malformed(self, malformed: Malformed) -> None:
        error = Error(malformed.fault.value, _MESSAGES[malformed.fault])
        self._say(jsonrpc.error_bytes(malformed.id, error))

    def _say(self, body: bytes) -> None:
        assert self._output is not None
        self._output.write(body + b"\n")


class Input(asyncio.Protocol):
    """Standard input: its lines without their ends; ``None`` for one that is too long.

    Lines are taken as they come, unless they are held because nobody reads the answers.
    """

    def __init__(
        self, take: Callable[[bytes | None], None], limit: int = MAX_REQUEST_BYTES
    ) -> None:
        self._take = take
        self._limit = limit
        self._buffer = bytearray()
        self._skipping = False
        self._transport: asyncio.ReadTransport | None = None
        self._flows = asyncio.Event()
        self._flows.set()
        self._ended = asyncio.Event()

    async def read(self, descriptor: int) -> None:
        """Takes every line until the input ends."""
        if not _is_pollable(descriptor):
            # A file, or /dev/null: the system cannot tell when there is something to read.
            while chunk := await asyncio.to_thread(os.read, descriptor, _CHUNK):
                self.data_received(chunk)
                await self._flows.wait()
            await self._finish()
            return
        source = os.fdopen(descriptor, "rb", buffering=0, closefd=False)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: self, source)
        try:
            await self._ended.wait()
            await self._finish()
        finally:
            transport.close()

    def hold(self) -> None:
        self._flows.clear()
        if self._transport is not None and not self._transport.is_closing():
            self._transport.pause_reading()

    def go_on(self) -> None:
        self._flows.set()
        self._hand_on()
        if not self._flows.is_set():
            return
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.ReadTransport", transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._hand_on()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._ended.set()

    def _hand_on(self) -> None:
        buffer = self._buffer
        while self._flows.is_set() and (end := buffer.find(b"\n")) >= 0:
            line = bytes(buffer[:end]).removesuffix(b"\r")
            del buffer[: end + 1]
            if self._skipping:
                self._skipping = False
            else:
                self._take(line if len(line) <= self._limit else None)
        if len(buffer) > self._limit + buffer.endswith(b"\r") and b"\n" not in buffer:
            if not self._skipping:
                self._take(None)
            self._skipping = True
            buffer.clear()

    async def _finish(self) -> None:
        """Hands on what is left. What has no end is a line too."""
        while b"\n" in self._buffer:
            await self._flows.wait()
            self._hand_on()
        if self._buffer and not self._skipping:
            self._take(bytes(self._buffer))


def _is_pollable(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


class Output(asyncio.BaseProtocol):
    """Standard output: written in order, never blocking the loop where the system allows.

    While more is waiting to be read than should be, the input is held.
    """

    def __init__(self, descriptor: int, held: Input) -> None:
        self._descriptor = descriptor
        self._held = held
        self._transport: asyncio.WriteTransport | None = None
        self._gone = asyncio.Event()

    async def open(self) -> None:
        mode = os.fstat(self._descriptor).st_mode
        if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
            return  # a file or a terminal: plain writes
        sink = os.fdopen(self._descriptor, "wb", buffering=0, closefd=False)
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.connect_write_pipe(lambda: self, sink)

    def write(self, data: bytes) -> None:
        if self._transport is not None:
            if not self._transport.is_closing():
                self._transport.write(data)
            return
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError:
            self._gone.set()

    def pause_writing(self) -> None:
        self._held.hold()

    def resume_writing(self) -> None:
        self._held.go_on()

    def connection_lost(self, exc: Exception | None) -> None:
        self._gone.set()

    async def reader_gone(self) -> None:
        await self._gone.wait()

    async def close(self) -> None:
        if self._transport is not None and not self._gone.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1):
                    self._transport.close()
                    await self._gone.wait()


async def _parent_gone() -> None:
    """Returns when the process that started us has ended without closing our input."""
    parent = os.getppid()
    while os.getppid() == parent:  # noqa: ASYNC110 - the kernel offers no event for this
        await asyncio.sleep(_PARENT_CHECK_S)
