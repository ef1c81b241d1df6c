"""A language server that misbehaves costs its caller a clear error and nobody anything else."""

import asyncio
import contextlib
import errno
import gc
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sightline.contract.failures import Bug, Failure, NotReady, TimedOut, Unavailable
from sightline.contract.settings import Settings
from sightline.contract.source import SourceFile
from sightline.lsp.project.projects import Project
from sightline.lsp.registry import Trouble
from sightline.lsp.server.documents import Documents
from sightline.lsp.typescript.held_open import HeldOpen
from tests.support.engine import Engine, engine, fake_registry, received
from tests.support.http import alive
from tests.support.processes import children_of
from tests.support.watching import until

HERE = {"line": 0, "character": 0}
RANGE = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
HOVER = {"contents": {"kind": "plaintext", "value": "fine"}}
FAST = Settings(request_timeout_ms=250)
#: For what must be answered before the limit, on a busy machine too.
GENEROUS = Settings(request_timeout_ms=2000)

Start = Callable[..., AbstractAsyncContextManager[Engine]]


@pytest.fixture
def fake(tmp_path: Path) -> Start:
    """An engine whose Python server follows a script."""
    root = tmp_path / "ws"
    root.mkdir()
    for name in ("a.py", "b.py"):
        (root / name).write_text("x = 1\n")

    @asynccontextmanager
    async def start(
        settings: Settings = FAST, **script: list[dict[str, Any]]
    ) -> AsyncIterator[Engine]:
        named = {f"textDocument/{method}": actions for method, actions in script.items()}
        for method in ("initialize", "shutdown"):
            if method in script:
                named[method] = script[method]
        registry = fake_registry(tmp_path / "fake", named)
        async with engine(root, cache=tmp_path, registry=registry, settings=settings) as running:
            yield running

    return start


async def hover(running: Engine, name: str = "a.py", *, once: bool = False) -> Any:
    ask = running.once if once else running.call
    return await ask("vscode.lsp.hover", uri=running.uri(name), position=HERE)


async def failure_of(running: Engine, name: str = "a.py") -> Failure:
    await running.ready(name)
    with pytest.raises(Failure) as caught:
        await hover(running, name, once=True)
    return caught.value


@pytest.mark.parametrize("edits", [False, True], ids=["the same question", "and edits"])
async def test_a_server_that_hangs_is_replaced_whoever_waits_for_it(
    fake: Start, monkeypatch: pytest.MonkeyPatch, edits: bool
) -> None:
    """Who asks the same again joins those who wait, and an edit ends all waiting."""
    monkeypatch.setattr("sightline.lsp.server.server._SILENCE_S", 1.0)
    monkeypatch.setattr("sightline.lsp.routing.fleet._ROUND_S", 0.05)
    async with fake(hover=[{"hang": True}]) as running:
        await running.ready("a.py")
        (server,) = running.program.pool._fleet.servers.values()
        first, asked = server.pid, 0
        async with asyncio.timeout(60):
            while server.pid in (first, None):
                asked += 1
                if edits:
                    (running.root / "b.py").write_text(f"x = {asked}\n")
                with contextlib.suppress(Failure):
                    await hover(running, once=True)


async def test_hanging_answer_times_out_and_others_are_served(fake: Start) -> None:
    async with fake(hover=[{"hang": True}], definition=[{"result": []}]) as running:
        failure = await failure_of(running)
        assert isinstance(failure, TimedOut)
        assert failure.details == {"waitingFor": "fake to answer", "retryable": True}
        definition = await running.call(
            "vscode.lsp.definition", uri=running.uri("b.py"), position=HERE
        )
        assert definition["locations"] == []


async def test_late_answer_serves_the_retry(fake: Start, tmp_path: Path) -> None:
    go = tmp_path / "go"
    async with fake(hover=[{"after": str(go), "result": HOVER}, {"error": {"code": 1}}]) as running:
        assert isinstance(await failure_of(running), TimedOut)
        go.touch()
        answer = await hover(running)
        assert answer["contents"] == [{"kind": "plaintext", "value": "fine"}]
    asked = [m for m in received(tmp_path / "fake") if m.get("method") == "textDocument/hover"]
    assert len(asked) == 1, "the retry joined the first question"


async def test_crash_during_an_answer_is_retryable_and_the_server_restarts(fake: Start) -> None:
    async with fake(hover=[{"crash": 3}, {"result": HOVER}]) as running:
        failure = await failure_of(running)
        assert isinstance(failure, NotReady | TimedOut)
        assert (await hover(running))["summary"] == "Hover available."


async def test_half_an_answer_is_no_answer(fake: Start) -> None:
    async with fake(hover=[{"half": HOVER}, {"result": HOVER}]) as running:
        assert (await failure_of(running)).retryable
        assert (await hover(running))["summary"] == "Hover available."


