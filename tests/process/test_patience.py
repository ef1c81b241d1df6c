"""Silence is held against a process only as far as it could have spoken."""

import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from sightline.process.patience import Pulse, starved
from tests.support.watching import HANG_S


@pytest.fixture
def spinning() -> Iterator[int]:
    process = subprocess.Popen([sys.executable, "-I", "-S", "-c", "while True: pass"])
    try:
        deadline = time.monotonic() + HANG_S
        while (pulse := Pulse.of(process.pid)) is None or pulse.processor_s < 0.05:
            assert time.monotonic() < deadline
        yield process.pid
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def sleeping() -> Iterator[int]:
    code = "import sys; print(1, flush=True); sys.stdin.read()"
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None and process.stdin is not None
        process.stdout.readline()
        deadline = time.monotonic() + HANG_S
        while (pulse := Pulse.of(process.pid)) is None or pulse.state != b"S":
            assert time.monotonic() < deadline
        yield process.pid
    finally:
        process.kill()
        process.communicate()


def test_a_process_that_wants_to_work_and_may_not_is_starved(spinning: int) -> None:
    before = Pulse.of(spinning)
    assert starved(before, spinning, 10_000.0), "of so many seconds it had less than half"


def test_a_process_that_works_all_the_time_is_not(spinning: int) -> None:
    before = Pulse.of(spinning)
    assert before is not None
    assert not starved(before._replace(processor_s=before.processor_s - 10), spinning, 10.0)


def test_a_process_that_waits_for_something_else_is_not(sleeping: int) -> None:
    assert not starved(Pulse.of(sleeping), sleeping, 10_000.0)


def test_nothing_is_known_of_a_process_that_is_gone(spinning: int) -> None:
    before = Pulse.of(spinning)
    gone = subprocess.Popen([sys.executable, "-I", "-S", "-c", ""])
    gone.wait()
    assert Pulse.of(gone.pid) is None
    assert not starved(before, gone.pid, 10_000.0)
    assert not starved(None, spinning, 10_000.0)
