"""The running servers: at most so many, none idle for long, none larger than it may be.

Servers are started when they are first needed. When one more would be too many, the one that was
asked least recently and owes nobody an answer is stopped. A server that nobody asks for a quarter
of an hour is stopped; one whose processes together take more memory than allowed is ended and
started again, and its callers are told why. A server whose root is gone is forgotten at once, and
counts until it has ended: one for the same project begins after that.
"""

import asyncio
import contextlib
import time
from asyncio import FIRST_COMPLETED
from collections.abc import Callable, Iterable

from msgspec import Struct, field

from sightline.contract.failures import Overloaded
from sightline.lsp.server.server import Server
from sightline.process.memory import tree_memory

__all__ = ["Bounds", "Fleet", "Key"]

#: The server's name and its folder.
Key = tuple[str, str]

_ROUND_S = 5.0


class Bounds(Struct, frozen=True):
    servers: int = 16
    memory_mb: int = 4_096
    idle_s: float = 900.0


class Fleet(Struct, eq=False):
    bounds: Bounds = Bounds()
    measure: Callable[[int], int] = tree_memory
    servers: dict[Key, Server] = {}
    _rounds: asyncio.Task[None] | None = None
    _admitting: asyncio.Lock = field(default_factory=asyncio.Lock)
    #: Those that are forgotten, until they have ended.
    _leaving: dict[Server, asyncio.Task[None]] = {}

    async def admit(self, server: Server) -> None:
        """Waits until ``server`` may start; the least recently used one makes room."""
        if self._rounds is None:
            self._rounds = asyncio.create_task(self._watch(), name="language server rounds")
        while before := [end for each, end in self._leaving.items() if _are_of_one(each, server)]:
            await asyncio.wait(before)  # they read and write the same
        async with self._admitting:
            while True:
                others = [s for s in self.servers.values() if s.running and s is not server]
                if len(others) + len(self._leaving) < self.bounds.servers:
                    return
                if self._leaving:
                    await asyncio.wait(self._leaving.values(), return_when=FIRST_COMPLETED)
                    continue
                idle = [s for s in others if s.idle]
                if not idle:
                    raise Overloaded("too many language servers are busy; retry in a moment")
                await min(idle, key=lambda s: s.used).stop()

    def forget(self, keys: Iterable[Key]) -> list[asyncio.Task[None]]:
        """Forgets these servers, and begins to end them."""
        gone = [self.servers.pop(key) for key in list(keys) if key in self.servers]
        return [self._end(server) for server in gone]

    def _end(self, server: Server) -> asyncio.Task[None]:
        end = asyncio.create_task(server.close(), name=f"end {server.name} for good")
        self._leaving[server] = end
        end.add_done_callback(lambda _: self._leaving.pop(server))
        return end

    async def close(self) -> None:
        if self._rounds is not None:
            self._rounds.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._rounds
        self.forget(list(self.servers))
        await asyncio.gather(*self._leaving.values())

    async def round(self) -> None:
        """One look at every server. One that fails keeps nobody from looking at the others."""
        now = time.monotonic()
        for server in list(self.servers.values()):
            try:
                await self._look_at(server, now)
            except Exception as error:  # nobody called, so nobody else would hear of it
                context = {"message": f"a look at {server.name} failed", "exception": error}
                asyncio.get_running_loop().call_exception_handler(context)

    async def _look_at(self, server: Server, now: float) -> None:
        pid = server.pid
        if pid is None:
            return
        if server.idle and now - server.used > self.bounds.idle_s:
            await server.stop()
            return
        server.check_silence()  # who waits for it does not ask again
        if server.pid != pid:
            return
        if await asyncio.to_thread(server.is_mended):
            server.start_over()
            server.launch.ended()
            return
        limit = self.bounds.memory_mb << 20
        if await asyncio.to_thread(self.measure, pid) > limit and server.pid == pid:
            server.exhausted()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_ROUND_S)
            await self.round()


def _are_of_one(server: Server, other: Server) -> bool:
    """Whether two servers are the same for the same project."""
    return (server.name, server.launch.folder) == (other.name, other.launch.folder)
