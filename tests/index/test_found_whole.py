"""What is there is found: under its declaration, its qualified name, its folder and its id."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sightline.contract.failures import InvalidArguments
from sightline.contract.keys import request_key
from sightline.contract.values import Position
from sightline.index.index import Index
from sightline.index.searching.filters import Filters
from sightline.index.searching.patterns import ANY, needed
from sightline.index.searching.search import Item, Mode, Request, RootSearch
from sightline.tools.search import Search, SearchArguments
from sightline.workspace.roots import open_root
from sightline.workspace.workspace import Workspace as Served
from tests.conftest import Workspace
from tests.support.index import bench, build, found, index_engine

SAVES = {
    "shop.py": '''
        """Three that save."""


        class Basket:
            owner = "nobody"

            def save(self) -> None:
                """One."""

            def load(self) -> None:
                """Not one."""


        class Order:

            def save(self) -> None:
                """Two."""


        class Bill:
            def save(self) -> None:
                """Three."""
        ''',
    "Shop.java": """
        class Shop {
            private int size;

            public int count(int n) {
                return n;
            }

            public void close() {
            }
        }
        """,
}


class _Enough(Exception):
    pass


def _after(calls: int) -> Callable[[], None]:
    """A check that raises when it was called more often."""
    left = iter(range(calls))

    def check() -> None:
        if next(left, None) is None:
            raise _Enough

    return check


@pytest.mark.parametrize(("query", "mode"), [("needle", "literal"), (r"ne+dle\b", "regex")])
async def test_a_cancelled_search_stops_inside_a_file(
    tmp_path: Path, query: str, mode: Mode
) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.txt").write_text("needle and needle\n" * 100)
    async with bench(tmp_path / "cache") as tools, tools.open(root, dense=False) as index:
        await build(index)
        [builder] = index.builders.values()
        assert builder.snapshot is not None
        for calls, stops in ((150, True), (1_000, False)):
            request, check = Request(query, mode), _after(calls)
            search = RootSearch(builder.snapshot, str(root), index.lookup, request, check)
            if stops:
                with pytest.raises(_Enough):
                    search.run()
            else:
                assert search.run().matches == 200


async def _saves(index: Index, query: str, mode: Mode, **filters: str) -> list[Item]:
    return await found(index, query, mode=mode, filters=Filters(**filters))  # type: ignore[arg-type]


async def test_a_match_from_the_indentation_on_is_the_declarations(
    workspace: Workspace, tmp_path: Path
) -> None:
    root = workspace(SAVES)
    async with bench(tmp_path / "cache") as tools, tools.open(root, dense=False) as index:
        await build(index)
        asked: list[tuple[str, Mode]] = [
            (r"^\s*def save", "regex"),
            (r"\s+def save", "regex"),
            ("    def save(self)", "literal"),
            ("\n    def save(self)", "literal"),
        ]
        for query, mode in asked:
            for filters in ({}, {"kind": "method"}, {"symbol": "save"}):
                items = await _saves(index, query, mode, **filters)
                assert [item.name for item in items] == ["save"] * 3, (query, filters)
                for item in items:
                    line = item.position.line + 1
                    assert item.start_line <= line <= item.end_line, query
                    assert f"{line}:     def save(self)" in item.snippet, query
        java = await _saves(index, r"^\s+public \w+ \w+\(", "regex", kind="method")
        assert [item.name for item in java] == ["count", "close"]


async def test_a_match_of_blanks_is_where_it_begins(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.py").write_text("def one():\n    return 9   \n\n\ndef two():\n    return 8\n")
    async with bench(tmp_path / "cache") as tools, tools.open(root, dense=False) as index:
        await build(index)
        [item] = await found(index, r" {2,}\s*$", mode="regex")
        assert (item.name, item.position) == ("one", Position(1, 12))
        [item] = await found(index, "9   \n\n\ndef", mode="literal")
        assert (item.name, item.position) == ("one", Position(1, 11)), (
            "what it begins with is seen there"
        )


MEMBERS = {
    "config.py": """
        class Config:
            timeout = 3

            def load(self) -> None: ...


        class Other:
            timeout = 4
        """,
    "server.go": """
        package main

        type Server struct {
            Host string
            Port int
        }

        type Client struct {
            Port int
        }
        """,
    **{f"k/k{n}.py": f"class K{n:03}:\n    def start(self): pass\n" for n in range(300)},
}


@pytest.mark.parametrize(
    ("symbol", "query", "path", "line"),
    [
        ("Config.timeout", "timeout", "config.py", 2),
        ("config::Timeout", "timeout", "config.py", 2),
        ("Config.load()", "load", "config.py", 4),
        ("Server.Port", "Port", "server.go", 5),
        ("Server#Port", "Port", "server.go", 5),
        ("K299.start", "start", "k/k299.py", 2),
    ],
)
async def test_a_qualified_name_means_what_is_declared_so(
    workspace: Workspace, tmp_path: Path, symbol: str, query: str, path: str, line: int
) -> None:
    root = workspace(MEMBERS)
    async with bench(tmp_path / "cache") as tools, tools.open(root, dense=False) as index:
        await build(index)
        for mode in ("auto", "literal", "regex"):
            items = await found(index, query, mode=mode, filters=Filters(symbol=symbol))
            lines = [(item.path, item.start_line) for item in items]
            assert lines == [(path, line)], mode
        nobody = Filters(symbol=f"Nobody.{symbol.strip('()')}")
        assert await found(index, query, filters=nobody) == []


def test_a_count_with_a_leading_zero_is_text() -> None:
    assert needed("x{01}yzw") == needed(r"x\{01\}yzw")
    assert needed(r"\\u{0041}'") == needed(r"\\u\{0041\}'")
    assert needed("abc{1,02}") == needed(r"abc\{1,02\}")
    assert needed("abc{\u0663}") == needed("abc\\{\u0663\\}"), "only ASCII digits count"
    assert needed("ab{0}cde") == needed("cde")


def test_a_quantifier_after_what_is_no_piece_is_not_guessed_at() -> None:
    for pattern in (r"\Qabc\E{2}", r"x\Qabc\E*", "cab(?i)?", "cab(?i){0}", r"cab\Q\E?"):
        assert needed(pattern) == ANY, pattern
    for pattern in (r"\Qabc\Ed", "cab(?i)d", r"\Qabc\E{01}", "(?i:cab){2}"):
        assert needed(pattern) != ANY, pattern


@pytest.mark.parametrize("pattern", [r"\\ref\{foo\}$", r"\Q\ref{foo}\E$", r"\\\\?ref\{foo\}$"])
async def test_an_escaped_backslash_asks_for_no_return(tmp_path: Path, pattern: str) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.tex").write_bytes(b"see \\ref{foo}\r\nand more\r\n")
    async with bench(tmp_path / "cache") as tools, tools.open(root, dense=False) as index:
        await build(index)
        assert len(await found(index, pattern, mode="regex")) == 1
        for asks in (r"\{foo\}\r$", r"\\ref\S+\r", r"\}\x0D", r"\}\x{0d}", r"\}\015", "\\Q}\r\\E"):
            assert len(await found(index, asks, mode="regex")) == 1, asks


async def test_a_folder_that_is_the_root_means_everything(
    workspace: Workspace, tmp_path: Path
) -> None:
    root = workspace(SAVES)
    async with bench(tmp_path / "cache") as tools, tools.open(root, dense=False) as index:
        await build(index)
        whole = await found(index, "a", mode="literal")
        assert {item.path for item in whole} == {"shop.py", "Shop.java"}
        for paths in ((".",), ("./",), ("*.none", ".")):
            filters = Filters(paths)
            assert await found(index, "a", mode="literal", filters=filters) == whole, paths
        java = await found(index, "a", mode="literal", filters=Filters((".", "!*.py")))
        assert {item.path for item in java} == {"Shop.java"}
        assert await found(index, "a", mode="literal", filters=Filters(("!./",))) == []


async def test_the_lines_of_an_id_end_with_the_file(workspace: Workspace, tmp_path: Path) -> None:
    root = workspace(SAVES)
    async with index_engine(root, tmp_path / "cache") as running:
        [*_, hit] = (await running.once("search", query="save", mode="regex"))["items"]
        assert hit["startLine"] > 5
        (root / hit["path"]).write_text("one = 1\ntwo = 2\nthree = 3\n")
        shown = await running.once("show_file", id=hit["id"])
        assert (shown["changed"], shown["text"]) == (True, "3  three = 3")
        more = await running.once("show_file", id=hit["id"], startLine=2)
        assert (more["changed"], more["startLine"], more["endLine"]) == (True, 2, 3)
        with pytest.raises(InvalidArguments, match="the file has 3 lines"):
            await running.once("show_file", id=hit["id"], startLine=hit["startLine"])
        (root / hit["path"]).write_text("")
        shown = await running.once("show_file", id=hit["id"])
        assert (shown["changed"], shown["text"], shown["totalLines"]) == (True, "", 0)


async def test_lines_beside_an_id_are_refused(workspace: Workspace, tmp_path: Path) -> None:
    root = workspace(SAVES)
    async with index_engine(root, tmp_path / "cache") as running:
        hit = (await running.once("search", query="Basket.load"))["items"][0]
        first, last = hit["startLine"], hit["endLine"]
        with pytest.raises(InvalidArguments, match=f"startLine must be {last} or less"):
            await running.once("show_file", id=hit["id"], startLine=last + 1)
        with pytest.raises(InvalidArguments, match=f"endLine must be {first} or more"):
            await running.once("show_file", id=hit["id"], endLine=first - 1)
        both = await running.once("show_file", id=hit["id"], startLine=last + 1, endLine=last + 2)
        assert (both["startLine"], both["endLine"]) == (last + 1, last + 2)
        edge = await running.once("show_file", id=hit["id"], startLine=last)
        assert (edge["startLine"], edge["endLine"]) == (last, last)


async def test_two_questions_share_no_key(tmp_path: Path) -> None:
    served = Served([open_root(str(tmp_path), home=None)])
    view = await served.begin()

    def key(query: str, mode: Mode = "literal", **more: list[str] | str) -> str:
        asked = SearchArguments(query, mode, **more)  # type: ignore[arg-type]
        return request_key("search", *Search().ask(view, asked).fields)

    keys = [
        key("a|literal|path:b"),
        key("a", path=["b|language:|kind:|symbol:|false|0"]),
        key("a", path=["b"]),
        key("a\\", path=["b"]),
        key("a\\|literal", path=["b"]),
        key("a|literal", path=["b"]),
        key("a", path=["b|path:c"]),
        key("a", path=["b", "c"]),
        key("a", symbol="b|false"),
    ]
    served.close()
    assert len(set(keys)) == len(keys)
    plain = ("a", "literal", "path:b", "language:", "kind:", "symbol:", False, 0)
    assert keys[2] == request_key("search", *plain)