@pytest.mark.parametrize(
    "garbage",
    ["hello\r\n\r\n", "Content-Length: x\r\n\r\n", "Content-Length: 5\r\n\r\n{]}()", "\0" * 9000],
)
async def test_garbage_is_a_crash(fake: Start, garbage: str) -> None:
    async with fake(hover=[{"raw": garbage}, {"result": HOVER}]) as running:
        assert (await failure_of(running)).retryable
        assert (await hover(running))["summary"] == "Hover available."


async def test_an_answer_of_a_hundred_megabytes_is_refused(fake: Start) -> None:
    generous = Settings(request_timeout_ms=2000)
    async with fake(generous, hover=[{"huge": 100 << 20}, {"result": HOVER}]) as running:
        assert (await failure_of(running)).retryable
        assert (await hover(running))["summary"] == "Hover available."


@pytest.mark.parametrize(
    ("operation", "result"),
    [
        ("hover", {"contents": 7}),
        ("hover", "text"),
        ("definition", [{"uri": "file:///x"}]),
        ("definition", [{"range": RANGE}]),
        ("definition", {"targetUri": 5}),
        ("references", [{"uri": "file:///x", "range": {"start": {"line": -1, "character": 0}}}]),
        ("references", [{"uri": "file:///x", "range": RANGE | {"end": {"line": 1.5}}}]),
        ("documentSymbol", [{"name": "x"}]),
        ("documentSymbol", [{"name": "x", "kind": 1}]),
        ("diagnostic", {"kind": "full", "items": [{"message": "m"}]}),
        ("diagnostic", []),
    ],
)
async def test_answers_of_the_wrong_shape_are_refused_whole(
    fake: Start, operation: str, result: Any
) -> None:
    tools = {
        "documentSymbol": "vscode.lsp.documentSymbols",
        "diagnostic": "vscode.lsp.diagnostics.document",
    }
    tool = tools.get(operation, f"vscode.lsp.{operation}")
    async with fake(**{operation: [{"result": result}]}) as running:
        arguments: dict[str, Any] = {"uri": running.uri("a.py")}
        if operation not in tools:
            arguments["position"] = HERE
        with pytest.raises(Unavailable, match="fake"):
            await running.call(tool, **arguments)


async def test_an_error_answer_does_not_leak_its_text(fake: Start) -> None:
    error = {"code": -32000, "message": "secret at /etc/shadow"}
    async with fake(GENEROUS, hover=[{"error": error}]) as running:
        failure = await failure_of(running)
        assert isinstance(failure, Unavailable)
        assert "shadow" not in f"{failure} {failure.details}"


@pytest.mark.parametrize("code", [-32800, -32801, -32802])
async def test_a_question_that_is_dropped_is_put_again(fake: Start, code: int) -> None:
    dropped = {"error": {"code": code, "message": ""}}
    async with fake(GENEROUS, hover=[*[dropped] * 3, {"result": HOVER}]) as running:
        await running.ready("a.py")
        assert (await hover(running, once=True))["summary"] == "Hover available."


async def test_a_question_that_is_dropped_too_often_is_for_the_caller_to_put_again(
    fake: Start,
) -> None:
    dropped = {"error": {"code": -32801, "message": ""}}
    async with fake(GENEROUS, hover=[*[dropped] * 16, {"result": HOVER}]) as running:
        assert isinstance(await failure_of(running), NotReady)
        assert (await hover(running))["summary"] == "Hover available."


async def test_answers_out_of_order_reach_their_own_callers(fake: Start) -> None:
    async with fake(GENEROUS, hover=[{"hold": HOVER}, {"result": None}]) as running:
        await running.ready("a.py")
        first = asyncio.create_task(hover(running, "a.py", once=True))
        await asked_hover(running, first)
        second = await hover(running, "b.py", once=True)
        assert second["summary"] == "No hover information."
        assert (await first)["summary"] == "Hover available."


