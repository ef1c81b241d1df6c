"""A cursor goes on in the list it was made for, or is refused."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from sightline.contract.failures import CursorExpired, CursorInvalid
from sightline.contract.settings import Settings
from tests.support.engine import Engine, engine

_QUESTION = "give the money back to somebody who paid too much"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    body = [f"def paid_{n}(much):\n    return much + {n}\n\n\n" for n in range(30)]
    (folder / "paid.py").write_text("".join(body))
    return folder


async def test_a_list_by_words_alone_does_not_go_on_by_vectors(root: Path, tmp_path: Path) -> None:
    def serving(settings: Settings) -> AbstractAsyncContextManager[Engine]:
        return engine(root, cache=tmp_path / "cache", families=("index",), settings=settings)

    async with serving(Settings(dense=False)) as running:
        await running.once("index_build")
        cursor = (await running.once("search", query=_QUESTION))["nextCursor"]
        again = await running.once("search", query=_QUESTION, cursor=cursor)
        assert len(again["items"]) == 10, "as long as the list is kept"
    async with serving(Settings()) as running:
        await running.once("index_build")
        with pytest.raises(CursorExpired):  # it may be of this tree; the list is made anew
            await running.once("search", query=_QUESTION, cursor=cursor)
        found = await running.once("search", query=_QUESTION)
        assert found["nextCursor"] != cursor
        with pytest.raises(CursorExpired):
            await running.once("search", query=_QUESTION, cursor=cursor)
        more = await running.once("search", query=_QUESTION, cursor=found["nextCursor"])
        assert len(more["items"]) == 10


async def test_a_cursor_is_of_the_ranking_that_was_asked_for(root: Path, tmp_path: Path) -> None:
    async with engine(root, cache=tmp_path / "cache", families=("index",)) as running:
        await running.once("index_build")
        rankings = ("words", "full", "auto")
        asked = {r: await running.once("search", query=_QUESTION, ranking=r) for r in rankings}
        for ranking, page in asked.items():
            for other in rankings:
                again = {"query": _QUESTION, "ranking": other, "cursor": page["nextCursor"]}
                if other == ranking:
                    assert len((await running.once("search", **again))["items"]) == 10
                else:
                    with pytest.raises(CursorInvalid):
                        await running.once("search", **again)
        absent = await running.once("search", query=_QUESTION)
        assert absent == asked["auto"], "auto is what is meant where nothing is said"
