"""Child trees: whatever the descendants do and whoever dies, nothing is left."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.process import child as module
from sightline.process.child import Child, StartFailed, spawn
from sightline.process.keeper import GRACE_S, order, receive
from sightline.process.strays import Group, end_strays, find_strays
from tests.support.processes import alive, children_of, left_after, tree_command
from tests.support.watching import HANG_S

#: What the project promises for every cause of death.
NO_ORPHAN_S = 3.0

#: Makes standard input the terminal of a session that has none yet.
_TERMINAL = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)"

ALL = ("plain", "stubborn", "group", "session", "daemon", "nested", "bare")


async def announced(child: Child) -> dict[str, int]:
    """The pids that a tree tells, until it is ready."""
    pids: dict[str, int] = {}
    async with asyncio.timeout(HANG_S):
        while line := await child.stdout.readline():
            kind, number = line.split()
            if kind == b"ready":
                break
            pids[kind.decode()] = int(number)
    return pids


async def tree(*kinds: str, env: Mapping[str, str] | None = None) -> tuple[Child, dict[str, int]]:
    child = await spawn(tree_command(*kinds), cwd="/", env=env or {"PATH": os.defpath})
    pids = await announced(child)
    # A descendant announces itself, so it may do so after the command says it is ready.
    async with asyncio.timeout(HANG_S):
        while not {kind for kind in kinds if "command" not in kind} <= pids.keys():
            kind, number = (await child.stdout.readline()).split()
            pids[kind.decode()] = int(number)
    return child, pids


@pytest.fixture(autouse=True)
async def nothing_left() -> AsyncIterator[None]:
    before = set(children_of(os.getpid()))
    yield
    assert set(children_of(os.getpid())) <= before


@pytest.mark.requirement("ST-P1-all-descendants", "ST-P5-tree-test", "ST-8.2-subprocesses")
async def test_ending_a_tree_ends_every_descendant() -> None:
    child, pids = await tree(*ALL)
    assert all(map(alive, pids.values()))
    assert await child.end()
    assert not left_after(0, pids.values())
    assert child.ended and child.returncode == 128 + signal.SIGTERM


@pytest.mark.requirement("ST-P3.2-sequence", "ST-P6-decisions")
async def test_a_polite_tree_ends_at_once_and_a_stubborn_one_after_the_grace() -> None:
    loop = asyncio.get_running_loop()
    polite, _ = await tree("plain")
    start = loop.time()
    assert await polite.end()
    assert loop.time() - start < GRACE_S
    stubborn, pids = await tree("stubborn")
    start = loop.time()
    assert await stubborn.end()
    assert loop.time() - start >= GRACE_S == 2.0
    assert not left_after(0, pids.values())


@pytest.mark.requirement("ST-P3.1-own-group")
async def test_a_child_leads_a_group_of_its_own() -> None:
    child, pids = await tree("plain")
    assert os.getpgid(child.pid) == child.pid == pids["command"]
    (keeper,) = (pid for pid, line in children_of(os.getpid()).items() if "keeper.py" in line)
    assert os.getpgid(keeper) == keeper
    # Where the system shares a busy machine out by sessions, a question is not passed between two.
    assert os.getsid(child.pid) == os.getsid(0)
    await child.end()


async def test_a_child_has_no_terminal() -> None:
    """Nothing that is typed stops it, and it cannot ask its user for a password."""
    program = """
import asyncio, sys
from sightline.process.child import spawn

async def main():
    open("/dev/tty").close()  # there is one here
    look = "try:\\n open('/dev/tty')\\nexcept OSError:\\n print('none')"
    child = await spawn([sys.executable, "-I", "-c", look], cwd="/", env={})
    print((await child.stdout.read()).decode().strip())
    await child.end()