async def test_a_server_that_ends_at_every_start_is_given_up(
    fake: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sightline.lsp.server.lifecycle._FIRST_REST_S", 0.001)
    async with fake(initialize=[{"crash": 1}]) as running:
        with pytest.raises(Unavailable, match="ended 5 times in a row"):
            await hover(running)
        with pytest.raises(Unavailable, match="ended 5 times in a row"):
            await hover(running, once=True)


@pytest.mark.parametrize("answers", [True, False])
async def test_a_server_that_crashes_is_given_up_unless_it_answers_in_between(
    fake: Start, monkeypatch: pytest.MonkeyPatch, answers: bool
) -> None:
    """However fast it ends: where it answers most, it is worth starting."""
    monkeypatch.setattr("sightline.lsp.server.lifecycle._FIRST_REST_S", 0.001)
    turns = [{"crash": 3}, {"result": HOVER}] if answers else [{"crash": 3}]
    async with fake(GENEROUS, hover=turns * 12) as running:

        async def ask(number: int, *, once: bool) -> Any:
            place = {"line": 0, "character": number}  # a repeat would come from memory
            ask = running.once if once else running.call
            return await ask("vscode.lsp.hover", uri=running.uri("a.py"), position=place)

        for number in range(7 if answers else 4):
            await running.ready("a.py")
            with pytest.raises(NotReady):
                await ask(number % 5, once=True)
            if answers:
                assert (await ask(number % 5, once=False))["summary"] == "Hover available."
        if not answers:
            with pytest.raises(Unavailable, match="ended 5 times in a row"):
                await ask(4, once=False)


async def test_a_program_that_cannot_run_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "a.py").write_text("x = 1\n")
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    registry = fake_registry(tmp_path / "fake", {})
    fake = registry.servers["fake"]
    import msgspec

    registry.servers["fake"] = msgspec.structs.replace(fake, command=(str(broken),))
    async with engine(tmp_path / "ws", cache=tmp_path, registry=registry) as running:
        with pytest.raises(Unavailable, match="could not be started"):
            await hover(running)


async def test_no_process_is_left_when_the_program_closes(fake: Start) -> None:
    async with fake(hover=[{"result": HOVER}], shutdown=[{"hang": True}]) as running:
        await hover(running)
        (status,) = running.program.pool.status()
        assert status.pid is not None
        assert alive(status.pid)
    assert not alive(status.pid)


async def test_the_server_is_told_to_stop_when_the_caller_cancels(
    fake: Start, tmp_path: Path
) -> None:
    async with fake(GENEROUS, hover=[{"hang": True}], definition=[{"result": []}]) as running:
        await running.ready("a.py")
        task = asyncio.create_task(hover(running, once=True))
        await asked_hover(running, task)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await running.call("vscode.lsp.definition", uri=running.uri("a.py"), position=HERE)
        methods = [m.get("method") for m in received_of(running)]
        assert "$/cancelRequest" in methods


async def asked_hover(running: Engine, asking: asyncio.Task[Any]) -> None:
    """Returns when the server has the question, which must still be open then."""
    await until(
        lambda: any(m.get("method") == "textDocument/hover" for m in received_of(running)),
        running.root.parent / "fake",
    )
    assert not asking.done()


def received_of(running: Engine) -> list[dict[str, Any]]:
    return received(running.root.parent / "fake")


