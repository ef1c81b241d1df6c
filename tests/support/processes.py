"""Real process trees, and waiting for processes to end without polling."""

import os
import select
import sys
import time
from collections.abc import Iterable

__all__ = ["alive", "children_of", "left_after", "tree_command"]

#: A program that starts one descendant per argument, says ``kind pid`` for each, and waits.
_TREE = r"""
import os, signal, sys

def stay():
    while True:
        signal.pause()

def say(kind):
    os.write(1, f"{kind} {os.getpid()}\n".encode())

def descend(kind):
    if os.fork():
        return
    if kind == "nested" and os.fork():
        stay()
    if kind in ("stubborn", "session", "daemon", "nested"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if kind == "group":
        os.setpgid(0, 0)
    if kind == "session":
        os.setsid()
    if kind == "daemon":
        os.setsid()
        if os.fork():
            os._exit(0)
        os.chdir("/")
    if kind == "bare":
        os.setsid()
        os.execve(sys.executable, [sys.executable, "-S", "-c", BARE], {})
    say(kind)
    stay()

BARE = "import os, signal\nos.write(1, f'bare {os.getpid()}\\n'.encode())\nsignal.pause()"
say("command")
for kind in sys.argv[1:]:
    if kind == "quits":
        os._exit(7)
    if kind == "stubborn-command":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        continue
    descend(kind)
os.write(1, b"ready 0\n")
stay()
"""


def tree_command(*kinds: str) -> list[str]:
    """argv of a program with these descendants.

    ``plain`` just waits; ``stubborn`` ignores TERM; ``group`` and ``session`` left their parent's;
    ``daemon`` forked twice; ``nested`` is a grandchild; ``bare`` has a session and an environment
    of its own. ``stubborn-command`` makes the command ignore TERM, ``quits`` makes it end at once.
    """
    return [sys.executable, "-I", "-S", "-c", _TREE, *kinds]


def alive(pid: int) -> bool:
    """Whether a process exists and is not a zombie."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


def left_after(seconds: float, pids: Iterable[int]) -> list[int]:
    """The processes that have not ended after at most this time."""
    deadline = time.monotonic() + seconds
    left: list[int] = []
    for pid in pids:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            if not poll.poll(max(0, deadline - time.monotonic()) * 1000):
                left.append(pid)
        finally:
            os.close(descriptor)
    return left


def children_of(top: int) -> dict[int, str]:
    """Every process below ``top`` and its command line."""
    parents: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, ValueError):
                continue
            parents.setdefault(parent, []).append(int(name))
    found: dict[int, str] = {}
    waiting = [top]
    while waiting:
        for pid in parents.get(waiting.pop(), []):
            waiting.append(pid)
            found[pid] = _command_line(pid)
    return found


def _command_line(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
