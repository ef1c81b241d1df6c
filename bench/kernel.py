"""What the kernel knows of a process: the processor time it used and the memory it held."""

import json
import os
import time

__all__ = [
    "Tree",
    "cpu_seconds",
    "loads",
    "main_thread_cpu_seconds",
    "peak_rss_bytes",
    "yardstick_us",
]


def cpu_seconds(pid: int) -> float:
    """User and system time of every thread, to the nanosecond. Children are not included."""
    clock = (~pid << 3) | 2  # how Linux numbers the clock of another process
    return time.clock_gettime(clock)


def main_thread_cpu_seconds(pid: int) -> float:
    """User and system time of the thread that a process began with."""
    with open(f"/proc/{pid}/task/{pid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0]) / 1e9


def peak_rss_bytes(pid: int) -> int:
    """The most memory a process has held so far."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    raise ProcessLookupError(pid)


def loads() -> str:
    """How busy the machine is, as a word about the figures."""
    return f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def yardstick_us() -> float:
    """Processor time of a fixed piece of Python: how dear an instruction is right now."""
    value = {"a": [1, 2, 3, {"b": "x" * 20}]}
    rounds = 10_000
    began = time.process_time()
    for _ in range(rounds):
        json.loads(json.dumps(value))
    return (time.process_time() - began) / rounds * 1e6


class Tree:
    """A process and everything below it, watched while it runs."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._seconds: dict[int, float] = {}
        self.peak_bytes = 0
        self.peak_main_bytes = 0

    def look(self) -> None:
        """Adds up what the processes that live now have used so far."""
        total = 0
        for pid in self._members():
            try:
                self._seconds[pid] = cpu_seconds(pid)
                with open(f"/proc/{pid}/statm", encoding="ascii") as file:
                    resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            except OSError:
                continue
            total += resident
            if pid == self.pid:
                self.peak_main_bytes = max(self.peak_main_bytes, resident)
        self.peak_bytes = max(self.peak_bytes, total)

    @property
    def cpu_s(self) -> float:
        return sum(self._seconds.values())

    def _members(self) -> list[int]:
        found = [self.pid]
        for pid in found:
            try:
                for thread in os.listdir(f"/proc/{pid}/task"):
                    with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                        found += map(int, file.read().split())
            except OSError:
                continue
        return found
