"""The pipes of a child: its output for a reader or a listener, and what it complains of.

A reader has to wake a task for every piece that comes; a listener is called with it.
"""

import asyncio
import os
import re
from asyncio.subprocess import PIPE, Process, SubprocessStreamProtocol
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["Pipes", "start_piped"]

_STDOUT = 1
_STDERR_TAIL = 4_096
#: What runtimes say when the system gives them no more memory: Go, Rust, C++, Node and the C
#: library, Java.
_NO_MEMORY = re.compile(
    rb"out of memory|memory allocation of \d+ bytes failed|bad_alloc|annot allocate memory"
    rb"|OutOfMemoryError|nsufficient memory|failed to create new OS thread",
    re.IGNORECASE,
)
_LONGEST = 64
#: Pairs of descriptors that a start takes: three pipes, one for the error of an exec, one to spare.
_PAIRS = 5


class Pipes(SubprocessStreamProtocol):
    def __init__(self, limit: int) -> None:
        super().__init__(limit, asyncio.get_running_loop())
        self.tail = bytearray()
        #: Whether it complained that there is no more memory. The tail may not have that any more:
        #: runtimes tell at length where they were.
        self.out_of_memory = False
        #: What came before anybody wanted it.
        self._early: list[bytes] | None = []
        self._ended = False
        self._listener: tuple[Callable[[bytes], None], Callable[[], None]] | None = None

    def read(self) -> asyncio.StreamReader:
        early, self._early = self._early or [], None
        for piece in early:
            super().pipe_data_received(_STDOUT, piece)
        assert self.stdout is not None
        return self.stdout

    def listen(self, heard: Callable[[bytes], None], ended: Callable[[], None]) -> None:
        early, self._early = self._early or [], None
        self._listener = (heard, ended)
        for piece in early:
            heard(piece)
        if self._ended:
            ended()

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        assert isinstance(data, bytes)
        if fd != _STDOUT:
            seen = bytes(self.tail[-_LONGEST:]) + data
            self.out_of_memory = self.out_of_memory or _NO_MEMORY.search(seen) is not None
            self.tail += data
            del self.tail[:-_STDERR_TAIL]
        elif self._listener is not None:
            self._listener[0](data)
        elif self._early is not None:
            self._early.append(data)
        else:
            super().pipe_data_received(fd, data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == _STDOUT and not self._ended:
            self._ended = True
            if self._listener is not None:
                self._listener[1]()
        super().pipe_connection_lost(fd, exc)


async def start_piped(
    command: Sequence[str],
    limit: int,
    **options: Any,  # noqa: ANN401 - whatever the system's way of starting takes
) -> tuple[Process, Pipes]:
    """A started command. ``limit``: how long a line a reader takes.

    Raises ``OSError`` where too few descriptors are left. uvloop would keep half of a process that
    it could not start for want of one, and its loop would then never close.
    """
    _check_room()
    loop = asyncio.get_running_loop()
    transport, pipes = await loop.subprocess_exec(
        lambda: Pipes(limit), *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, **options
    )
    return Process(transport, pipes, loop), pipes


def _check_room() -> None:
    made: list[int] = []
    try:
        for _ in range(_PAIRS):
            made += os.pipe()
    finally:
        for descriptor in made:
            os.close(descriptor)
