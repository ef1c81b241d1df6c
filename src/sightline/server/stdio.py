"""The stdio transport: one message per line, one client, nothing else on standard output.

A line that is not a message is answered, a line over 1 MiB is drained and answered once. The
server ends when its input ends, when nobody reads its output, or when its parent is gone.
"""

import asyncio
import contextlib
import os
import stat
from collections.abc import AsyncIterator, Callable

from sightline.contract.limits import MAX_REQUEST_BYTES
from sightline.protocol import jsonrpc
from sightline.protocol.jsonrpc import Error, Fault, Malformed
from sightline.protocol.revisions import STDIO_REVISIONS
from sightline.protocol.session import Cancel, Effect, Phase, Profile, Send, Session, Start
from sightline.protocol.surface import Surface
from sightline.server.running import Runner

__all__ = ["StdioServer", "lines"]

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
        self._output: Output | None = None

    @property
    def client(self) -> str:
        return self._session.client

    async def serve(self, read_fd: int, write_fd: int) -> None:
        """Serves one client until it is gone."""
        self._output = Output(write_fd)
        await self._output.open()
        reading = asyncio.create_task(self._read(read_fd), name="stdio reader")
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

    async def _read(self, descriptor: int) -> None:
        async for line in lines(descriptor):
            if line is None:
                self._answer_malformed(Malformed(Fault.PARSE))
            elif line.strip(b" \t\r"):
                self._line(line)
            await self._room()

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
                task = self._runner.start(self._session, call, arrived=arrived, progress=self._say)
                task.add_done_callback(self._ended)
            case Cancel(call):
                self._runner.cancel(call)
            case _:
                pass  # a notification is never answered

    def _ended(self, task: "asyncio.Task[bytes | None]") -> None:
        if not task.cancelled() and (body := task.result()) is not None:
            self._say(body)

    def _answer_malformed(self, malformed: Malformed) -> None:
        error = Error(malformed.fault.value, _MESSAGES[malformed.fault])
        self._say(jsonrpc.error_bytes(malformed.id, error))

    def _say(self, body: bytes) -> None:
        assert self._output is not None
        self._output.write(body + b"\n")

    async def _room(self) -> None:
        assert self._output is not None
        await self._output.drain()


async def lines(descriptor: int, limit: int = MAX_REQUEST_BYTES) -> AsyncIterator[bytes | None]:
    """The lines of a stream without their ends; ``None`` for one that is too long."""
    buffer = bytearray()
    skipping = False
    async for chunk in _chunks(descriptor):
        buffer += chunk
        while (end := buffer.find(b"\n")) >= 0:
            line = bytes(buffer[:end])
            del buffer[: end + 1]
            if skipping:
                skipping = False
            else:
                yield line if len(line) <= limit else None
        if len(buffer) > limit:
            if not skipping:
                yield None
            skipping = True
            buffer.clear()
    if buffer and not skipping:
        yield bytes(buffer)


async def _chunks(descriptor: int) -> AsyncIterator[bytes]:
    mode = os.fstat(descriptor).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)):
        # A file, or /dev/null: the system cannot tell when there is something to read.
        while chunk := await asyncio.to_thread(os.read, descriptor, _CHUNK):
            yield chunk
        return
    loop = asyncio.get_running_loop()
    stream = asyncio.StreamReader(limit=_CHUNK)
    source = os.fdopen(descriptor, "rb", buffering=0, closefd=False)
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stream), source
    )
    try:
        while chunk := await stream.read(_CHUNK):
            yield chunk
    finally:
        transport.close()


class Output:
    """Standard output: written in order, never blocking the loop where the system allows."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._writer: asyncio.StreamWriter | None = None
        self._gone = asyncio.Event()

    async def open(self) -> None:
        mode = os.fstat(self._descriptor).st_mode
        if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
            return  # a file or a terminal: plain writes
        loop = asyncio.get_running_loop()
        sink = os.fdopen(self._descriptor, "wb", buffering=0, closefd=False)
        transport, protocol = await loop.connect_write_pipe(lambda: _SinkProtocol(self._gone), sink)
        self._writer = asyncio.StreamWriter(transport, protocol, None, loop)

    def write(self, data: bytes) -> None:
        if self._writer is not None:
            if not self._writer.is_closing():
                self._writer.write(data)
            return
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError:
            self._gone.set()

    async def drain(self) -> None:
        if self._writer is not None:
            with contextlib.suppress(ConnectionError):
                await self._writer.drain()

    async def reader_gone(self) -> None:
        await self._gone.wait()

    async def close(self) -> None:
        if self._writer is not None and not self._gone.is_set():
            with contextlib.suppress(ConnectionError, TimeoutError):
                async with asyncio.timeout(1):
                    self._writer.close()
                    await self._writer.wait_closed()


class _SinkProtocol(asyncio.streams.FlowControlMixin):
    """What a ``StreamWriter`` needs of its protocol, and a word when the reader is gone."""

    def __init__(self, gone: asyncio.Event) -> None:
        super().__init__()
        self._gone = gone
        self._closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._gone.set()
        if not self._closed.done():
            self._closed.set_result(None)

    def _get_close_waiter(self, stream: asyncio.StreamWriter) -> "asyncio.Future[None]":
        return self._closed


async def _parent_gone() -> None:
    """Returns when the process that started us has ended without closing our input."""
    parent = os.getppid()
    while os.getppid() == parent:  # noqa: ASYNC110 - the kernel offers no event for this
        await asyncio.sleep(_PARENT_CHECK_S)
