"""A long build and its client: progress, others served meanwhile, cancelling, time limits."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sightline.calls import families
from sightline.contract.failures import TimedOut
from tests.support.corpus import write_corpus
from tests.support.engine import engine
from tests.support.processes import children_of, left_after
from tests.support.stdio import StdioServer
from tests.support.watching import HANG_S

#: More than one batch of files, so that something is finished before the end.
FILES = 2_400


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("big") / "ws"
    write_corpus(root, FILES, functions=3)
    return root


class Client:
    """A client with a build in flight, which keeps everything it is told."""

    def __init__(self, server: StdioServer) -> None:
        self.server = server
        server.initialize()
        self.told: list[dict[str, Any]] = []
        self.answers: dict[Any, dict[str, Any]] = {}

    def ask(self, id: Any, tool: str, token: str | None = None, **arguments: Any) -> None:
        params: dict[str, Any] = {"name": tool, "arguments": arguments}
        if token is not None:
            params["_meta"] = {"progressToken": token}
        self.server.send({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})

    def read(self) -> None:
        message = self.server.receive()
        if "method" in message:
            self.told.append(message["params"])
        else:
            self.answers[message["id"]] = message

    def until_progress(self) -> dict[str, Any]:
        """The first word about files that are done."""
        while not any(params["phase"] == "index" and params["progress"] for params in self.told):
            self.read()
        return self.told[-1]

    def answer(self, id: Any) -> dict[str, Any]:
        while id not in self.answers:
            self.read()
        return self.answers[id]

    def payload(self, id: Any) -> Any:
        return json.loads(self.answer(id)["result"]["content"][0]["text"])


def workers(pid: int) -> list[int]:
    """The index workers below a process."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        for child in children_of(waiting.pop()):
            waiting.append(child)
            try:
                words = Path(f"/proc/{child}/cmdline").read_bytes()
            except OSError:
                continue
            if b"sightline.index.building.worker" in words:
                found.append(child)
    return found


@pytest.mark.slow
@pytest.mark.requirement("ST-10-cancellation")
def test_a_build_is_watched_and_cancelled(
    stdio: Callable[..., StdioServer], corpus: Path, tmp_path: Path
) -> None:
    client = Client(stdio(corpus))
    client.ask("build", "index_build", token="t")
    first = client.until_progress()
    assert first["progressToken"] == "t" and first["tool"] == "index_build"
    assert 0 < first["progress"] <= first["total"] == FILES and first["phase"] == "index"
    # Everybody else is served meanwhile.
    client.server.send({"jsonrpc": "2.0", "id": "list", "method": "tools/list"})
    client.ask("status", "index_status")
    client.ask("search", "search", query="parser")
    assert len(client.answer("list")["result"]["tools"]) >= 6
    (root,) = client.payload("status")["roots"]
    assert root["state"] == "building" and root["building"]["total"] == FILES
    refused = client.payload("search")
    assert refused["code"] == "NO_INDEX" and refused["details"]["building"] is True
    assert refused["details"]["filesTotal"] == FILES
    assert "build" not in client.answers
    # Wait until a batch is finished, then cancel.
    number = 0
    while root["files"] == 0:
        number += 1
        client.ask(number, "index_status")
        (root,) = client.payload(number)["roots"]
        assert "build" not in client.answers, "the corpus is too small for this test"
    busy = workers(client.server.process.pid)
    assert busy
    client.server.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": "build"}})
    assert client.payload("build")["code"] == "CANCELLED"
    said = len(client.told)
    assert left_after(HANG_S, busy) == [], "no worker goes on"
    client.ask("after", "index_status")
    (root,) = client.payload("after")["roots"]
    assert (root["state"], root["building"]) == ("incomplete", None)
    assert 0 < root["files"] < FILES, "finished files are kept"
    client.ask("again", "index_build")
    (report,) = client.payload("again")["roots"]
    assert report["files"] == FILES and report["added"] == FILES - root["files"]
    assert len(client.told) == said, "no progress after the end"


