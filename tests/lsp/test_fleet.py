"""Servers are bounded in number, memory and idle time, and never run twice."""

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sightline.contract.failures import Failure, NotReady, Overloaded, TimedOut
from sightline.contract.settings import Settings
from sightline.lsp.server.server import State
from sightline.process.memory import tree_memory
from tests.support.engine import Engine, engine, fake_registry
from tests.support.http import alive
from tests.support.watching import until

HOVER = {"contents": {"kind": "plaintext", "value": "fine"}}
FAST = Settings(request_timeout_ms=250)

Start = Callable[..., AbstractAsyncContextManager[Engine]]


@pytest.fixture
def fake(tmp_path: Path) -> Start:
    """An engine on three roots whose Python server follows a script."""
    roots = [tmp_path / name for name in ("one", "two", "three")]
    for root in roots:
        root.mkdir()
        (root / "a.py").write_text("x = 1\n")
        (root / "b.json").write_text("{}\n")

    @asynccontextmanager
    async def start(
        settings: Settings | None = None, *others: str, **script: list[dict[str, Any]]
    ) -> AsyncIterator[Engine]:
        named = {f"textDocument/{method}": actions for method, actions in script.items()}
        for method in ("initialize", "shutdown"):
            if method in script:
                named[method] = script[method]
        registry = fake_registry(tmp_path / "fake", named, *others)
        environment = {"PATH": os.environ["PATH"]}
        async with engine(
            *roots, cache=tmp_path, registry=registry, settings=settings, environment=environment
        ) as running:
            yield running

    return start


async def hover(
    running: Engine, root: str = "one", *, once: bool = False, character: int = 0
) -> Any:
    ask = running.once if once else running.call
    uri = (running.root.parent / root / "a.py").as_uri()
    return await ask("vscode.lsp.hover", uri=uri, position={"line": 0, "character": character})


async def asked_in_vain(running: Engine) -> asyncio.Task[Any]:
    """A question that a running server has and keeps to itself."""
    await running.ready("a.py")
    asked = asyncio.create_task(hover(running, once=True))
    counted = running.root.parent / "fake/script.state"
    await until(lambda: counted.exists() and "hover" in counted.read_text(), counted.parent)
    assert not asked.done()
    return asked


def pids(running: Engine) -> dict[str, int | None]:
    return {Path(row.root).name: row.pid for row in running.program.pool.status()}


async def test_the_least_recently_used_server_makes_room(fake: Start) -> None:
    async with fake(Settings(max_servers=2), hover=[{"result": HOVER}]) as running:
        for number, root in enumerate(("one", "two", "one", "three")):
            await hover(running, root, character=number)  # a repeat would come from memory
        running_now = {root for root, pid in pids(running).items() if pid is not None}
        assert running_now == {"one", "three"}
        await hover(running, "two", character=4)
        running_now = {root for root, pid in pids(running).items() if pid is not None}
        assert running_now == {"two", "three"}


async def test_a_busy_server_is_not_stopped_for_another(fake: Start) -> None:
    settings = Settings(max_servers=1, request_timeout_ms=2000)
    async with fake(settings, hover=[{"hang": True}]) as running:
        busy = await asked_in_vain(running)
        with pytest.raises(Overloaded) as caught:
            await hover(running, "two", once=True)
        assert caught.value.retryable
        busy.cancel()
        await asyncio.gather(busy, return_exceptions=True)


async def test_an_idle_server_is_stopped_and_comes_back(fake: Start) -> None:
    async with fake(hover=[{"result": HOVER}]) as running:
        await hover(running)
        pool, pid = running.program.pool, pids(running)["one"]
        await pool._fleet.round()
        assert pids(running)["one"] == pid, "a quarter of an hour has not passed"
        (server,) = pool._fleet.servers.values()
        server.used -= 1_000
        await pool._fleet.round()
        assert server.state is State.STOPPED
        assert pid is not None and not alive(pid)
        assert (await hover(running, "one"))["summary"] == "Hover available."