asyncio.run(main())
"""
    leader, follower = os.openpty()
    try:
        own = asyncio.create_subprocess_exec(
            *(sys.executable, "-c", _TERMINAL + program),
            stdin=follower,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        process = await own
        said, _ = await asyncio.wait_for(process.communicate(), HANG_S)
    finally:
        os.close(leader)
        os.close(follower)
    assert said == b"none\n"


@pytest.mark.requirement("ST-P3.3-already-gone")
async def test_ending_twice_and_ending_what_has_ended() -> None:
    child, _ = await tree("plain")
    assert all(await asyncio.gather(child.end(), child.end()))
    assert await child.end()
    quick = await spawn([sys.executable, "-I", "-c", "raise SystemExit(7)"], cwd="/", env={})
    assert await asyncio.wait_for(quick.wait(), HANG_S) == 7
    assert await quick.end()


@pytest.mark.requirement("ST-P1-no-orphans")
async def test_what_a_command_leaves_behind_goes_with_it() -> None:
    child = await spawn(tree_command("daemon", "stubborn", "quits"), cwd="/", env={})
    pids = await announced(child)
    assert await asyncio.wait_for(child.wait(), HANG_S) == 7
    assert not left_after(0, pids.values())


@pytest.mark.requirement("ST-P1-no-orphans")
async def test_a_killed_keeper_leaves_nothing() -> None:
    child, pids = await tree("plain", "stubborn", "session", "daemon", "nested")
    os.kill(child._process.pid, signal.SIGKILL)
    assert not await asyncio.to_thread(left_after, NO_ORPHAN_S, pids.values())
    assert await asyncio.wait_for(child.wait(), HANG_S) == -signal.SIGKILL
    assert await child.end()


async def test_a_keeper_that_does_not_answer_is_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_END_LIMIT_S", 0.1)
    child, pids = await tree("session", "daemon", "bare", "stubborn-command")
    os.kill(child._process.pid, signal.SIGSTOP)
    assert await child.end()
    assert not left_after(NO_ORPHAN_S, pids.values())


async def test_a_tree_ends_while_every_thread_beside_the_loop_is_taken() -> None:
    taken, threads = threading.Event(), ThreadPoolExecutor(1)
    asyncio.get_running_loop().set_default_executor(threads)
    busy = threads.submit(taken.wait, HANG_S)
    try:
        child, pids = await tree("stubborn")
        assert await asyncio.wait_for(child.end(), HANG_S / 2)
        assert not left_after(0, pids.values())
        assert not busy.done()
    finally:
        taken.set()


async def test_a_stranger_is_not_a_stray() -> None:
    stranger = subprocess.Popen(tree_command(), stdout=subprocess.DEVNULL, start_new_session=True)
    child, pids = await tree("plain")
    try:
        assert set(find_strays(child._mark, Group.of(child.pid))) == {
            child._process.pid,
            *pids.values(),
        }
        assert await child.end()
        assert alive(stranger.pid)
    finally:
        stranger.kill()
        stranger.wait()


async def test_the_group_of_a_stranger_that_got_the_same_number_is_not_touched() -> None:
    """While Sightline is stopped a tree may end, and the system give its numbers to others."""
    stranger = subprocess.Popen(tree_command(), stdout=subprocess.DEVNULL, start_new_session=True)
    group = Group.of(stranger.pid)
    assert group is not None
    try:
        assert find_strays("none", group) == [stranger.pid]
        ended_before = group._replace(began=b"1")
        assert find_strays("none", ended_before) == []
        assert await asyncio.to_thread(end_strays, "none", ended_before)
        assert alive(stranger.pid)
    finally:
        stranger.kill()
        stranger.wait()
    assert Group.of(stranger.pid) is None


_HOST = """
import asyncio, sys
from sightline.process.child import spawn

async def main():
    child = await spawn(sys.argv[1:], cwd="/", env={"PATH": "/usr/bin:/bin"})
    while line := await child.stdout.readline():
        print(line.decode(), end="", flush=True)
    await child.wait()

