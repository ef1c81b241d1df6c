"""Calls through the HTTP application: progress, cancelling, bounds. A stand-in tool is in control.

These run without sockets, so that a test decides when the work goes on.
"""

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.contract import limits
from sightline.contract.settings import ClientSettings, Settings
from sightline.server.http_exchange import Piece
from sightline.server.running import Runner
from sightline.tools.tool import Progress
from tests.support.clock import Clock
from tests.support.http import in_session, initialize
from tests.support.stand_in import Application, StandIn, of_family
from tests.support.watching import HANG_S

Work = Callable[[Progress, int], Awaitable[str]]


def application(tmp_path: Path, work: Work, family: str = "index", **options: Any) -> Application:
    return Application(of_family(StandIn(work), family), tmp_path, **options)


class Gate:
    """Work that waits to be let through."""

    def __init__(self) -> None:
        self.entered = asyncio.Semaphore(0)
        self.open = asyncio.Event()

    async def __call__(self, progress: Progress, line: int) -> str:
        self.entered.release()
        await self.open.wait()
        return f"line {line}"

    async def wait(self, count: int = 1) -> None:
        async with asyncio.timeout(HANG_S):
            for _ in range(count):
                await self.entered.acquire()


# Progress


@pytest.mark.requirement("ST-9-payload", "ST-9.2-none-after-the-end")
async def test_progress_is_an_event_stream(tmp_path: Path) -> None:
    async def work(progress: Progress, line: int) -> str:
        progress("reading", phase="index", done=1, total=2)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        progress("later", phase="index", done=2, total=2)
        return "done"

    app = application(tmp_path, work)
    session = await app.open()
    answer = await app.call(session, 7, token="tok")
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/event-stream"
    assert "content-length" not in answer.headers
    first, *others = answer.events
    assert first["method"] == "notifications/progress"
    params = first["params"]
    assert params["ts"].endswith("Z")
    assert params == {
        "progressToken": "tok",
        "progress": 1,
        "total": 2,
        "message": "reading",
        "id": "7",
        "tool": "vscode.lsp.hover",
        "stream": "info",
        "phase": "index",
        "ts": params["ts"],
    }
    assert others[-1]["id"] == 7 and "result" in others[-1]
    assert all("method" in event for event in others[:-1]), "the answer is the last event"


async def test_without_a_token_the_answer_is_json(tmp_path: Path) -> None:
    async def work(progress: Progress, line: int) -> str:
        progress("unheard", phase="x")
        await asyncio.sleep(0)
        return "done"

    app = application(tmp_path, work)
    session = await app.open()
    answer = await app.call(session, 1)
    assert answer.headers["content-type"] == "application/json"


async def test_with_a_token_but_nothing_to_tell_the_answer_is_json(tmp_path: Path) -> None:
    async def work(progress: Progress, line: int) -> str:
        return "done"

    app = application(tmp_path, work)
    answer = await app.call(await app.open(), 1, token="tok")
    assert answer.headers["content-type"] == "application/json"


async def test_http_1_0_has_no_stream(tmp_path: Path) -> None:
    async def work(progress: Progress, line: int) -> str:
        progress("unheard", phase="x")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return "done"

    app = application(tmp_path, work)
    answer = await app.call(await app.open(), 1, token="tok", version="1.0")
    assert answer.headers["content-type"] == "application/json"


class Wound(asyncio.SelectorEventLoop):
    """An event loop whose clock a test winds."""

    now = 1_000.0

    def time(self) -> float:
        return self.now


@pytest.mark.requirement("ST-9.1-throttled")
def test_at_most_four_messages_in_any_second(tmp_path: Path) -> None:
    """A message every hundredth of a second, for three seconds of the loop's clock."""
    loop = Wound()

    async def work(progress: Progress, line: int) -> str:
        app.deliveries.clear()
        for step in range(1, 301):
            progress(f"step {step}", phase="index", done=step, total=300)
            loop.now += 0.01
            for _ in range(5):  # what is due has its turn
                await asyncio.sleep(0)
        return "done"

    app = application(tmp_path, work)

    async def told() -> list[Any]:
        answer = await app.call(await app.open(), 1, token="tok")
        return answer.events

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        *events, last = runner.run(told())
    assert "result" in last
    *times, _ = app.deliveries
    assert len(times) == len(events) and 12 <= len(times) <= 13, "the latest is told in time"
    for first, fifth in zip(times, times[4:], strict=False):
        assert fifth - first >= 1.0 - 1e-6
    steps = [event["params"]["progress"] for event in events]
    assert steps[0] == 1 and min(b - a for a, b in itertools.pairwise(steps)) >= 25


