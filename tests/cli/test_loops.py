"""What fails in a loop while nobody waits for it is in the log, and shows nothing of anybody."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.watching import HANG_S

#: A task, a callback and a protocol that fail, and a plain word of a loop without an exception.
FAILING = """
import asyncio, gc, os, sys
from sightline.cli.loops import {runner}

class Reader(asyncio.Protocol):
    def __init__(self):
        self.gone = asyncio.get_running_loop().create_future()

    def data_received(self, data):
        raise LookupError(sys.argv[1])

    def connection_lost(self, error):
        self.gone.set_result(None)

async def fail():
    raise ValueError(sys.argv[1])

def failing():
    raise KeyError(sys.argv[1])

async def work():
    loop = asyncio.get_running_loop()
    task = loop.create_task(fail(), name=sys.argv[1])
    await asyncio.wait([task])
    del task
    gc.collect()
    loop.call_soon(failing)
    there, here = os.pipe()
    os.write(here, b"x")
    _, reader = await loop.connect_read_pipe(Reader, os.fdopen(there, "rb"))
    os.close(here)
    await reader.gone
    loop.call_exception_handler(dict(message="lost " + sys.argv[1]))

with {runner}() as runner:
    runner.run(work())
"""


@pytest.mark.requirement("GA-safe-logs")
@pytest.mark.parametrize("runner", ["loop_runner", "plain_runner"])
def test_what_nobody_waits_for(tmp_path: Path, runner: str) -> None:
    secret = tmp_path / "somebody" / "plan.txt"
    done = subprocess.run(
        [sys.executable, "-c", FAILING.format(runner=runner), str(secret)],
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=True,
    )
    assert "somebody" not in done.stderr and str(tmp_path) not in done.stderr
    entries = [json.loads(line) for line in done.stderr.splitlines()]
    assert [entry.get("type", entry.get("message")) for entry in entries] == [
        "ValueError",
        "KeyError",
        "LookupError",
        "lost plan.txt",
    ]
