"""Every matching line is in a hit, each hit is in its place, and the summary counts them all: the
pages of a text search together have the lines that ``grep -n`` has."""

import asyncio
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.index.index import Answer, Index
from sightline.index.searching.search import Item, Mode, Request
from sightline.tools.tool import silent
from tests.support.engine import Engine
from tests.support.index import build, index_engine, open_index

Lines = list[tuple[str, int]]
_MATCHING = re.compile(r"(\d+): ?")


def marked(path: str, snippet: str) -> Lines:
    """The lines of a snippet that are marked as matching."""
    found = (_MATCHING.match(line) for line in snippet.split("\n"))
    return [(path, int(match[1])) for match in found if match]


async def pages(running: Engine, **arguments: Any) -> tuple[list[Any], str]:
    """The hits of all pages, and the last summary."""
    hits: list[Any] = []
    cursor = None
    while True:
        page = await running.once("search", cursor=cursor, **arguments)
        hits += page["items"]
        cursor = page["nextCursor"]
        if cursor is None:
            return hits, page["summary"]


def grep(root: Path, *words: str) -> set[tuple[str, int]]:
    done = subprocess.run(
        ["grep", "-rn", *words, "."],
        cwd=root,
        capture_output=True,
        env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
        check=False,
    )
    lines = done.stdout.decode().splitlines()
    split = (line.removeprefix("./").split(":", 2) for line in lines)
    return {(path, int(number)) for path, number, _ in split}


LITERALS = ["return", "self.", "e", "def __init__", "import ", "(", "no such text"]
PATTERNS = [r"def [a-z_]+\(", r"^ *class ", r"return .*None$", " +$", "#.*[a-z]", "a.*b.*c"]


@pytest.mark.parametrize("package", ["email", "http", "asyncio"])
async def test_all_pages_have_the_lines_of_grep(package: str, tmp_path: Path) -> None:
    root = tmp_path / "ws"
    source = Path(sysconfig.get_path("stdlib"), package)
    shutil.copytree(source, root, ignore=shutil.ignore_patterns("__pycache__"))
    async with index_engine(root, tmp_path / "cache") as running:
        asked = [(text, "literal", "-F") for text in LITERALS]
        asked += [(pattern, "regex", "-E") for pattern in PATTERNS]
        for query, mode, flag in asked:
            expected = grep(root, flag, "-e", query)
            hits, summary = await pages(running, query=query, mode=mode, pageSize=60)
            found = [line for hit in hits for line in marked(hit["path"], hit["snippet"])]
            assert set(found) == expected, (query, mode)
            assert len(found) == len(expected), f"{query}: no line of these is in two hits"
            if expected:
                assert f"({len(expected)} matching line" in summary, query
            places = [(-hit["score"], hit["path"], hit["position"]["line"]) for hit in hits]
            assert places == sorted(places), query


# Texts that are hard to cut: blank and long lines, line ends of all kinds, chunks on one line.

HARD = {
    "mixed.py": (
        "\n\nimport os, sys  # aa\nclass A:\n    x = 'aa'\n\n    def f(self): return 'aa b'\n"
        "    y = 'aa'\n    def g(self):\n        return 'b'\n\n    z = 'aa'  \n\n\t\n"
        "def h(): pass; aa = b\n" + "\n".join(f"aa{n} = b{n % 7}" for n in range(90)) + "\n   "
    ),
    "ends.txt": "aa\r\nb aa\r\n\r\n \r\naa b\naa\n",
    "long.txt": "x" * 500 + "aa\n" + "é漢😀 aa b\n" + "y " * 300 + "b aa b" + " z" * 300 + "\n",
    "flat.js": "function aa(){b()} function c(){aa()} function d(){aa();b()}\n\n\nlet aa = b\n",
    "data.json": '{\n  "aa": [1,\n\n 2],\n  "b": {"aa": "b"}\n}\n',
    "guide.md": "\n# aa\n\ntext b\n\n## b\n\n" + "aa b\n" * 40,
    "run.sh": "f() {\n  echo aa\n}\n\ng() { echo b; }\n",
}
PIECES = st.sampled_from(["aa", "b", "a", " ", "=", "'", "(", "é", "漢", "x", "y ", "0", "\t", "f"])
ATOMS = st.sampled_from(["aa", "b", r"\w", "[ab]", "[^\\n]", ".", r"\d", "[ \\t]", "$", "^", r"\b"])
PATTERNS_OF_LINES = st.lists(
    st.tuples(ATOMS, st.sampled_from(["", "+", "*", "?", "{2}"])).map(
        lambda pair: pair[0] if pair[0] in ("^", "$", r"\b") else "".join(pair)
    ),
    min_size=1,
    max_size=5,
).map("".join)


