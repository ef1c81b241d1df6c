"""Windows: a job object ends the tree with us, and taskkill ends it on demand.

Tested by unit tests with a stand-in for the system calls only; docs/SECURITY.md says so.
"""

import asyncio
import contextlib
import ctypes
import os
import socket
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from sightline.process.child import Child, StartFailed
from sightline.process.pipes import start_piped

__all__ = ["Job", "WindowsChild", "spawn_windows", "taskkill_command"]

_KILL_ON_JOB_CLOSE = 0x2000
_EXTENDED_LIMIT_INFORMATION = 9
_PROCESS_SET_QUOTA_AND_TERMINATE = 0x0101


def taskkill_command(pid: int, environment: Mapping[str, str]) -> list[str]:
    """The whole tree, by force. Windows has no polite signal for a process without a window.

    The program is named by its full path: a bare name would be looked for in the current folder
    first, which may be a workspace.
    """
    system = environment.get("SYSTEMROOT") or r"C:\Windows"
    return [rf"{system}\System32\taskkill.exe", "/PID", str(pid), "/T", "/F"]


def _kernel32() -> Any:  # noqa: ANN401 - a library of the system
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined,unused-ignore]
    for name in ("CreateJobObjectW", "OpenProcess"):
        getattr(kernel, name).restype = ctypes.c_void_p  # a handle is as wide as a pointer
    return kernel


class Job:
    """A job object whose last handle is ours: when it closes, the system ends every member."""

    def __init__(self, kernel: Any | None = None) -> None:  # noqa: ANN401 - kernel32, or a test's
        self._kernel = kernel or _kernel32()
        self._handle = self._kernel.CreateJobObjectW(None, None)
        if not self._handle:
            raise StartFailed("a job object could not be made")
        # JOBOBJECT_EXTENDED_LIMIT_INFORMATION on 64-bit Windows; only LimitFlags is set.
        information = bytearray(144)
        struct.pack_into("<I", information, 16, _KILL_ON_JOB_CLOSE)
        buffer = (ctypes.c_char * len(information)).from_buffer(information)
        done = self._kernel.SetInformationJobObject(
            ctypes.c_void_p(self._handle), _EXTENDED_LIMIT_INFORMATION, buffer, len(information)
        )
        if not done:
            self.close()
            raise StartFailed("a job object could not be set up")

    def take(self, pid: int) -> None:
        """Puts a process, and so its future children, into the job."""
        process = self._kernel.OpenProcess(_PROCESS_SET_QUOTA_AND_TERMINATE, False, pid)
        taken = process and self._kernel.AssignProcessToJobObject(
            ctypes.c_void_p(self._handle), ctypes.c_void_p(process)
        )
        if process:
            self._kernel.CloseHandle(ctypes.c_void_p(process))
        if not taken:
            raise StartFailed("the process could not be put into its job")

    def close(self) -> None:
        """Ends every member. Safe to call twice."""
        handle, self._handle = self._handle, None
        if handle:
            self._kernel.CloseHandle(ctypes.c_void_p(handle))


class WindowsChild(Child):
    """A child in a job."""

    job: Job

    async def _end(self) -> bool:
        with contextlib.suppress(OSError):
            self.stdin.close()
        with contextlib.suppress(OSError):
            killer = await asyncio.create_subprocess_exec(
                *taskkill_command(self.pid, os.environ),
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
            await killer.wait()  # it fails when the process has already ended, which is the aim
        self.job.close()
        await self._process.wait()
        self._control.close()
        return True


async def spawn_windows(
    command: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    limit: int,
    job: Job | None = None,
) -> Child:
    job = job or Job()
    try:
        process, pipes = await start_piped(command, limit, cwd=cwd, env=dict(env))
    except OSError as error:
        job.close()
        raise StartFailed(error.strerror or "the process could not be started") from None
    unused, other = socket.socketpair()
    other.close()
    child = WindowsChild(process.pid, process, pipes, unused)
    child.job = job
    try:
        job.take(process.pid)
    except StartFailed:
        process.kill()
        await child.end()
        raise
    return child
