"""Whatever overlaps, a server has at most one process, and none once it was stopped."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sightline.contract.failures import Failure, NotReady
from sightline.contract.settings import Settings
from sightline.lsp.server.run import Run
from sightline.lsp.server.server import Server, State
from sightline.lsp.start.launcher import Launcher
from sightline.process.child import Child
from sightline.process.keepers import Keepers
from sightline.workspace.roots import open_root
from tests.support.engine import Engine, engine, fake_registry, received
from tests.support.watching import until

HERE = {"line": 0, "character": 0}
HOVER = {"contents": {"kind": "plaintext", "value": "fine"}}
CAPABLE = {"capabilities": {}, "serverInfo": {"name": "fake", "version": "1"}}
GENEROUS = Settings(request_timeout_ms=20_000)
LARGE = 5 << 30
_SPAWN = Keepers.spawn

Start = Callable[..., AbstractAsyncContextManager[Engine]]


class Children:
    """Every process that was started, and whether another one ran at that moment."""

    def __init__(self) -> None:
        self.started: list[Child] = []
        self.overlaps = 0

    async def spawn(self, keepers: Keepers, command: Sequence[str], **given: Any) -> Child:
        self.overlaps += bool(self.running)
        child = await _SPAWN(keepers, command, **given)
        self.overlaps += bool(self.running)
        self.started.append(child)
        return child

    @property
    def running(self) -> list[Child]:
        return [child for child in self.started if not child.ended]


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> Children:
    found = Children()

    async def spawn(keepers: Keepers, command: Sequence[str], **given: Any) -> Child:
        return await found.spawn(keepers, command, **given)

    monkeypatch.setattr(Keepers, "spawn", spawn)
    return found


@pytest.fixture
def fake(tmp_path: Path) -> Start:
    """An engine whose Python server follows a script."""
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.py").write_text("x = 1\n")

    @asynccontextmanager
    async def start(**script: list[dict[str, Any]]) -> AsyncIterator[Engine]:
        named = {"textDocument/hover": [{"result": HOVER}], **script}
        registry = fake_registry(tmp_path / "fake", named)
        async with engine(root, cache=tmp_path, registry=registry, settings=GENEROUS) as running:
            yield running

    return start


async def hover(running: Engine, character: int = 0) -> str:
    answer = await running.call(
        "vscode.lsp.hover", uri=running.uri("a.py"), position=HERE | {"character": character}
    )
    return str(answer["summary"])


def initializes(running: Engine) -> int:
    heard = received(running.root.parent / "fake")
    return sum(message.get("method") == "initialize" for message in heard)


async def initializing(running: Engine) -> None:
    """Returns when the first process has been asked to initialize."""
    await until(lambda: initializes(running), running.root.parent / "fake")


def the_server(running: Engine) -> Server:
    (server,) = running.program.pool._fleet.servers.values()
    return server


async def test_one_that_grows_too_large_while_it_starts_is_replaced_by_one(
    fake: Start, children: Children
) -> None:
    async with fake(initialize=[{"hang": True}, {"result": CAPABLE}]) as running:
        asked = asyncio.create_task(hover(running))
        await initializing(running)
        fleet = running.program.pool._fleet
        measure, fleet.measure = fleet.measure, lambda pid: LARGE
        await fleet.round()
        fleet.measure = measure
        assert await asked == "Hover available."
        assert initializes(running) == 2
    assert (children.overlaps, children.running) == (0, [])


async def test_what_one_that_crashed_was_given_counts_as_unread(
    fake: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A project that is given in two steps: the second one fails before it has read anything."""
    given: list[bool] = []
    start = Launcher.start

    def noted(launcher: Launcher, *args: Any, has_read_parts: bool, **more: Any) -> Any:
        given.append(has_read_parts)
        return start(launcher, *args, has_read_parts=has_read_parts, **more)

    monkeypatch.setattr(Launcher, "start", noted)
    monkeypatch.setattr(Run, "is_to_read_more", property(lambda run: len(given) == 1))
    turns = [{"result": CAPABLE}, {"crash": 3}, {"result": CAPABLE}]
    async with fake(initialize=turns) as running:
        assert await hover(running) == "Hover available."
    assert given == [False, True, False]


async def test_a_question_while_it_is_stopped_waits_for_the_end(
    fake: Start, children: Children
) -> None:
    async with fake(shutdown=[{"hang": True}]) as running:
        await hover(running)
        server = the_server(running)
        stopping = asyncio.create_task(server.stop())
        while server.state is not State.STOPPED:
            await asyncio.sleep(0)
        assert await hover(running, 1) == "Hover available."
        assert stopping.done()
        await stopping
        assert len(children.started) == 2
    assert (children.overlaps, children.running) == (0, [])


