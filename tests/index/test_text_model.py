"""Search, show_file and the language servers mean the same place by the same numbers."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.engine import engine

MARK = "\ufeff"
ALPHA = "def alpha() -> int: ..."
BETA = "def beta() -> int: ..."


def places(answer: Any) -> dict[str, tuple[int, int]]:
    return {
        symbol["name"]: (start["line"], start["character"])
        for symbol in answer["symbols"]
        for start in [symbol["selectionRange"]["start"]]
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{MARK}{ALPHA}\n{BETA}\n", {"alpha": (0, 5), "beta": (1, 4)}),
        (f"x = 1\r{ALPHA}\r{BETA}\r", {"alpha": (1, 4), "beta": (2, 4)}),
        (f"{MARK}#é\r\n\r\n{ALPHA}\rx = 1\n{BETA}", {"alpha": (2, 4), "beta": (4, 4)}),
    ],
    ids=["mark", "returns", "all of it"],
)
async def test_positions_are_ready_for_servers(
    tmp_path: Path, text: str, expected: dict[str, tuple[int, int]]
) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.py").write_bytes(text.encode())
    async with engine(root, cache=tmp_path / "cache", families=("lsp", "index")) as running:
        await running.call("index_build")
        told = places(await running.call("vscode.lsp.documentSymbols", uri=running.uri("a.py")))
        assert {name: told[name] for name in expected} == expected
        shown = await running.call("show_file", path="a.py")
        lines = [line.partition("  ")[2] for line in shown["text"].split("\n")]
        for name, (line, character) in expected.items():
            assert lines[line][character:].startswith(name)
            for mode, query in (
                ("literal", f"{name}()"),
                ("regex", rf"\b{name}\b"),
                ("auto", name),
            ):
                found = await running.call("search", query=query, mode=mode)
                position = found["items"][0]["position"]
                assert (position["line"], position["character"]) == (line, character), mode
            symbol = await running.call("show_file", symbol=name)
            assert symbol["symbol"]["position"] == {"line": line, "character": character}
            assert symbol["startLine"] == line + 1


async def test_a_mark_does_not_hide_the_beginning_of_a_line(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.py").write_bytes((MARK + "def alpha() -> int: ...\n").encode())
    async with engine(root, cache=tmp_path / "cache", families=("index",)) as running:
        await running.call("index_build")
        found = await running.call("search", query="^def alpha", mode="regex")
        assert found["items"][0]["position"] == {"line": 0, "character": 1}
