"""What a summary counts: every match, every hit, and whether there is more than is given."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.engine import Engine, engine
from tests.support.index import index_engine


async def summary(running: Engine, query: str, **arguments: Any) -> str:
    found = await running.once("search", query=query, pageSize=1, **arguments)
    said: str = found["summary"]
    return said


@pytest.mark.parametrize("mode", ["literal", "regex"])
async def test_a_file_with_very_many_matches_is_searched_to_its_end(
    tmp_path: Path, mode: str
) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    many = "".join(f"def f{n}():\n    needle(needle)\n\n\n" for n in range(700))
    (root / "many.py").write_text(many + "def last():\n    return needle\n")
    async with index_engine(root, tmp_path / "cache") as running:
        said = await summary(running, "needle", mode=mode)
        assert said.startswith("Returned 1 of 701 hits (701 matching lines, 1401 matches)"), said
        only = await running.once("search", query="needle", mode=mode, symbol="last")
        assert [item["name"] for item in only["items"]] == ["last"]


async def test_a_filter_is_a_filter_of_what_is_counted_too(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.py").write_text(
        "class Box:\n    needle = needle\n\n    def lid(self):\n        return needle\n\n\n"
        "def lid():\n    needle(needle)\n"
    )
    async with index_engine(root, tmp_path / "cache") as running:
        cases = [
            ({"kind": "method"}, "1 hit (1 matching line, 1 match)"),
            ({"kind": "function"}, "1 hit (1 matching line, 2 matches)"),
            ({"symbol": "Box.lid"}, "1 hit (1 matching line, 1 match)"),
        ]
        for filters, expected in cases:
            said = await summary(running, "needle", mode="literal", **filters)
            assert said == f"Returned 1 of {expected}."


async def test_a_root_inside_another_is_counted_once(tmp_path: Path) -> None:
    outer = tmp_path / "ws"
    inner = outer / "inner"
    inner.mkdir(parents=True)
    (outer / "a.py").write_text("def one():\n    needle()\n")
    (inner / "b.py").write_text("def two():\n    needle()\n")
    (inner / "b.bin.txt").write_bytes(b"\0\1\2")
    async with engine(outer, inner, cache=tmp_path / "cache", families=("index",)) as running:
        await running.once("index_build")
        found = await running.once("search", query="needle", mode="literal")
        assert {item["path"] for item in found["items"]} == {"a.py", "b.py"}
        assert found["summary"].startswith(
            "Returned 2 of 2 hits (2 matching lines, 2 matches). 1 file not indexed"
        )


async def test_more_hits_than_are_given_are_told(tmp_path: Path) -> None:
    roots = tmp_path / "one", tmp_path / "two"
    for root in roots:
        root.mkdir()
        for number in range(6):
            body = "".join(f"class C{n}:\n    def run(self): return {n}\n\n\n" for n in range(35))
            (root / f"f{number}.py").write_text(body)
        lines = "".join(f"def g{n}():\n    needle()\n\n\n" for n in range(5_100))
        (root / "needles.py").write_text(lines)
    async with index_engine(roots[0], tmp_path / "cache") as running:
        assert (await summary(running, "run")).startswith("Returned 1 of 200 or more ranked hits")
        assert "of 5100 hits (5100 matching lines, 5100 matches)" in await summary(
            running, "needle", mode="literal"
        )
    async with engine(*roots, cache=tmp_path / "cache", families=("index",)) as running:
        await running.once("index_build")
        assert (await summary(running, "run")).startswith("Returned 1 of 200 or more ranked hits")
        said = await summary(running, "needle", mode="literal")
        assert said.startswith(
            "Returned 1 of at least 10000 hits (at least 10200 matching lines,"
            " at least 10200 matches)"
        ), said


async def test_a_phrase_that_is_everywhere_is_said_to_be(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    for number in range(210):
        (root / f"f{number}.py").write_text(f"def f{number}():\n    raise no such thing\n")
    async with index_engine(root, tmp_path / "cache") as running:
        said = await summary(running, '"no such thing" in f7')
        assert '"no such thing" is too common or short to ask for; its words were ranked.' in said