async def test_a_stop_that_nobody_waits_for_any_more_ends_the_process(
    fake: Start, children: Children
) -> None:
    """As when the server that was to take its place is not needed after all."""
    async with fake(shutdown=[{"hang": True}]) as running:
        await hover(running)
        server = the_server(running)
        stopping = asyncio.create_task(server.stop())
        while server.state is not State.STOPPED:
            await asyncio.sleep(0)
        stopping.cancel()
        (child,) = children.started
        async with asyncio.timeout(60):
            await child.wait()


async def test_who_waits_for_a_start_is_told_when_it_is_stopped(
    fake: Start, children: Children
) -> None:
    async with fake(initialize=[{"hang": True}]) as running:
        await running.program.workspace.begin()
        asked = asyncio.create_task(running.program.pool.ready(str(running.root / "a.py")))
        await initializing(running)
        await the_server(running).stop()
        with pytest.raises(NotReady, match="fake is not ready"):
            await asked
        assert children.running == []


async def test_one_that_was_forgotten_is_not_started_again(fake: Start, children: Children) -> None:
    """As with a root that is removed while somebody is about to ask about it."""
    async with fake() as running:
        await hover(running)
        server, fleet = the_server(running), running.program.pool._fleet
        await asyncio.gather(*fleet.forget(list(fleet.servers)))
        with pytest.raises(NotReady, match="fake is not ready because it was closed"):
            await server.ready()
        assert children.running == []
        assert await hover(running, 1) == "Hover available."
        assert [child.pid for child in children.running] == [the_server(running).pid]


@pytest.mark.parametrize("steps", [0, 1, 100])
async def test_a_root_that_is_removed_and_added_again(
    fake: Start, children: Children, tmp_path: Path, steps: int
) -> None:
    """The server for it now waits until the one from before has ended."""
    (tmp_path / "other").mkdir()
    async with fake(shutdown=[{"hang": True}]) as running:
        assert await hover(running) == "Hover available."
        workspace = running.program.workspace
        root, other = workspace.roots.roots[0], open_root(str(tmp_path / "other"), home=None)
        await workspace.set_roots([other])
        for _ in range(steps):
            await asyncio.sleep(0)
        await workspace.set_roots([root, other])
        assert await hover(running, 1) == "Hover available."
        assert [child.pid for child in children.running] == [the_server(running).pid]
        assert len(children.started) == 2
    assert (children.overlaps, children.running) == (0, [])


async def test_servers_of_removed_roots_count_until_they_have_ended(
    fake: Start, children: Children, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other/a.py").write_text("x = 1\n")
    async with fake(shutdown=[{"hang": True}]) as running:
        await hover(running)
        fleet = running.program.pool._fleet
        fleet.bounds = msgspec.structs.replace(fleet.bounds, servers=1)
        await running.program.workspace.set_roots([open_root(str(tmp_path / "other"), home=None)])
        await running.call(
            "vscode.lsp.hover", uri=(tmp_path / "other/a.py").as_uri(), position=HERE
        )
    assert (children.overlaps, len(children.started)) == (0, 2)


def grows(server: Server) -> None:
    server.exhausted()


#: What may happen to a server at any moment. A stop is waited for later.
EVENTS: dict[str, Callable[[Server], object]] = {
    "asked": lambda server: asyncio.create_task(server.ready()),
    "over": Server.start_over,
    "grows": grows,
    "stop": lambda server: asyncio.create_task(server.stop()),
}


async def until_spawned(server: Server, children: Children) -> None:
    while not children.running:
        await asyncio.sleep(0)


async def until_ready(server: Server, children: Children) -> None:
    await server.ready()


async def at_once(server: Server, children: Children) -> None:
    await asyncio.sleep(0)


MOMENTS = {"at once": at_once, "spawned": until_spawned, "ready": until_ready}


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("events", list(itertools.product(EVENTS, repeat=2)), ids="-".join)
@pytest.mark.parametrize("steps", [0, 1, 3])
async def test_events_that_overlap(
    fake: Start,
    children: Children,
    monkeypatch: pytest.MonkeyPatch,
    moment: str,
    events: tuple[str, ...],
    steps: int,
) -> None:
    monkeypatch.setattr("sightline.lsp.server.lifecycle._FIRST_REST_S", 0.0)
    async with fake() as running:
        await running.program.workspace.begin()
        found = running.program.pool._routes.route(str(running.root / "a.py"), "hover")
        server = running.program.pool._known(found)
        begun: list[object] = [server.start()]
        await MOMENTS[moment](server, children)
        for event in events:
            begun.append(EVENTS[event](server))
            for _ in range(steps):
                await asyncio.sleep(0)
        begun.append(asyncio.create_task(server.ready()))
        tasks = [each for each in begun if isinstance(each, asyncio.Task)]
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        allowed = Failure | asyncio.CancelledError
        assert [
            e for e in outcomes if isinstance(e, BaseException) and not isinstance(e, allowed)
        ] == []
        assert await hover(running) == "Hover available."
        assert [child.pid for child in children.running] == [server.pid]
        await server.stop()
        assert children.running == []
    assert children.overlaps == 0