async def test_a_server_that_ends_while_its_files_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file comes, the project is looked through in a thread, and the server dies meanwhile."""
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.py").write_text("x = 1\n")
    looking, go_on = threading.Event(), threading.Event()
    found = Project.held_open

    def slowly(project: Project, units: Iterable[str] = ()) -> HeldOpen:
        if (root / "b.py").exists() and not go_on.is_set():
            looking.set()
            go_on.wait(60)
        return found(project, units)

    monkeypatch.setattr(Project, "held_open", slowly)
    unseen: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unseen.append(context))
    registry = fake_registry(tmp_path / "fake", {"textDocument/hover": [{"result": HOVER}]})
    registry.servers["fake"] = msgspec.structs.replace(registry.servers["fake"], opens="gomod")
    async with engine(root, cache=tmp_path, registry=registry, settings=FAST) as running:
        await hover(running)
        (root / "b.py").write_text("y = 1\n")
        with pytest.raises(TimedOut):
            await hover(running, once=True)
        await asyncio.to_thread(looking.wait, 60)
        (before,) = running.program.pool.status()
        assert before.pid is not None
        os.kill(before.pid, signal.SIGKILL)
        while running.program.pool.status()[0].pid == before.pid:
            await asyncio.sleep(0)
        go_on.set()
        assert (await hover(running))["summary"] == "Hover available."
        (root / "c.py").write_text("z = 1\n")
        assert (await hover(running))["summary"] == "Hover available."
        gc.collect()
    assert unseen == []


DEEP: Any = []
for _ in range(400):
    DEEP = [DEEP]
#: What no listener expects, in the place of params.
ODD: list[Any] = [None, 7, "text", [], [{"message": "ready"}], {"message": {}}, {"value": DEEP}]
ODD += [{"value": 7, "token": "t"}, {"value": {"kind": "begin"}, "token": []}]
ODD += [{"value": {"kind": "end"}, "token": {}}, {"value": {"kind": ["end"]}, "token": None}]


@pytest.mark.parametrize(
    ("rule", "ready"),
    [
        ("status", ["experimental/serverStatus", {"quiescent": True}]),
        ("log", ["window/logMessage", {"type": 3, "message": "ready"}]),
        ("progress", ["$/progress", {"token": "ready", "value": {"kind": "end"}}]),
        ("notification", ["ready", None]),
    ],
)
async def test_a_server_that_says_odd_things_is_heard_on(
    tmp_path: Path, rule: str, ready: list[Any]
) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.py").write_text("x = 1\n")
    methods = ["experimental/serverStatus", "window/logMessage", "$/progress", "what/ever"]
    odd = [[method, params] for method in methods for params in ODD]
    script = {
        "initialized": [{"notify": [*odd, ready]}],
        "textDocument/hover": [{"notify": odd, "result": HOVER}],
    }
    troubles = (Trouble("never said", "nothing is wrong"),)
    registry = fake_registry(
        tmp_path / "fake", script, readiness=rule, ready_signal="ready", troubles=troubles
    )
    errors: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, error: errors.append(error))
    async with engine(root, cache=tmp_path, registry=registry, settings=GENEROUS) as running:
        await running.ready("a.py")
        assert (await hover(running))["summary"] == "Hover available."
    assert errors == []


async def test_a_server_that_registers_odd_things_is_told_of_changes(fake: Start) -> None:
    method = "workspace/didChangeWatchedFiles"
    odd: list[Any] = [7, "text", [{}], {"watchers": 7}, {"watchers": [7, {"globPattern": 7}]}]
    said = [
        [
            "client/registerCapability",
            {"registrations": [{"id": str(number), "method": method, "registerOptions": options}]},
            100 + number,
        ]
        for number, options in enumerate(odd)
    ]
    async with fake(GENEROUS, hover=[{"notify": said, "result": HOVER}]) as running:
        await hover(running)
        (running.root / "settings.cfg").touch()
        assert (await hover(running, once=True))["summary"] == "Hover available."


@pytest.mark.parametrize("broken", [OSError(errno.EIO, "Input/output error"), ValueError("a bug")])
async def test_a_project_that_cannot_be_looked_through_after_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: Exception
) -> None:
    """What must be open for the server is not known then, so it is not asked; it starts over."""
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.py").write_text("x = 1\n")
    found, failed = Project.held_open, list[Project]()

    def once(project: Project, units: Iterable[str] = ()) -> HeldOpen:
        if (root / "b.py").exists() and not failed:
            failed.append(project)
            raise broken
        return found(project, units)

    monkeypatch.setattr(Project, "held_open", once)
    unseen: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unseen.append(context))
    registry = fake_registry(tmp_path / "fake", {"textDocument/hover": [{"result": HOVER}]})
    registry.servers["fake"] = msgspec.structs.replace(registry.servers["fake"], opens="gomod")
    async with engine(root, cache=tmp_path, registry=registry, settings=GENEROUS) as running:
        await hover(running)
        (root / "b.py").write_text("y = 1\n")
        if not isinstance(broken, OSError):
            with pytest.raises(Bug):
                await hover(running, once=True)
        assert (await hover(running))["summary"] == "Hover available."
        heard = [message.get("method") for message in received_of(running)]
        assert heard.count("initialize") == 2
        gc.collect()
    assert failed and unseen == []


async def test_a_start_that_could_not_be_prepared_is_tried_again(
    fake: Start, tmp_path: Path
) -> None:
    """As with a full disk: what a start needs could not be written, and can be a moment later."""
    (tmp_path / "servers").write_text("in the way of the folder")
    async with fake(GENEROUS, hover=[{"result": HOVER}]) as running:
        for _ in range(2):
            with pytest.raises(Unavailable, match=r"cannot be written \(Not a directory\)"):
                await hover(running, once=True)
        (tmp_path / "servers").unlink()
        assert (await hover(running, once=True))["summary"] == "Hover available."


async def test_a_start_that_meets_a_bug_leaves_no_process_and_is_tried_again(
    fake: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold, failed = Documents.hold, list[Documents]()

    def once(documents: Documents, files: Iterable[tuple[SourceFile, str]]) -> None:
        if not failed:
            failed.append(documents)
            raise ValueError("a bug")
        hold(documents, files)

    monkeypatch.setattr(Documents, "hold", once)
    async with fake(GENEROUS, hover=[{"result": HOVER}]) as running:
        with pytest.raises(Bug):
            await hover(running, once=True)
        (status,) = running.program.pool.status()
        assert (status.state, status.pid) == ("stopped", None)
        assert (await hover(running, once=True))["summary"] == "Hover available."
        (status,) = running.program.pool.status()
        assert children_named(running) == [status.pid]


def children_named(running: Engine) -> list[int]:
    """The scripted servers that run below this process, without their keepers."""
    script = str(running.root.parent / "fake/script.json")
    found = children_of(os.getpid()).items()
    return [pid for pid, command in found if script in command.split() and " -- " not in command]