async def test_a_server_that_grows_too_large_is_ended_and_its_caller_told(fake: Start) -> None:
    generous = Settings(request_timeout_ms=2000)
    async with fake(generous, hover=[{"hang": True}, {"result": HOVER}]) as running:
        asked = await asked_in_vain(running)
        pid = pids(running)["one"]
        running.program.pool._fleet.measure = lambda pid: 5 << 30
        await running.program.pool._fleet.round()
        with pytest.raises(NotReady, match=r"MiB of memory \(the setting server_memory_mb\)"):
            await asked
        running.program.pool._fleet.measure = tree_memory
        assert (await hover(running))["summary"] == "Hover available."
        assert pid is not None and not alive(pid)


async def test_a_look_that_fails_is_reported_and_not_the_last_one(
    fake: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sightline.lsp.routing.fleet._ROUND_S", 0.0)
    errors: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda loop, context: errors.append(context["exception"])
    )
    generous = Settings(request_timeout_ms=2000)
    async with fake(generous, hover=[{"hang": True}, {"result": HOVER}]) as running:
        failures = [MemoryError(), MemoryError()]

        def measure(pid: int) -> int:
            if failures:
                raise failures.pop()
            return 5 << 30

        fleet, asked = running.program.pool._fleet, await asked_in_vain(running)
        fleet.measure = measure
        with pytest.raises(NotReady, match="used more than 4,096 MiB of memory"):
            await asked
        fleet.measure = tree_memory
        assert [type(error) for error in errors] == [MemoryError] * 2


async def test_one_that_keeps_growing_is_left_alone(
    fake: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sightline.lsp.server.lifecycle._FIRST_REST_S", 0.001)
    async with fake(hover=[{"result": HOVER}]) as running:
        running.program.pool._fleet.measure = lambda pid: 5 << 30
        for _ in range(2):
            await running.ready("a.py")
            await running.program.pool._fleet.round()
        said = r"fake used more than 4,096 MiB of memory \(the setting server_memory_mb\); raise"
        with pytest.raises(Failure, match=said):
            await running.ready("a.py")


def test_memory_counts_the_whole_tree() -> None:
    grow = "x = bytearray(64 << 20); print(flush=True); input()"
    nest = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {grow!r}])"
    outer = subprocess.Popen(
        [sys.executable, "-c", nest], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert outer.stdin is not None and outer.stdout is not None
    outer.stdout.readline()
    taken = tree_memory(outer.pid)
    outer.communicate(b"\n")
    assert taken > 64 << 20
    assert tree_memory(outer.pid) == 0


async def test_there_is_never_more_than_one_process(
    fake: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sightline.lsp.server.lifecycle._FIRST_REST_S", 0.001)
    monkeypatch.setattr("sightline.lsp.server.lifecycle._MAX_CRASHES", 1_000)
    script = str(tmp_path / "fake" / "script.json")
    async with fake(hover=[{"result": HOVER}]) as running:
        for _ in range(10):
            calls = [asyncio.create_task(hover(running)) for _ in range(8)]
            await running.ready("a.py")
            found = processes(script)
            assert len(found) <= 1
            for pid in found:
                with contextlib.suppress(ProcessLookupError):  # the one of the round before
                    os.kill(pid, 9)
            while not all(call.done() for call in calls):
                assert len(processes(script)) <= 1
                await asyncio.sleep(0)
        await hover(running, character=1)  # a new question: somebody must be there to answer it
        assert len(processes(script)) == 1
    assert processes(script) == []


def processes(script: str) -> list[int]:
    """The scripted servers that run now, without their keepers."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if os.fsencode(script) in words and b"--" not in words:
                found.append(int(name))
    return found


async def test_a_slow_server_delays_no_other(fake: Start) -> None:
    async with fake(FAST, "json", initialize=[{"hang": True}]) as running:
        with pytest.raises(TimedOut):
            await hover(running, once=True)
        uri = (running.root / "b.json").as_uri()
        answer = await running.call("vscode.lsp.documentSymbols", uri=uri)
        assert answer["summary"] == "Returned 0 document symbols."
        with pytest.raises(TimedOut) as caught:
            await running.once("vscode.lsp.diagnostics.workspace")
        assert caught.value.details == {"waitingFor": "fake to start", "retryable": True}
