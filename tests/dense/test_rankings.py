"""The same question has the same bytes while vectors are made: ``words`` and ``full`` depend on the
tree alone, and ``auto`` goes from the one to the other once and says which it is."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sightline.contract.failures import NotReady, TimedOut, Unavailable
from sightline.contract.settings import Settings
from sightline.index.building import vector_engine
from sightline.index.building.jobs import Broken, EncodeJob
from sightline.index.building.workers import Workers
from tests.support.engine import Engine, engine

QUESTION = "give the money back to somebody who paid too much"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    body = [f"def paid_{n}(much):\n    return much + {n}\n\n\n" for n in range(25)]
    refund = "def refund(customer, amount):\n    bank.transfer(customer, amount)\n"
    (folder / "paid.py").write_text("".join(body) + refund)
    return folder


class Held:
    """Vectors that are made when a test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked, self.go = asyncio.Event(), asyncio.Event()
        do: Callable[..., Awaitable[Any]] = Workers.do

        async def held(workers: Workers, job: Any, *rest: Any) -> Any:
            if isinstance(job, EncodeJob):
                self.asked.set()
                await self.go.wait()
            return await do(workers, job, *rest)

        monkeypatch.setattr(Workers, "do", held)
        monkeypatch.setattr(vector_engine, "_WAIT_CHUNKS", 0)


@asynccontextmanager
async def serving(root: Path, cache: Path, **settings: Any) -> AsyncIterator[Engine]:
    chosen = Settings(**settings)
    async with engine(root, cache=cache, families=("index",), settings=chosen) as running:
        await running.once("index_build")
        yield running


async def ask(running: Engine, **arguments: Any) -> Any:
    return await running.once("search", query=QUESTION, **arguments)


@pytest.mark.requirement("GW-1.3-deterministic")
async def test_words_and_full_depend_on_the_tree_alone(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        held = Held(patch)
        async with serving(root, tmp_path / "cache") as running:
            words = await ask(running, ranking="words")
            early = await ask(running)
            assert (words["ranking"], early["ranking"]) == ("words", "words")
            assert early["items"] == words["items"]
            assert (
                "Ranked by words alone, until vectors are ready: 0 of 26 are." in early["summary"]
            )
            assert "vectors" not in words["summary"]
            assert await ask(running) == early
            full_later = asyncio.create_task(ask(running, ranking="full"))
            await held.asked.wait()
            name = await running.once("search", query="refund")
            assert name["ranking"] == "full", "no vector would rank a name"
            assert await running.once("search", query="refund", ranking="words") == {
                **name,
                "ranking": "words",
                "nextCursor": None,
            }
            assert not full_later.done()
            held.go.set()
            full = await full_later
            assert full["ranking"] == "full" and full["items"] != words["items"]
            late = await ask(running)
            assert late["ranking"] == "full"
            assert (late["items"], late["summary"]) == (full["items"], full["summary"])
            assert await ask(running, ranking="words") == words
            assert await ask(running, ranking="full") == full
            # A list that began by words goes on by words.
            rest = await ask(running, cursor=early["nextCursor"])
            assert rest["ranking"] == "words"
            more = await ask(running, ranking="words", cursor=words["nextCursor"])
            assert rest["items"] == more["items"]
            assert (await ask(running, cursor=late["nextCursor"]))["ranking"] == "full"
    async with serving(root, tmp_path / "cache") as running:
        assert await ask(running, ranking="words") == words
        assert await ask(running, ranking="full") == full
        assert await ask(running) == late


async def test_a_search_is_the_same_again_in_all_three(root: Path, tmp_path: Path) -> None:
    for cache in ("one", "two"):
        async with serving(root, tmp_path / cache) as running:
            for ranking in ("words", "full", "auto"):
                pages = [await ask(running, ranking=ranking, pageSize=5) for _ in range(3)]
                assert pages[0] == pages[1] == pages[2]


async def test_full_is_refused_where_there_is_no_time_or_no_vector(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        held = Held(patch)
        async with serving(root, tmp_path / "cache") as running:
            calls = running.program.calls
            caps = calls._caps["search"]
            calls._caps["search"] = caps._replace(timeout_ms=300)
            with pytest.raises(TimedOut) as late:
                await ask(running, ranking="full")
            assert late.value.retryable
            calls._caps["search"] = caps
            held.go.set()
            assert (await ask(running, ranking="full"))["ranking"] == "full"
    async with serving(root, tmp_path / "cache", dense=False) as running:
        with pytest.raises(Unavailable, match="by the setting dense; ask with ranking words"):
            await ask(running, ranking="full")
        assert (await ask(running, ranking="words"))["ranking"] == "words"
        assert (await ask(running))["ranking"] == "words"
        by_name = await running.once("search", query="refund", ranking="full")
        assert by_name["ranking"] == "full"


async def test_full_is_refused_for_now_where_vectors_cannot_be_made(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    do: Callable[..., Awaitable[Any]] = Workers.do

    async def broken(workers: Workers, job: Any, *rest: Any) -> Any:
        if isinstance(job, EncodeJob):
            return Broken("no space left")
        return await do(workers, job, *rest)

    monkeypatch.setattr(Workers, "do", broken)
    async with serving(root, tmp_path / "cache") as running:
        with pytest.raises(NotReady, match="no space left; ask again, or ask with ranking words"):
            await ask(running, ranking="full")
        assert (await ask(running))["ranking"] == "words"
