"""Starting a child tree and ending it.

``spawn`` is the only way to start a process and ``Child.end`` the only way to end one. On POSIX a
keeper (see keeper.py) stands between; on Windows a job object does its work (see windows.py).
"""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from asyncio.subprocess import Process
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sightline.contract.limits import TERMINATE_GRACE_MS
from sightline.process.allowed import Allowed
from sightline.process.keeper import descendants, order, send
from sightline.process.pipes import Pipes, start_piped
from sightline.process.strays import MARK, Group, end_strays, find_strays

__all__ = ["Child", "StartFailed", "spawn"]

_KEEPER = Path(__file__).with_name("keeper.py")
#: A script would be compiled at every start; a module is compiled once.
_RUN_KEEPER = (
    "import sys; sys.path.insert(0, sys.argv[1]); import keeper, landlock; del sys.path[0]; "
    "sys.exit(keeper.main(sys.argv[3:], landlock.enclose))"
)
#: The keeper's grace and its rounds of killing, and a little for a busy machine.
_END_LIMIT_S = TERMINATE_GRACE_MS / 1000 + 3.0
_FORCE_ROUNDS = 20
STREAM_LIMIT = 1 << 20
_ANYTHING = Allowed()


class StartFailed(Exception):
    """The command could not be started. The text names the cause, not the path."""