async def test_progress_always_rises(tmp_path: Path) -> None:
    """MCP asks for it, whatever a tool reports."""

    async def work(progress: Progress, line: int) -> str:
        app.deliveries.clear()
        for number, done in enumerate((5, 3, None), 1):
            progress("x", phase="p", done=done)
            while len(app.deliveries) < number:
                await asyncio.sleep(0)
        return ""

    app = application(tmp_path, work)
    answer = await asyncio.wait_for(app.call(await app.open(), 1, token="tok"), HANG_S)
    *told, _ = answer.events
    steps = [event["params"]["progress"] for event in told]
    assert len(steps) == 3 and steps == sorted(set(steps))


# Cancelling


@pytest.mark.requirement("ST-7.1-stops", "ST-7.1-one-answer", "ST-7.1-code")
@pytest.mark.parametrize(
    ("method", "member"), [("notifications/cancelled", "requestId"), ("$/cancelRequest", "id")]
)
@pytest.mark.parametrize("family", ["lsp", "index"])
async def test_a_cancelled_post_is_answered(
    tmp_path: Path, method: str, member: str, family: str
) -> None:
    gate = Gate()
    app = application(tmp_path, gate, family)
    session = await app.open()
    post = asyncio.create_task(app.call(session, 8))
    await gate.wait()
    assert await app.notify(session, method, {member: "8"}) == 202
    answer = await asyncio.wait_for(post, HANG_S)
    assert answer.json["id"] == 8
    if family == "lsp":
        assert answer.json["error"]["code"] == -32800
        assert answer.json["error"]["data"] == {"code": "MCP_LSP_GATEWAY/CANCELLED"}
    else:
        assert answer.json["result"]["isError"] is True
        assert json.loads(answer.json["result"]["content"][0]["text"])["code"] == "CANCELLED"
    await asyncio.sleep(0)
    assert app.tool.stopped == 1


async def test_a_call_cancelled_before_its_first_step_is_answered(tmp_path: Path) -> None:
    gate = Gate()
    app = application(tmp_path, gate, "lsp")
    session = await app.open()
    post = asyncio.create_task(app.call(session, 8))
    cancel = asyncio.create_task(app.notify(session, "$/cancelRequest", {"id": 8}))
    answer = await asyncio.wait_for(post, HANG_S)
    await cancel
    assert answer.json["error"]["code"] == -32800
    gate.open.set()
    assert "result" in (await app.call(session, 8)).json, "its id is free again"


