"""The child's pipes close themselves and nothing else."""

import subprocess
import sys

#: Threads open and close a file while pipes come and go on the loop that the program runs on. The
#: loop may end the process, so it is another one.
_PROGRAM = """
import asyncio, os, sys, threading
from sightline.cli.loops import loop_runner
from sightline.editor.pipes import open_pipes

lost, done = [], threading.Event()

def keep_opening():
    while not done.is_set():
        descriptor = os.open(os.devnull, os.O_RDONLY)
        try:
            os.read(descriptor, 1)
            os.close(descriptor)
        except OSError as error:
            lost.append(error)

async def main():
    for _ in range(400):
        (source, far), (near, sink) = os.pipe(), os.pipe()
        pipes = await open_pipes(source, sink)
        os.close(far)
        assert await pipes.reader.read() == b""
        pipes.source.close()
        pipes.writer.close()
        await pipes.writer.wait_closed()
        os.close(near)

threads = [threading.Thread(target=keep_opening) for _ in range(4)]
for thread in threads:
    thread.start()
try:
    with loop_runner() as runner:
        runner.run(main())
finally:
    done.set()
sys.exit(f"{len(lost)} descriptors of others were closed" if lost else 0)
"""


def test_closing_the_pipes_closes_no_descriptor_of_another_thread() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _PROGRAM], check=False, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 0, ended.stderr
