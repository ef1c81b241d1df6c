"""The program ends although a thread of it hangs: its client is gone, its children are ended."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.watching import HANG_S

#: A command whose worker waits for a pipe that nobody writes to, and that ends meanwhile.
STUCK = """
import asyncio, sys
from sightline.cli import main
from sightline.cli.loops import {runner}

async def work():
    loop = asyncio.get_running_loop()
    begun = asyncio.Event()

    def read():
        loop.call_soon_threadsafe(begun.set)
        open(sys.argv[1], "rb").read()

    reading = asyncio.create_task(asyncio.to_thread(read))
    await begun.wait()
    reading.cancel()
    print("done")

def dispatch(argv):
    with {runner}() as runner:
        runner.run(work())
    return 5

main._dispatch = dispatch
main.run()
"""


@pytest.mark.parametrize("runner", ["loop_runner", "plain_runner"])
def test_a_thread_that_hangs_is_left_behind(tmp_path: Path, runner: str) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    done = subprocess.run(
        [sys.executable, "-c", STUCK.format(runner=runner), str(pipe)],
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (5, "done\n", "")