class Child:
    """One running child tree."""

    def __init__(
        self, pid: int, process: Process, pipes: Pipes, control: socket.socket, mark: str = ""
    ) -> None:
        self.pid = pid
        self._group = Group.of(pid)
        self._process = process
        self._pipes = pipes
        self._control = control
        #: What every process of the tree has in its environment.
        self._mark = mark
        #: The most memory that the command had, once it has ended, and how much it may have.
        self._peak = self._memory = 0
        self._gone: asyncio.Task[int] | None = None
        self._ending: asyncio.Task[bool] | None = None

    @property
    def stdin(self) -> asyncio.StreamWriter:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def ended(self) -> bool:
        return self._process.returncode is not None

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    @property
    def stdout(self) -> asyncio.StreamReader:
        """What the child says, for whoever reads it."""
        return self._pipes.read()

    def listen(self, heard: Callable[[bytes], None], ended: Callable[[], None]) -> None:
        """What the child says, handed over as it comes, in place of ``stdout``."""
        self._pipes.listen(heard, ended)

    def stderr_tail(self) -> str:
        """The last of what the child said on its standard error."""
        return bytes(self._pipes.tail).decode(errors="replace")

    @property
    def out_of_memory(self) -> bool:
        """Whether it complained that the system gives it no more memory, or had nearly all that it
        may: some end without a word.
        """
        return self._pipes.out_of_memory or bool(self._memory and 4 * self._peak > 3 * self._memory)

    async def wait(self) -> int:
        """The exit status, when the whole tree is gone."""
        if self._gone is None:
            self._gone = asyncio.create_task(self._wait(), name=f"wait for child {self.pid}")
        return await asyncio.shield(self._gone)

    async def end(self) -> bool:
        """Ends the tree: TERM, two seconds, KILL. Whether nothing is left. Safe to call twice."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end(), name=f"end child {self.pid}")
        return await asyncio.shield(self._ending)

    async def _wait(self) -> int:
        """The control socket tells when the keeper is gone.

        The process alone would not: asyncio waits for the ends of its pipes too, and if the keeper
        was killed, what it kept still holds them. That is ours to end then.
        """
        try:
            with contextlib.suppress(ConnectionError):
                self._peak = await self._took()
        finally:
            self._control.close()
        with contextlib.suppress(OSError):  # nothing can be looked at: too many files are open, say
            await self._end_strays()
        return await self._process.wait()

    async def _end_strays(self) -> None:
        """On a thread of its own: those that the loop shares may all be taken, for minutes."""
        thread = ThreadPoolExecutor(1, thread_name_prefix="strays")
        try:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(thread, end_strays, self._mark, self._group)
        finally:
            thread.shutdown(wait=False)

    async def _took(self) -> int:
        """The most memory that the command had, in bytes, when its keeper is gone; 0: unknown."""
        loop, told = asyncio.get_running_loop(), b""
        while piece := await loop.sock_recv(self._control, 64):
            told += piece
        number = told.strip().removeprefix(b"took ")
        return int(number) << 10 if number.isdigit() else 0

    async def _end(self) -> bool:
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)  # the keeper sees this and ends the tree
        with contextlib.suppress(OSError):
            self.stdin.close()
        try:
            async with asyncio.timeout(_END_LIMIT_S):
                await self.wait()
        except TimeoutError:
            self._force()
            await self.wait()
        finally:
            # A pipe with unread data would stay open: asyncio closes it with its transport only.
            self._process._transport.close()  # type: ignore[attr-defined]
        try:
            return not find_strays(self._mark, self._group)
        except OSError:
            return False  # nobody knows

    def _force(self) -> None:
        """The keeper itself does not end: what it keeps is killed, while it can be told by it."""
        with contextlib.suppress(OSError):  # nothing can be looked at
            for _ in range(_FORCE_ROUNDS):  # what is killed may have started something before
                below = [] if self.ended else descendants(self._process.pid)
                for pid in below:
                    send(pid, signal.SIGKILL)
                if not below:
                    break
        with contextlib.suppress(ProcessLookupError, PermissionError):
            self._process.kill()


class Keeper:
    """A keeper that runs and waits for the command it is to keep."""

    def __init__(self, process: Process, pipes: Pipes, control: socket.socket, mark: str) -> None:
        self._process = process
        self._pipes = pipes
        self._control = control
        self._mark = mark

    @classmethod
    async def start(cls, limit: int) -> "Keeper":
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:
            raise StartFailed(error.strerror or "the process could not be started") from None
        mark = os.urandom(8).hex()
        # A keeper needs nothing of our environment. Its home tells people whose it is.
        whose = {"HOME": os.environ["HOME"]} if "HOME" in os.environ else {}
        try:
            process, pipes = await start_piped(
                [
                    *(sys.executable, "-I", "-S", "-c", _RUN_KEEPER),
                    *(str(_KEEPER.parent), str(_KEEPER), str(theirs.fileno())),
                ],
                limit,
                env=whose | {MARK: mark},
                pass_fds=(theirs.fileno(),),
            )
        except OSError as error:
            ours.close()
            raise StartFailed(error.strerror or "the process could not be started") from None
        except BaseException:  # cancelled: asyncio has killed the keeper, wherever it was
            ours.close()
            raise
        finally:
            theirs.close()
        ours.setblocking(False)
        return cls(process, pipes, ours, mark)

    async def run(
        self, command: Sequence[str], *, cwd: str, env: Mapping[str, str], allowed: Allowed
    ) -> Child:
        """The child tree of a command. A keeper keeps one."""
        told = order(command, cwd, {**env, MARK: self._mark}, allowed.rules())
        try:
            pid = await self._started(told)
        except BaseException:
            await self.dismiss()
            raise
        child = Child(pid, self._process, self._pipes, self._control, self._mark)
        child._memory = allowed.memory
        child._gone = asyncio.create_task(child._wait(), name=f"wait for child {pid}")
        return child

    async def dismiss(self) -> None:
        """Waits for its end: a keeper that started nothing ends by itself, one that did ends that
        first.
        """
        self._control.close()
        assert self._process.stdin is not None
        self._process.stdin.close()
        with contextlib.suppress(ConnectionError):
            await self._process.communicate()

    async def _started(self, told: bytes) -> int:
        loop = asyncio.get_running_loop()
        answer = b""
        with contextlib.suppress(ConnectionError):
            await loop.sock_sendall(self._control, told)
            answer = await loop.sock_recv(self._control, 64)
        # One that ended at once may have said more.
        word, _, number = answer.partition(b"\n")[0].decode().partition(" ")
        if word == "started":
            return int(number)
        raise StartFailed(os.strerror(int(number)) if number.isdigit() else "it ended at once")


async def spawn(
    command: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    limit: int = STREAM_LIMIT,
    allowed: Allowed = _ANYTHING,
) -> Child:
    """Starts ``command`` without a shell, in a process group of its own, under a keeper. What is
    not ``allowed`` is refused by the kernel, where it can (see landlock.py).
    """
    if sys.platform == "win32":
        from sightline.process.windows import spawn_windows

        return await spawn_windows(command, cwd=cwd, env=env, limit=limit)
    return await (await Keeper.start(limit)).run(command, cwd=cwd, env=env, allowed=allowed)
