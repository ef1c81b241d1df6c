"""Windows, with a stand-in for the system's calls. On Windows itself nothing of this has run."""

import asyncio
import struct
import sys
from collections.abc import Callable
from typing import Any

import pytest

from sightline.process import windows
from sightline.process.child import StartFailed
from sightline.process.windows import Job, spawn_windows, taskkill_command
from tests.support.watching import HANG_S


class Kernel:
    """Remembers what was asked, and fails where it is told to."""

    def __init__(self, *failing: str) -> None:
        self.failing = failing
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.information = b""

    def __getattr__(self, name: str) -> Callable[..., int]:
        def call(*arguments: Any) -> int:
            values = tuple(getattr(a, "value", a) for a in arguments)
            if name == "SetInformationJobObject":
                self.information = bytes(arguments[2])
            self.calls.append((name, values))
            return 0 if name in self.failing else {"OpenProcess": 0xABCDEF}.get(name, 0x1234)

        return call

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.calls]


def test_a_job_ends_its_members_with_us() -> None:
    kernel = Kernel()
    Job(kernel)
    assert kernel.names == ["CreateJobObjectW", "SetInformationJobObject"]
    assert kernel.calls[1][1][:2] == (0x1234, 9)
    assert len(kernel.information) == 144
    assert struct.unpack_from("<I", kernel.information, 16) == (0x2000,)
    assert kernel.information.count(0) == 143, "no other limit is set"


def test_a_process_is_put_into_its_job_and_the_handle_closed() -> None:
    kernel = Kernel()
    job = Job(kernel)
    job.take(77)
    assert kernel.calls[2:] == [
        ("OpenProcess", (0x0101, False, 77)),
        ("AssignProcessToJobObject", (0x1234, 0xABCDEF)),
        ("CloseHandle", (0xABCDEF,)),
    ]
    job.close()
    job.close()
    assert kernel.names.count("CloseHandle") == 2, "each handle once"


@pytest.mark.parametrize("failing", ["CreateJobObjectW", "SetInformationJobObject"])
def test_no_job(failing: str) -> None:
    with pytest.raises(StartFailed):
        Job(Kernel(failing))


@pytest.mark.parametrize("failing", ["OpenProcess", "AssignProcessToJobObject"])
async def test_a_process_that_cannot_be_kept_is_ended(
    failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(windows, "taskkill_command", lambda pid, environment: ["/bin/true"])
    kernel = Kernel(failing)
    with pytest.raises(StartFailed, match="job"):
        await spawn_windows(
            [sys.executable, "-c", "input()"], cwd="/", env={}, limit=1 << 16, job=Job(kernel)
        )
    assert kernel.names[-1] == "CloseHandle"


@pytest.mark.requirement("ST-P4.1-taskkill")
def test_taskkill() -> None:
    assert taskkill_command(77, {"SYSTEMROOT": r"D:\WINNT"}) == [
        r"D:\WINNT\System32\taskkill.exe",
        "/PID",
        "77",
        "/T",
        "/F",
    ]
    assert taskkill_command(77, {})[0].startswith("C:\\")


@pytest.mark.requirement("ST-P4.2-already-gone")
@pytest.mark.parametrize("killer", [["/bin/false"], ["/nonexistent/taskkill.exe"]])
async def test_a_taskkill_that_fails_is_no_error(
    killer: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(windows, "taskkill_command", lambda pid, environment: killer)
    kernel = Kernel()
    child = await spawn_windows(
        [sys.executable, "-c", "input()"], cwd="/", env={}, limit=1 << 16, job=Job(kernel)
    )
    assert "AssignProcessToJobObject" in kernel.names
    child.stdin.write(b"\n")  # it ends by itself meanwhile
    assert await asyncio.wait_for(child.end(), HANG_S)
    assert kernel.names[-1] == "CloseHandle"


async def test_a_missing_program_leaves_no_job() -> None:
    kernel = Kernel()
    with pytest.raises(StartFailed):
        await spawn_windows(["/nonexistent"], cwd="/", env={}, limit=1 << 16, job=Job(kernel))
    assert kernel.names[-1] == "CloseHandle"