asyncio.run(main())
"""


@pytest.mark.requirement("ST-P1-no-orphans", "ST-8.2-subprocesses")
def test_however_we_die_the_tree_goes_too() -> None:
    kinds = ("plain", "stubborn", "session", "daemon", "bare")
    deaths = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSEGV)
    hosts = [_host(*kinds) for _ in deaths]
    below: set[int] = set()
    for host in hosts:
        assert host.stdout is not None
        pids: dict[str, int] = {}
        while len(pids) < len(kinds) + 2:
            kind, pid = host.stdout.readline().split()
            pids[kind] = int(pid)
        del pids["ready"]
        found = set(children_of(host.pid))
        assert set(pids.values()) <= found
        below |= found
    for host, number in zip(hosts, deaths, strict=True):
        host.send_signal(number)
    for host in hosts:
        host.wait(HANG_S)
        assert host.stdout is not None
        host.stdout.close()
    assert not left_after(NO_ORPHAN_S, below)


def _host(*kinds: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _HOST, *tree_command(*kinds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


# Starting


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (["/nonexistent/program"], "No such file"),
        (["no-such-program-anywhere"], "No such file"),
        (["/etc/passwd"], "Permission denied"),
        (["/"], "Permission denied"),
    ],
)
async def test_what_cannot_be_started(command: list[str], reason: str) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(StartFailed, match=reason) as failed:
        await spawn(command, cwd="/", env={"PATH": os.defpath})
    assert command[0] not in str(failed.value)
    assert len(os.listdir("/proc/self/fd")) <= before + 1, "a loop keeps at most its own pipe"


async def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StartFailed):
        await spawn([sys.executable], cwd=str(tmp_path / "gone"), env={})


async def test_cancelling_a_start_leaves_nothing() -> None:
    starting = asyncio.create_task(spawn(tree_command("stubborn"), cwd="/", env={}))
    await asyncio.sleep(0)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting


# What a keeper is told


def _is_name(word: str) -> bool:
    return bool(word) and "=" not in word


#: What the system lets a word of a command be.
WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@given(
    st.lists(WORDS, min_size=1),
    WORDS,
    st.dictionaries(WORDS.filter(_is_name), WORDS),
    st.lists(WORDS),
)
def test_a_keeper_is_told_exactly_the_command(
    command: list[str], cwd: str, env: dict[str, str], rules: list[str]
) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(order(command, cwd, env, rules))
        told = receive(theirs.fileno())
    assert told == (
        [word.encode() for word in command],
        cwd.encode(),
        {name.encode(): value.encode() for name, value in env.items()},
        [rule.encode() for rule in rules],
    )


@pytest.mark.parametrize("told", [b"", b"00000", b"0000000009/\x001\0"])
def test_a_keeper_that_is_told_too_little_keeps_nothing(told: bytes) -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        ours.sendall(told)
        ours.close()
        assert receive(theirs.fileno()) is None


# Talking


async def test_streams_reach_the_command_alone(tmp_path: Path) -> None:
    code = "import sys; print(sys.stdin.readline().upper()); print('x' * 9000, file=sys.stderr)"
    child = await spawn([sys.executable, "-I", "-c", code], cwd=str(tmp_path), env={})
    child.stdin.write(b"hello\n")
    assert await asyncio.wait_for(child.stdout.read(), HANG_S) == b"HELLO\n\n"
    assert await asyncio.wait_for(child.wait(), HANG_S) == 0
    assert child.stderr_tail().strip("\n") == "x" * 4_095, "the tail is bounded"


@pytest.mark.parametrize("late", [False, True])
async def test_a_listener_hears_all_of_it_once(late: bool) -> None:
    """Also what was said, and that it was the last, before anybody listened."""
    code = "import sys; sys.stdout.write('x' * 300_000)"
    child = await spawn([sys.executable, "-I", "-c", code], cwd="/", env={})
    if late:
        assert await asyncio.wait_for(child.wait(), HANG_S) == 0
    heard = bytearray()
    ended = asyncio.Event()
    child.listen(heard.extend, ended.set)
    await asyncio.wait_for(ended.wait(), HANG_S)
    assert heard == b"x" * 300_000
    assert await child.end()


async def test_only_the_given_environment_and_no_descriptor_is_inherited() -> None:
    with open("/dev/null", "rb") as extra:
        os.set_inheritable(extra.fileno(), True)
        code = "import os; print(sorted(os.environ), sorted(map(int, os.listdir('/proc/self/fd'))))"
        child = await spawn([sys.executable, "-I", "-c", code], cwd="/", env={"A": "1"})
        seen = (await asyncio.wait_for(child.stdout.read(), HANG_S)).decode()
    await child.wait()
    names, _, descriptors = seen.partition("] [")
    assert names.strip("[") in ("'A', 'LC_CTYPE', 'SIGHTLINE_TREE'", "'A', 'SIGHTLINE_TREE'")
    assert descriptors.strip("]\n") == "0, 1, 2, 3", "three streams and the folder being listed"


async def test_no_signal_stays_ignored() -> None:
    """The keeper ignores some; a command that inherited that could not be asked to end."""
    child = await spawn(["/bin/sh", "-c", "grep SigIgn /proc/self/status"], cwd="/", env={})
    said = (await asyncio.wait_for(child.stdout.read(), HANG_S)).split()
    await child.wait()
    ignored = int(said[1], 16)
    assert not [n for n in (1, 2, 13, 15) if ignored >> (n - 1) & 1]


@pytest.mark.requirement("ST-P2-one-primitive")
def test_nobody_else_starts_or_ends_processes() -> None:
    """One primitive: no other module of the package touches subprocesses or signals them."""
    package = Path(module.__file__).parent.parent
    offenders = [
        str(file.relative_to(package))
        for file in sorted(package.rglob("*.py"))
        if file.parent.name != "process"
        and any(
            word in file.read_text(encoding="utf-8")
            for word in ("subprocess", "os.kill", "killpg", "os.fork", "os.exec", "posix_spawn")
        )
    ]
    assert offenders == []
