"""A tool of the code family waits for what is not ready, says so, and fails in words in the end."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sightline.calls import waiting
from sightline.calls.calls import Caller, Finished
from sightline.protocol.revisions import NEWEST
from sightline.protocol.surface import ClientOptions
from sightline.tools.tool import silent
from tests.support.engine import Engine, engine, fake_registry, received
from tests.support.watching import HANG_S

USES = {"of": ["area"]}
USE = {"start": {"line": 2, "character": 6}, "end": {"line": 2, "character": 10}}


def script(root: Path, **methods: Any) -> dict[str, Any]:
    place = {"uri": (root / "main.py").as_uri(), "range": USE}
    return {"textDocument/references": [{"result": [place]}]} | methods


async def ask(running: Engine, told: list[str] | None = None) -> Finished:
    def progress(message: str, **_: Any) -> None:
        if told is not None:
            told.append(message)

    caller = Caller(ClientOptions(), NEWEST, progress if told is not None else silent)
    calls = running.program.calls
    return await calls.run("uses", USES, caller, arrived=time.monotonic())


def text(finished: Finished) -> str:
    assert isinstance(finished.outcome, msgspec.Raw)
    return str(json.loads(bytes(finished.outcome))["content"][0]["text"])


async def test_it_waits_and_says_for_what(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "_EVERY_S", 0.01)
    late = tmp_path / "late"
    answers = script(sample, initialize=[{"after": str(late), "result": {"capabilities": {}}}])
    registry = fake_registry(tmp_path / "fake", answers)
    async with engine(
        sample, cache=tmp_path / "cache", registry=registry, families=("code",)
    ) as running:
        told: list[str] = []
        call = asyncio.create_task(ask(running, told))
        async with asyncio.timeout(HANG_S):
            while "waiting for fake to start" not in told:
                await asyncio.sleep(0)
        assert not call.done()
        late.touch()
        finished = await call
    assert finished.failure is None
    assert text(finished).endswith("main.py\n  3 -  call  print(area(2, 3))")


async def test_what_is_not_ready_is_asked_again(sample: Path, tmp_path: Path) -> None:
    """A server that ends while it is asked starts over: that costs the caller nothing but time."""
    answers = script(sample)
    answers["textDocument/references"] = [{"crash": 1}, *answers["textDocument/references"]]
    registry = fake_registry(tmp_path / "fake", answers)
    async with engine(
        sample, cache=tmp_path / "cache", registry=registry, families=("code",)
    ) as running:
        finished = await ask(running)
    assert finished.failure is None and "1 use in 1 file" in text(finished)
    asked = [each for each in received(tmp_path / "fake") if each["method"] == "initialize"]
    assert len(asked) == 2


async def test_past_its_time_it_says_what_it_waited_for(sample: Path, tmp_path: Path) -> None:
    registry = fake_registry(tmp_path / "fake", {"initialize": [{"hang": True}]})
    async with engine(
        sample, cache=tmp_path / "cache", registry=registry, families=("code",)
    ) as running:
        calls = running.program.calls
        assert calls.code_timeout_ms == 30_000
        caps = calls._caps["uses"]
        assert (caps.timeout_ms, caps.goes_on) == (30_000, True)
        calls._caps["uses"] = caps._replace(timeout_ms=200)
        finished = await ask(running)
    assert text(finished) == (
        "the time limit passed; the work goes on, so retry in a moment (waiting for fake to start)"
    )
