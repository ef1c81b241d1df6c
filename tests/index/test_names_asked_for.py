"""One name is asked for: its declarations come first, those in tests last of them; then what has
the word; and where nothing has it, that is said, with the names that are spelled nearly so."""

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Workspace
from tests.support.engine import Engine, engine
from tests.support.index import index_engine

FILES = {
    "src/orders.py": """
        class Order:
            def total_price(self):
                return sum(self.lines)

            def close(self):
                self.closed = True
        """,
    "src/pricing.py": """
        def total_of_price(price, total):
            # The total price: price of total, total of price; see legacyTotal.
            return price * total


        def setup():
            return "gross_amount_limit"
        """,
    "tests/test_orders.py": """
        # total price total price total price
        def total_price():
            return "total price"


        class Order:
            def close(self):
                close = "close"
                return close

        def close():
            return "close close"
        """,
    "docs/guide.md": """
        # Gross amount limit

        Gross amounts have a limit: the gross limit of an amount. The gross, the amount, the limit.
        """,
}


async def ask(running: Engine, query: str, **arguments: Any) -> tuple[list[Any], str]:
    answer = await running.once("search", query=query, **arguments)
    return answer["items"], answer["summary"]


ASKED: list[tuple[str, dict[str, Any]]] = [
    ("total_price", {}),
    ("the total price", {"symbol": "total_price"}),
    ("total_price", {"symbol": "total_price"}),
    ("totalPrice", {}),
    ("Order.close", {}),
    ("close", {}),
    ("close close close", {"symbol": "close"}),
    ("nothing of it", {"symbol": "Order"}),
]


async def test_declarations_in_tests_come_after_the_others(
    workspace: Workspace, tmp_path: Path
) -> None:
    async with index_engine(workspace(FILES), tmp_path / "cache") as running:
        for query, arguments in ASKED:
            hits, _ = await ask(running, query, **arguments)
            paths = [hit["path"] for hit in hits]
            assert paths[0] == "src/orders.py", (query, arguments)
            assert "tests/test_orders.py" in paths, (query, arguments)
        hits, _ = await ask(running, "close", path=["tests/**"])
        assert hits[0]["name"] == "close", "tests are asked for"


async def test_what_has_the_word_comes_before_what_has_its_parts(
    workspace: Workspace, tmp_path: Path
) -> None:
    async with index_engine(workspace(FILES), tmp_path / "cache") as running:
        for name, path in (
            ("gross_amount_limit", "src/pricing.py"),
            ("legacyTotal", "src/pricing.py"),
            ("LEGACYTOTAL", "src/pricing.py"),
            ("Gross", "docs/guide.md"),
        ):
            hits, summary = await ask(running, name)
            assert hits[0]["path"] == path, name
            assert "occurs nowhere" not in summary


async def test_a_name_that_is_nowhere_is_said_to_be(workspace: Workspace, tmp_path: Path) -> None:
    root = workspace(FILES)
    async with index_engine(root, tmp_path / "cache") as running:
        _, summary = await ask(running, "total_prise")
        assert summary.startswith(
            "'total_prise' occurs nowhere in the indexed files; near names: total_price"
        )
        assert "ranked hits for parts of it." in summary
        hits, summary = await ask(running, "setpu")
        assert summary.startswith("'setpu' occurs nowhere in the indexed files; near names: setup.")
        hits, summary = await ask(running, "QuuxFrobnicator")
        assert (hits, summary.partition(".")[0]) == (
            [],
            "'QuuxFrobnicator' occurs nowhere in the indexed files",
        )
        _, summary = await ask(running, "legacyTotal", path=["tests/**"])
        assert summary.startswith(
            "'legacyTotal' occurs nowhere in the indexed files that pass the filters."
        )
        for mode in ("auto", "literal", "regex"):
            hits, summary = await ask(running, "total", symbol="Order.total_prise", mode=mode)
            assert hits == []
            assert summary.startswith(
                "Nothing is declared as 'Order.total_prise'; near names: total_price"
            )


async def test_a_name_that_another_root_has_is_there(workspace: Workspace, tmp_path: Path) -> None:
    root, other = workspace(FILES), tmp_path / "other"
    other.mkdir()
    (other / "a.py").write_text("def total_prise():\n    pass\n")
    async with engine(root, other, cache=tmp_path / "cache", families=("index",)) as running:
        await running.once("index_build")
        hits, summary = await ask(running, "total_prise")
        assert hits[0]["path"] == "a.py" and "nowhere" not in summary
        _, summary = await ask(running, "total_prize")
        assert "near names: total_prise, total_price" in summary


@pytest.mark.parametrize("query", ["guide.md", "docs/guide.md", "a", "is"])
async def test_what_is_no_name_is_not_missed(
    workspace: Workspace, tmp_path: Path, query: str
) -> None:
    async with index_engine(workspace(FILES), tmp_path / "cache") as running:
        _, summary = await ask(running, query)
        assert "occurs nowhere" not in summary


async def test_a_name_spelled_so_comes_before_other_spellings(
    workspace: Workspace, tmp_path: Path
) -> None:
    files = {
        "vendor/lib.js": "function statusCode() {}\n",
        "a.py": "status_code = statuscode = 1\n",
    }
    async with index_engine(workspace(files), tmp_path / "cache") as running:
        hits, _ = await ask(running, "statusCode", path=["**", "!nothing"])
        assert [hit["path"] for hit in hits] == ["vendor/lib.js", "a.py"]
        hits, _ = await ask(running, "statusCode")
        assert [hit["path"] for hit in hits] == ["vendor/lib.js", "a.py"]
