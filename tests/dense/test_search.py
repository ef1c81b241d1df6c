"""Vectors in a search: complete or left out, fresh after every edit, off when turned off."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.contract.failures import Unavailable
from sightline.index.building import vector_engine
from sightline.index.building.jobs import Broken, EncodeJob
from sightline.index.dense.vectors import VectorLog, path_key
from sightline.index.index import Index
from sightline.index.searching.fusion import clearness, fused, fusion_for
from sightline.index.searching.query import understand
from sightline.index.searching.search import Request
from sightline.tools.tool import silent
from tests.support.index import build, found, open_index

SHOP = """
def give_back(amount, customer):
    ledger.append((customer, -amount))
    bank.transfer(customer.account, amount)

def weigh(parcel):
    return sum(item.grams for item in parcel)
"""
STORE = """
class Cache:
    def lookup(self, key):
        return self._table.get(key)

    def evict(self):
        oldest = min(self._table, key=self._ages.get)
        del self._table[oldest]
"""
QUESTION = "drop the least recently used entry from memory"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "shop.py").write_text(SHOP)
    (folder / "store.py").write_text(STORE)
    return folder


@pytest.fixture
async def index(root: Path, tmp_path: Path) -> AsyncIterator[Index]:
    async with open_index(root, tmp_path / "cache") as opened:
        await build(opened)
        yield opened


async def note(index: Index, query: str) -> str:
    await index.workspace.begin()
    return (await index.search(Request(query), silent)).note


async def test_a_question_without_a_shared_word_finds_its_answer(index: Index) -> None:
    items = await found(index, QUESTION, explain=True)
    assert items[0].name == "evict"
    assert any(reason.startswith("near in meaning: ") for reason in items[0].reasons)
    assert await note(index, QUESTION) == ""


async def test_names_and_phrases_are_looked_up_word_for_word(index: Index) -> None:
    for query in ("Cache.evict", "evict", '"del self"', "give_back"):
        assert fusion_for(understand(query)) == 0.0
        for item in await found(index, query, explain=True):
            assert not any(reason.startswith("near in meaning") for reason in item.reasons)
    issue = " ".join(f"{QUESTION} while{number}" for number in range(12))
    assert fusion_for(understand(QUESTION)) > fusion_for(understand(issue)) > 0


async def test_a_text_that_stands_there_as_written_goes_by_words(index: Index, root: Path) -> None:
    text = "the parcel is too heavy for one courier"
    (root / "limits.py").write_text(f'def check(parcel):\n    raise ValueError("{text}")\n')
    for query, blurred in ((text, False), ("refuses what one courier cannot carry", True)):
        items = await found(index, query, explain=True)
        assert items[0].name == "check"
        reasons = [reason for item in items for reason in item.reasons]
        assert any(reason.startswith("near in meaning") for reason in reasons) is blurred


async def test_explain_says_what_vectors_counted_in_the_end(index: Index) -> None:
    [first, *_] = await found(index, QUESTION, explain=True)
    [reason] = [reason for reason in first.reasons if reason.startswith("near in meaning")]
    weight = float(reason.rpartition("weight ")[2].rstrip(")"))
    assert 0.0 < weight <= fusion_for(understand(QUESTION))


@given(st.lists(st.floats(-1, 1), max_size=40), st.floats(0, 1))
def test_vectors_count_less_where_nothing_stands_out(near: list[float], more: float) -> None:
    values = np.array(near)
    kept = clearness(values)
    assert 0.0 <= kept <= 1.0
    assert clearness(np.array([*near, *near])) == kept
    if near:
        assert clearness(np.array([*near, max(near) + more])) >= kept
        assert clearness(np.full(3, near[0])) == 0.0


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=40),
    st.lists(st.floats(-1, 1), min_size=40, max_size=40),
    st.floats(0, 4),
)
def test_joined_scores_stay_between_0_and_1(
    base: list[float], near: list[float], weight: float
) -> None:
    words, nearness = np.array(base), np.array(near[: len(base)])
    joined = fused(words, nearness, weight)
    assert ((joined >= 0.0) & (joined <= 1.0)).all()
    assert (joined[(words == 0.0) & (nearness <= 0.0)] == 0.0).all()
    if (nearness <= 0.0).all():
        assert np.array_equal(joined, words)


async def test_what_an_edit_changed_is_encoded_before_the_next_answer(
    index: Index, root: Path, tmp_path: Path
) -> None:
    await found(index, QUESTION)
    (root / "store.py").write_text(
        STORE.replace("evict", "shrink") + "\n\ndef unrelated():\n    return 1\n"
    )
    (root / "more.py").write_text("def add_tax(price):\n    return price * 1.2\n")
    edited = await found(index, QUESTION)
    assert edited[0].name == "shrink"
    async with open_index(root, tmp_path / "fresh") as fresh:
        await build(fresh)
        anew = await found(fresh, QUESTION)
    assert [(i.id, i.score) for i in anew] == [(i.id, i.score) for i in edited]
    (root / "store.py").unlink()
    assert all(item.path != "store.py" for item in await found(index, QUESTION))


async def test_unchanged_chunks_keep_their_vectors(index: Index, root: Path) -> None:
    await found(index, QUESTION)
    [builder] = index.builders.values()
    [path] = Path(builder.library.store.folder).glob("*.vectors")
    log = VectorLog(str(path), 256)
    log.refresh()
    before = log.get(path_key("store.py"))
    (root / "store.py").write_text(STORE + "\n\ndef one_more():\n    return 1\n")
    await found(index, QUESTION)
    log.refresh()
    after = log.get(path_key("store.py"))
    assert before is not None and after is not None
    assert set(before.keys) < set(after.keys)
    assert log.size / builder.library.snapshot().living_chunks < 600  # two versions of one file


async def test_words_alone_when_turned_off(root: Path, tmp_path: Path) -> None:
    async with open_index(root, tmp_path / "cache", dense=False) as index:
        await build(index)
        assert await note(index, QUESTION) == ""
        assert not list(tmp_path.rglob("*.vectors"))
        [builder] = index.builders.values()
        standing = await index.dense.standing(builder, builder.snapshot)
        assert standing.problem == "turned off by the setting dense"


async def test_a_model_that_cannot_be_loaded_harms_nothing_else(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise Unavailable("the search model is damaged; install Sightline again")

    monkeypatch.setattr(vector_engine, "bundled", broken)
    async with open_index(root, tmp_path / "cache") as index:
        await build(index)
        items = await found(index, "give the amount back to the customer")
        assert items[0].name == "give_back"
        said = await note(index, "give the amount back to the customer")
        assert (
            said == "Ranked by words alone: the search model is damaged; install Sightline again."
        )


async def test_an_answer_before_the_vectors_are_ready_says_so(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_engine, "_WAIT_CHUNKS", 0)
    async with open_index(root, tmp_path / "cache") as index:
        await index.workspace.begin()
        [builder] = index.builders.values()
        await builder.refresh(lambda: index.tree(builder.library.store.root), silent)
        told = await note(index, QUESTION)
        assert told.startswith("Ranked by words alone, until vectors are ready: 0 of ")
        [builder] = index.builders.values()
        standing = await index.dense.finish(builder)
        assert standing.complete and standing.chunks > 0
        assert await note(index, QUESTION) == ""


async def test_damaged_vectors_are_made_again(index: Index, root: Path, tmp_path: Path) -> None:
    before = [(item.id, item.score) for item in await found(index, QUESTION)]
    [builder] = index.builders.values()
    [path] = Path(builder.library.store.folder).glob("*.vectors")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    (path.parent / "copy").write_bytes(data)
    (path.parent / "copy").replace(path)
    async with open_index(root, tmp_path / "cache") as again:
        assert [(item.id, item.score) for item in await found(again, QUESTION)] == before


async def test_a_job_whose_segments_went_is_done_again(
    index: Index, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Edits may merge the segments that a job names before a worker has read them."""
    await found(index, QUESTION)
    do, overtaken = index.workers.do, list[object]()

    async def late(job: Any, *rest: Any) -> Any:
        if isinstance(job, EncodeJob) and not overtaken:
            overtaken.append(job)
            (root / "more.py").write_text("def add_tax(price):\n    return price * 1.2\n")
            await index.workspace.begin()
            await index.ready(silent)
            return Broken("No such file or directory")
        return await do(job, *rest)

    monkeypatch.setattr(index.workers, "do", late)
    (root / "store.py").write_text(STORE.replace("evict", "shrink"))
    await found(index, QUESTION)  # of a state that has been overtaken
    assert overtaken
    assert (await found(index, QUESTION))[0].name == "shrink"
    assert not index.dense.problem
    assert await note(index, QUESTION) == ""


async def test_vectors_that_could_not_be_made_are_tried_again(
    index: Index, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await found(index, QUESTION)
    do = index.workers.do

    async def full(job: Any, *rest: Any) -> Any:
        return Broken("no space left") if isinstance(job, EncodeJob) else await do(job, *rest)

    monkeypatch.setattr(index.workers, "do", full)
    (root / "store.py").write_text(STORE.replace("evict", "shrink"))
    await found(index, QUESTION)
    assert await note(index, QUESTION) == (
        "Ranked by words alone: vectors could not be made: no space left."
    )
    monkeypatch.setattr(index.workers, "do", do)
    # An answer by words that is kept holds until they are tried again; no file changed.
    epochs = (await index.workspace.begin()).epochs
    answer = await index.search(Request(QUESTION), silent)
    assert answer.preliminary and answer.holds()
    monkeypatch.setattr(index.dense, "_rests_until", 0.0)
    index.dense._rested()
    assert not answer.holds()
    assert (await index.workspace.begin()).epochs == epochs
    await found(index, QUESTION)
    assert await note(index, QUESTION) == ""