@pytest.fixture(scope="module")
def hard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple["asyncio.Runner", Index]]:
    root = tmp_path_factory.mktemp("hard")
    for path, text in HARD.items():
        (root / path).write_bytes(text.encode())
    with asyncio.Runner() as runner:
        opened = open_index(root, tmp_path_factory.mktemp("cache"), dense=False)
        index = runner.run(opened.__aenter__())
        runner.run(build(index))
        yield runner, index
        runner.run(opened.__aexit__(None, None, None))


def expected_lines(pattern: "re.Pattern[str]") -> set[tuple[str, int]]:
    return {
        (path, number)
        for path, text in HARD.items()
        for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1)
        if any(match.end() > match.start() for match in pattern.finditer(line))
    }


def ask(hard: tuple["asyncio.Runner", Index], query: str, mode: Mode) -> tuple[Answer, list[Item]]:
    runner, index = hard
    answer = runner.run(index.search(Request(query, mode), silent))
    return answer, [answer.item(place) for place in range(len(answer))]


def check(answer: Answer, items: list[Item], expected: set[tuple[str, int]]) -> None:
    found = [line for item in items for line in marked(item.path, item.snippet)]
    assert set(found) == expected
    assert answer.lines == len(expected)
    # Declarations that share a line share their lines, and so their id.
    assert len({(item.id, item.name) for item in items}) == len(items)
    for item in items:
        lines = [number for _, number in marked(item.path, item.snippet)]
        assert lines == sorted(set(lines)) and lines
        assert item.start_line <= lines[0] and lines[-1] <= item.end_line
        assert item.position.line + 1 == lines[0]
    for path in HARD:
        own = [
            (-item.score, marked(item.path, item.snippet)[0][1])
            for item in items
            if item.path == path
        ]
        assert own == sorted(own)


@settings(deadline=None)
@given(text=st.lists(PIECES, min_size=1, max_size=4).map("".join))
def test_a_literal_has_every_line(hard: tuple["asyncio.Runner", Index], text: str) -> None:
    answer, items = ask(hard, text, "literal")
    check(answer, items, expected_lines(re.compile(re.escape(text))))
    for item in items:
        for line in item.snippet.split("\n"):
            assert not _MATCHING.match(line) or text.rstrip() in line, "also in a long line"


@settings(deadline=None)
@given(pattern=PATTERNS_OF_LINES)
def test_a_pattern_has_every_line(hard: tuple["asyncio.Runner", Index], pattern: str) -> None:
    answer, items = ask(hard, pattern, "regex")
    check(answer, items, expected_lines(re.compile(pattern, re.ASCII)))


async def test_small_pages_have_every_line(tmp_path: Path) -> None:
    """Where there is room for little, a hit has fewer lines, and there are more hits."""
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.py").write_text("def f():\n" + "    needle = 1\n" * 40)
    async with index_engine(root, tmp_path / "cache") as running:
        for tokens in (300, 400, 1_000, None):
            wanted = {} if tokens is None else {"maxTokens": tokens}
            hits, _ = await pages(running, query="needle", mode="literal", **wanted)
            found = [line for hit in hits for line in marked(hit["path"], hit["snippet"])]
            assert found == [("a.py", number) for number in range(2, 42)], tokens
