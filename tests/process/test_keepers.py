"""Keepers that start ahead: one at most, told what to keep or dismissed, and never left behind."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator

import pytest

from sightline.process.allowed import Allowed
from sightline.process.child import Child, StartFailed
from sightline.process.keepers import Keepers
from tests.support.processes import children_of
from tests.support.watching import HANG_S

ECHO = [sys.executable, "-c", "import sys; sys.stdout.write(sys.stdin.read())"]
ANYTHING = Allowed()


@pytest.fixture
async def keepers() -> AsyncIterator[Keepers]:
    """What is still there at the end would be left behind."""
    before = set(children_of(os.getpid()))
    made = Keepers()
    yield made
    await made.close()
    assert set(children_of(os.getpid())) <= before


async def started(keepers: Keepers) -> int:
    """The process of the one that was started ahead."""
    before = set(children_of(os.getpid()))
    keepers.ahead()
    async with asyncio.timeout(HANG_S):
        while not (found := set(children_of(os.getpid())) - before):
            await asyncio.sleep(0)
    (pid,) = found
    return pid


async def spawned(keepers: Keepers, command: list[str] = ECHO) -> Child:
    return await keepers.spawn(command, cwd="/", env={"PATH": os.defpath}, allowed=ANYTHING)


async def echoes(child: Child) -> bool:
    child.stdin.write(b"said")
    child.stdin.close()
    said = await child.stdout.read()
    await child.end()
    return said == b"said"


async def test_the_one_that_waits_keeps_what_is_spawned(keepers: Keepers) -> None:
    ahead = await started(keepers)
    child = await spawned(keepers)
    assert set(children_of(ahead)) == {child.pid}
    assert await echoes(child)


async def test_one_waits_at_most(keepers: Keepers) -> None:
    await started(keepers)
    before = set(children_of(os.getpid()))
    keepers.ahead()
    await asyncio.sleep(0)
    assert set(children_of(os.getpid())) == before


async def test_two_that_spawn_at_once_have_one_keeper_each(keepers: Keepers) -> None:
    keepers.ahead()
    children = await asyncio.gather(spawned(keepers), spawned(keepers))
    assert [await echoes(child) for child in children] == [True, True]


async def test_one_that_was_killed_is_replaced(keepers: Keepers) -> None:
    os.kill(await started(keepers), signal.SIGKILL)
    assert await echoes(await spawned(keepers))


async def test_without_one_it_is_started_then(keepers: Keepers) -> None:
    assert await echoes(await spawned(keepers))


async def test_who_gives_up_waiting_leaves_it_to_the_next(keepers: Keepers) -> None:
    keepers.ahead()
    waiting = asyncio.create_task(spawned(keepers))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await echoes(await spawned(keepers))


async def test_a_command_that_is_not_there(keepers: Keepers) -> None:
    keepers.ahead()
    with pytest.raises(StartFailed, match="No such file"):
        await spawned(keepers, ["/nonexistent/program"])


async def test_closed_while_it_starts(keepers: Keepers) -> None:
    keepers.ahead()
    await asyncio.sleep(0)
    await keepers.close()
