"""Memory that was given back is there for the next array."""

import platform
import subprocess
import sys

import pytest

COUNT = """
import resource, sys
from sightline.process.allocator import keep_freed_memory
if sys.argv[1] == "keep":
    assert keep_freed_memory()
faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
work = lambda: [b"x" * (2 << 20) for _ in range(8)]
work()
before = faults()
for _ in range(20):
    work()
print(faults() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told")
def test_freed_arrays_are_not_asked_of_the_system_again() -> None:
    def faults(mode: str) -> int:
        done = subprocess.run(
            [sys.executable, "-c", COUNT, mode], check=True, capture_output=True, text=True
        )
        return int(done.stdout)

    kept, left = faults("keep"), faults("leave")
    assert kept * 10 < left, (kept, left)