async def test_a_call_cancelled_before_it_has_a_task_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another connection may say so in the same turn of the loop."""
    app, run = application(tmp_path, Gate(), "lsp"), Runner.run

    async def late(self: Runner, session: Any, call: Any, *, arrived: float) -> bytes | None:
        call.cancelled = True
        return await run(self, session, call, arrived=arrived)

    session = await app.open()
    monkeypatch.setattr(Runner, "run", late)
    answer = await asyncio.wait_for(app.call(session, 8), HANG_S)
    assert answer.json["error"]["code"] == -32800
    assert app.tool.stopped == 0


async def test_cancelling_reaches_its_own_session_only(tmp_path: Path) -> None:
    gate = Gate()
    app = application(tmp_path, gate, "lsp")
    mine, theirs = await app.open(), await app.open()
    post = asyncio.create_task(app.call(mine, 8))
    await gate.wait()
    assert await app.notify(theirs, "$/cancelRequest", {"id": 8}) == 202
    gate.open.set()
    assert "result" in (await asyncio.wait_for(post, HANG_S)).json


@pytest.mark.requirement("ST-7.3-no-progress")
async def test_no_progress_after_a_cancel(tmp_path: Path) -> None:
    entered = asyncio.Event()

    async def work(progress: Progress, line: int) -> str:
        progress("begun", phase="p")
        await asyncio.sleep(0)
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            progress("too late", phase="p")
        return ""

    app = application(tmp_path, work)
    session = await app.open()
    post = asyncio.create_task(app.call(session, 8, token="tok"))
    await asyncio.wait_for(entered.wait(), HANG_S)
    await app.notify(session, "notifications/cancelled", {"requestId": 8})
    *told, last = (await asyncio.wait_for(post, HANG_S)).events
    assert [event["params"]["message"] for event in told] == ["begun"]
    assert last["result"]["isError"] is True


async def test_duplicate_ids_in_flight(tmp_path: Path) -> None:
    gate = Gate()
    app = application(tmp_path, gate, "lsp")
    session = await app.open()
    post = asyncio.create_task(app.call(session, 8))
    await gate.wait()
    again = await app.call(session, "8")
    assert again.json["error"]["code"] == -32600 and again.json["id"] == "8"
    gate.open.set()
    assert "result" in (await asyncio.wait_for(post, HANG_S)).json


# Bounds


@pytest.mark.requirement("GW-1.4-bounded")
@pytest.mark.parametrize("family", ["lsp", "index"])
async def test_too_many_calls_at_once(
    tmp_path: Path, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert limits.MAX_CALLS_IN_FLIGHT == 256
    monkeypatch.setattr(limits, "MAX_CALLS_IN_FLIGHT", 8)
    gate = Gate()
    app = application(tmp_path, gate, family)
    session = await app.open()
    posts = [asyncio.create_task(app.call(session, number)) for number in range(8)]
    await gate.wait(8)
    refused = (await app.call(session, 999)).json
    if family == "lsp":
        assert refused["error"]["data"]["code"] == "MCP_LSP_GATEWAY/CAP_EXCEEDED"
        assert refused["error"]["data"]["details"] == {"retryable": True}
    else:
        text = refused["result"]["content"][0]["text"]
        assert json.loads(text)["code"] == "QUEUE_OVERLOADED"
    gate.open.set()
    answers = await asyncio.wait_for(asyncio.gather(*posts), HANG_S)
    assert all("result" in answer.json for answer in answers)
    assert "result" in (await app.call(session, 999)).json


@pytest.mark.requirement("GW-5.3-response-bytes")
async def test_the_answer_cap_counts_the_whole_body(tmp_path: Path) -> None:
    async def work(progress: Progress, line: int) -> str:
        return "x" * line

    app = application(tmp_path, work, "lsp")
    session = await app.open()
    cap = limits.MAX_RESPONSE_BYTES
    sizes = {}
    for line in (cap - 3_000, cap - 1_100, cap - 100, cap + 10):
        answer = await app.call(session, line)
        assert len(answer.body) <= cap
        sizes[line] = answer.json
    assert "result" in sizes[cap - 3_000]
    for line in (cap - 100, cap + 10):
        assert sizes[line]["error"]["data"]["code"] == "MCP_LSP_GATEWAY/CAP_EXCEEDED"


@pytest.mark.requirement("GW-6.3-INTERNAL")
async def test_a_bug_says_nothing(tmp_path: Path) -> None:
    async def work(progress: Progress, line: int) -> str:
        raise ValueError("PLANTED /etc/shadow")

    app = application(tmp_path, work, "lsp")
    answer = await app.call(await app.open(), 1)
    assert answer.json["error"]["code"] == -32603
    assert answer.json["error"]["data"] == {"code": "MCP_LSP_GATEWAY/INTERNAL"}
    assert b"PLANTED" not in answer.body and b"ValueError" not in answer.body
    assert [type(bug) for bug in app.bugs] == [ValueError]


async def test_an_unknown_tool(tmp_path: Path) -> None:
    app = application(tmp_path, Gate(), "lsp")
    session = await app.open()
    params = {"name": "PLANTED-tool", "arguments": {}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = await app.post(message, headers=in_session(session))
    assert answer.json["error"]["code"] == -32602
    assert answer.json["error"]["data"] == {"code": "MCP_LSP_GATEWAY/INVALID_PARAMS"}
    assert b"PLANTED" not in answer.body


# Stopping


@pytest.mark.requirement("GT-graceful-stop")
@pytest.mark.parametrize("token", [None, "tok"])
async def test_a_call_that_is_stopped_with_the_server_is_answered(
    tmp_path: Path, token: str | None
) -> None:
    """The server cancels what still runs when its grace is over."""
    gate = Gate()
    app = application(tmp_path, gate, "lsp")
    post = asyncio.create_task(app.call(await app.open(), 8, token=token))
    await gate.wait()
    post.cancel()
    answer = await asyncio.wait_for(post, HANG_S)
    assert answer.json["error"]["code"] == -32800


async def test_a_request_that_is_stopped_while_it_arrives(tmp_path: Path) -> None:
    app = application(tmp_path, Gate(), "lsp")

    async def never() -> Piece | None:
        await asyncio.Event().wait()
        raise AssertionError

    post = asyncio.create_task(app.post(b"", pieces=never))
    await asyncio.sleep(0)
    post.cancel()
    answer = await asyncio.wait_for(post, HANG_S)
    assert (answer.status, answer.body) == (503, b"")


# Sessions and time


@pytest.mark.requirement("GT-sessions")
async def test_idle_sessions_expire(tmp_path: Path) -> None:
    clock = Clock()
    app = application(tmp_path, Gate(), "lsp", clock=clock, settings=Settings(session_idle_s=100))
    idle, used = await app.open(), await app.open()
    clock.now += 60
    assert await app.notify(used, "x", {}) == 202
    clock.now += 60
    assert await app.notify(used, "x", {}) == 202
    assert await app.notify(idle, "x", {}) == 404
    clock.now += 101
    assert await app.notify(used, "x", {}) == 404


async def test_a_session_with_a_running_call_does_not_expire(tmp_path: Path) -> None:
    clock, gate = Clock(), Gate()
    app = application(tmp_path, gate, "index", clock=clock, settings=Settings(session_idle_s=1))
    session = await app.open()
    post = asyncio.create_task(app.call(session, 8))
    await gate.wait()
    clock.now += 50
    gate.open.set()
    assert "result" in (await asyncio.wait_for(post, HANG_S)).json
    assert await app.notify(session, "x", {}) == 404


VERSION = {"mcp-protocol-version": "2025-11-25"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def without_sessions(tmp_path: Path, work: Work, **settings: Any) -> Application:
    chosen = Settings(enable_sessions=False, **settings)
    return application(tmp_path, work, "lsp", settings=chosen)


async def test_without_sessions_every_request_stands_alone(tmp_path: Path) -> None:
    app = without_sessions(tmp_path, Gate())
    assert "result" in (await app.post(LIST, headers=VERSION)).json
    answer = await app.post(initialize())
    assert "mcp-session-id" not in answer.headers
    assert "result" in (await app.post(LIST, headers=VERSION | {"mcp-session-id": "x"})).json
    done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await app.post(done, headers=VERSION)).status == 202
    assert (await app.post(LIST)).status == 400, "the version header is still needed"
    assert (await app.post(initialize())).status == 200


async def test_without_sessions_clients_may_use_the_same_id_at_once(tmp_path: Path) -> None:
    gate = Gate()
    app = without_sessions(tmp_path, gate)

    def call(line: int) -> dict[str, Any]:
        arguments = {"uri": "file:///ws/a.py", "position": {"line": line, "character": 0}}
        params = {"name": "vscode.lsp.hover", "arguments": arguments}
        return {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}

    posts = [asyncio.create_task(app.post(call(line), headers=VERSION)) for line in (0, 1)]
    await gate.wait(2)
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
    assert (await app.post(cancel, headers=VERSION)).status == 202
    gate.open.set()
    for line, answer in enumerate(await asyncio.wait_for(asyncio.gather(*posts), HANG_S)):
        assert f"line {line}" in json.dumps(answer.json["result"])


async def test_without_sessions_the_header_is_optional_if_it_is_for_some_client(
    tmp_path: Path,
) -> None:
    named = {"other": ClientSettings(protocol_header="session")}
    app = without_sessions(tmp_path, Gate(), clients=named)
    assert "result" in (await app.post(LIST)).json
    assert (await app.post(LIST, headers={"mcp-protocol-version": "1999-01-01"})).status == 400