@pytest.mark.slow
def test_search_goes_on_during_a_rebuild(stdio: Callable[..., StdioServer], corpus: Path) -> None:
    client = Client(stdio(corpus))
    client.ask(1, "index_build")
    assert client.payload(1)["roots"][0]["files"] == FILES
    client.ask(2, "search", query="parser")
    before = client.payload(2)
    client.ask("build", "index_build", token="t", force=True)
    client.until_progress()
    client.ask(3, "search", query="parser")
    assert client.payload(3) == before
    edited = next(corpus.rglob("*.py"))
    text = edited.read_text()
    try:
        edited.write_text(text + "\ndef unheard_of_otter():\n    pass\n")
        client.ask(4, "search", query="unheard_of_otter")
        (hit, *_) = client.payload(4)["items"]
        assert hit["name"] == "unheard_of_otter"
        client.server.send(
            {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": "build"}}
        )
        client.answer("build")
        client.ask(5, "search", query="unheard_of_otter")
        assert client.payload(5)["items"][0] == hit
    finally:
        edited.write_text(text)


#: ``sightline`` with limits that a test can wait for. The rest is as it is installed.
HURRIED = """
from sightline.contract import limits
limits.INDEX_BUILD_TIMEOUT_MS = {build}
limits.INDEX_TIMEOUT_MS = {other}
from sightline.cli.launch import run
run()
"""


def hurried(corpus: Path, home: Path, *, build: int = 600_000, other: int = 120_000) -> StdioServer:
    program = (sys.executable, "-c", HURRIED.format(build=build, other=other))
    return StdioServer.start(["--tools", "index", str(corpus)], home, program=program)


@pytest.mark.slow
@pytest.mark.requirement("ST-10-timeouts", "ST-8.1-aborted", "ST-8.1-code")
def test_a_build_out_of_time_on_the_wire(corpus: Path, home: Path) -> None:
    """Its workers are held up, so that it cannot end before its time."""
    client = Client(hurried(corpus, home, build=10_000))
    client.ask("build", "index_build", token="t")
    client.until_progress()
    busy = workers(client.server.process.pid)
    assert busy
    for pid in busy:
        os.kill(pid, signal.SIGSTOP)
    result = client.answer("build")["result"]
    assert result["isError"] is True and "structuredContent" not in result
    payload = client.payload("build")
    assert (payload["code"], payload["timeoutMs"]) == ("TOOL_TIMEOUT", 10_000)
    assert left_after(HANG_S, busy) == []
    client.ask("after", "index_status")
    assert client.payload("after")["roots"][0]["building"] is None
    assert workers(client.server.process.pid) == []
    client.server.stop()


@pytest.mark.requirement("ST-8.1-code")
@pytest.mark.parametrize(
    ("tool", "arguments"), [("search", {"query": "parser"}), ("show_file", {"path": "one.py"})]
)
def test_out_of_time_on_the_wire(
    home: Path, tmp_path: Path, tool: str, arguments: dict[str, Any]
) -> None:
    """A limit that is over when the call begins."""
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws/one.py").write_text("parser = 1\n")
    client = Client(hurried(tmp_path / "ws", home, other=0))
    client.ask("late", tool, **arguments)
    result = client.answer("late")["result"]
    assert result["isError"] is True and "structuredContent" not in result
    payload = client.payload("late")
    assert (payload["code"], payload["timeoutMs"]) == ("TOOL_TIMEOUT", 0)
    assert payload["message"] and "error" not in client.answer("late")
    client.server.stop()


@pytest.mark.slow
@pytest.mark.requirement("ST-10-timeouts")
async def test_a_build_out_of_time(corpus: Path, tmp_path: Path) -> None:
    async with engine(corpus, cache=tmp_path / "cache", families=("index",)) as running:
        calls = running.program.calls
        calls.index_build_timeout_ms = 300
        calls.__post_init__()
        with pytest.raises(TimedOut) as caught:
            await running.once("index_build")
        told = families.failed("index", caught.value)
        assert isinstance(told, msgspec.Raw)
        error = json.loads(json.loads(bytes(told))["content"][0]["text"])
        assert (error["code"], error["timeoutMs"]) == ("TOOL_TIMEOUT", 300)
        assert "the work was stopped" in error["message"] and "again" in error["hint"]
        assert "goes on" not in json.dumps(error), "one truth per family"
        # In a thread: the workers are ended by the loop that this test runs in.
        assert await asyncio.to_thread(left_after, HANG_S, workers(os.getpid())) == []
        async with asyncio.timeout(HANG_S):  # what a thread is doing is finished first
            while (await running.once("index_status"))["roots"][0]["building"] is not None:
                await asyncio.sleep(0)
