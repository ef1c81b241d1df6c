"""``find`` over the wire: declarations, lines and places, and the index that it builds."""

import asyncio
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.contract.failures import NotReady, Unavailable
from sightline.index.storage.store import Store, index_folder
from sightline.server.compose import Program
from sightline.tools.find import Find, FindArguments
from sightline.tools.tool import Said, silent
from tests.conftest import Workspace
from tests.support.engine import engine
from tests.support.program import run
from tests.support.stdio import StdioServer

Start = Callable[..., StdioServer]

SHOP = {
    "shop/__init__.py": "",
    "shop/cart.py": """
        from typing import overload


        class Cart:
            limit = 10

            @overload
            def add(self, item: str) -> None: ...
            @overload
            def add(self, item: bytes) -> None: ...
            def add(self, item: str | bytes) -> None:
                self.last = item


        def total(prices: list[int]) -> int:
            \"\"\"What all the things in a basket cost together.\"\"\"
            return sum(prices)
        """,
    "tests/test_cart.py": """
        from shop.cart import Cart


        class FakeCart(Cart):
            def add(self, item: str | bytes) -> None:
                raise ValueError("a.b(c)")


        def total() -> int:
            return 0
        """,
    "web/total.ts": """
        export interface Total { sum: number }
        export function total(prices: number[]): Total {
          return { sum: prices.length };
        }
        """,
    "README.md": "# Total\n\nRun `total(prices)`.\n",
}
ADD = (
    "method shop.cart.Cart.add  shop/cart.py:11 (also shop/cart.py:8, shop/cart.py:10)  "
    "(item: str | bytes) -> None"
)


def ask(server: StdioServer, query: str, **arguments: Any) -> str:
    result = server.call("find", {"query": query, **arguments})["result"]
    assert not result["isError"], result
    (content,) = result["content"]
    text: str = content["text"]
    return text


def refused(server: StdioServer, query: str, **arguments: Any) -> str:
    result = server.call("find", {"query": query, **arguments})["result"]
    assert result["isError"]
    text: str = result["content"][0]["text"]
    return text


@pytest.fixture
def root(workspace: Workspace) -> Path:
    return workspace(SHOP)


@pytest.fixture
def server(stdio: Start, root: Path) -> StdioServer:
    """No index is there before the first question, and the index family is not served."""
    started = stdio(root, "--tools", "code")
    started.initialize()
    return started


def test_a_name_is_answered_with_its_declarations_those_of_tests_last(server: StdioServer) -> None:
    assert ask(server, "total").splitlines() == [
        "3 declarations of 'total'",
        "function shop.cart.total  shop/cart.py:15  (prices: list[int]) -> int",
        "function total  web/total.ts:2  (prices: number[]): Total",
        "function tests.test_cart.total  tests/test_cart.py:9  () -> int",
    ]
    assert ask(server, "Total").splitlines() == [
        "2 declarations of 'Total'",
        "interface Total  web/total.ts:1",
        "section Total  README.md:1",
    ]


def test_overloads_are_one_declaration_and_a_name_can_be_qualified(server: StdioServer) -> None:
    for query in ("Cart.add", "shop.cart.Cart.add", "cart.Cart.add()", "shop/cart.py::Cart.add"):
        lines = ask(server, query).splitlines()
        assert lines == [
            f"1 declaration of '{query}'",
            ADD,
        ]
    assert ask(server, "CART.ADD", kind="name").splitlines()[1:] == lines[1:]
    assert len(ask(server, "add", **{"in": ["!tests/**"]}).splitlines()) == 2


def test_a_name_that_is_nowhere_says_so_with_near_names(server: StdioServer) -> None:
    assert ask(server, "Crat") == "nothing is declared as 'Crat'; near names: Cart, cart"
    assert ask(server, "totla", kind="name").startswith("nothing is declared as 'totla'; near ")
    said = ask(server, "total", kind="name", **{"in": ["nowhere/**"]})
    assert said.startswith("nothing is declared as 'total' in nowhere/**")


def test_a_name_that_is_only_used_is_answered_with_its_lines(server: StdioServer) -> None:
    assert ask(server, "ValueError").splitlines() == [
        "1 line in 1 file has 'ValueError'; nothing is declared so",
        "tests/test_cart.py",
        '6: raise ValueError("a.b(c)")',
    ]


def test_every_line_with_a_text_is_there(server: StdioServer, root: Path) -> None:
    assert ask(server, "a.b(c)", kind="text").splitlines()[1:] == [
        "tests/test_cart.py",
        '6: raise ValueError("a.b(c)")',
    ]
    assert ask(server, "a.b(c", kind="text", **{"in": ["shop"]}) == "no line has 'a.b(c' in shop"
    for query in ("total", "item", "return", "e"):
        found = by_line(ask(server, query, kind="text", budget=60_000))
        assert found == grep(root, "-F", query), query


def test_every_line_that_a_pattern_matches_is_there(server: StdioServer, root: Path) -> None:
    text = ask(server, r"def \w+\(", kind="pattern")
    assert text.startswith(r"6 lines in 2 files match 'def \w+\('")
    assert by_line(text) == grep(root, "-E", r"def \w+\(")
    assert "query is not a regular expression" in refused(server, "a(", kind="pattern")
    assert ask(server, "x{3}y", kind="pattern") == "no line matches 'x{3}y'"


def test_a_page_repeats_the_path_and_pages_have_every_line_once(
    stdio: Start, workspace: Workspace
) -> None:
    files = {f"m{number}.py": f"{'needle = 1' * 1}\n" * 60 for number in range(5)}
    started = stdio(workspace(files), "--tools", "code")
    started.initialize()
    page = ask(started, "needle", kind="text", budget=300)
    seen: list[str] = []
    while True:
        head, *lines = page.splitlines()
        assert head == "300 lines in 5 files have 'needle'"
        assert re.fullmatch(r"m\d\.py", lines[0])
        more = re.fullmatch(r"more: page=(\d+-[a-z2-7]{6})", lines[-1])
        seen += by_line("\n".join([head, *(lines[:-1] if more else lines)]))
        assert len(page.encode()) <= 1_200
        if more is None:
            break
        page = ask(started, "needle", kind="text", budget=300, page=more[1])
    assert seen == [
        f"m{number}.py:{line}:needle = 1" for number in range(5) for line in range(1, 61)
    ]


def test_a_list_that_is_cut_says_so(stdio: Start, workspace: Workspace) -> None:
    started = stdio(workspace({"many.py": "needle = 1\n" * 20_001}), "--tools", "code")
    started.initialize()
    head, cut, *_ = ask(started, "needle", kind="text", budget=200).splitlines()
    assert head == "20001 lines in 1 file have 'needle'"
    assert cut == "The first 20,000 lines are listed."


def test_a_question_is_answered_with_places_best_first(server: StdioServer) -> None:
    lines = ask(server, "what do all things in the basket cost").splitlines()
    assert lines[1] == "shop/cart.py:15-17  function total  def total(prices: list[int]) -> int:"
    assert ask(server, "what do all things in the basket cost").splitlines() == lines
    words = ask(server, "basket cost", kind="meaning", ranking="words").splitlines()
    assert words[1] == lines[1]
    assert refused(server, "basket", kind="text", ranking="words").startswith("ranking is for")


def test_files_that_are_not_utf_8_are_found_too(server: StdioServer, root: Path) -> None:
    (root / "old.c").write_bytes(
        "/* größer */\nint larger(int a) { return a; }\n".encode("latin-1")
    )
    assert ask(server, "larger").splitlines()[1:] == ["function larger  old.c:2"]
    text = ask(server, "larger", kind="text")
    assert text.splitlines()[1:] == ["old.c", "2: int larger(int a) { return a; }"]


def test_an_edit_is_found_at_once(server: StdioServer, root: Path) -> None:
    assert ask(server, "brand_new").startswith("nothing is declared as 'brand_new'")
    (root / "shop/new.py").write_text("def brand_new(): ...\n", "utf-8")
    assert ask(server, "brand_new").splitlines()[1:] == [
        "function shop.new.brand_new  shop/new.py:1  ()"
    ]
    (root / "shop/new.py").unlink()
    assert ask(server, "brand_new").startswith("nothing is declared as 'brand_new'")


def test_ten_first_questions_at_once_have_ten_answers(stdio: Start, root: Path) -> None:
    started = stdio(root, "--tools", "code")
    started.initialize()
    params = {"name": "find", "arguments": {"query": "Cart.add"}}
    names = {f"c{number}" for number in range(10)}
    for name in sorted(names):
        started.send({"jsonrpc": "2.0", "id": name, "method": "tools/call", "params": params})
    answers = [started.receive() for _ in names]
    assert {answer["id"] for answer in answers} == names
    texts = {answer["result"]["content"][0]["text"] for answer in answers}
    assert len(texts) == 1
    assert texts.pop().startswith("1 declaration of 'Cart.add'")


async def asked(program: Program) -> Said:
    """The tool itself, as one attempt of a call makes it."""
    view = await program.calls.engines.begin()
    question = Find().ask(view, FindArguments("Cart.add"))
    return await Find().answer(program.calls.engines.desk(view, silent), question)


def test_the_first_build_goes_on_behind_an_answer_that_says_so(root: Path, tmp_path: Path) -> None:
    async def scenario() -> Said:
        cache = tmp_path / "cache"
        cache.mkdir()
        async with engine(root, cache=cache, families=("code",)) as running:
            other = Store(index_folder(str(cache), str(root)), str(root))
            assert other.try_lock()  # as another process that builds the same index
            for _ in range(2):
                with pytest.raises(NotReady, match="ask again in a moment, it goes on meanwhile"):
                    await asked(running.program)
            other.unlock()
            build = running.program.index.made
            assert build is not None
            assert build._first_build is not None
            await build._first_build
            return await asked(running.program)

    said = asyncio.run(scenario())
    assert [block.lines for block in said.sections[0].blocks] == [[ADD]]


def test_a_build_that_cannot_be_made_says_why(root: Path, tmp_path: Path) -> None:
    async def scenario() -> None:
        cache = tmp_path / "cache"
        cache.mkdir()
        Path(index_folder(str(cache), str(root))).parent.mkdir(parents=True, exist_ok=True)
        Path(index_folder(str(cache), str(root))).write_text("in the way", "utf-8")
        async with engine(root, cache=cache, families=("code",)) as running:
            with pytest.raises(Unavailable, match="the index folder cannot be written"):
                await running.once("find", query="Cart.add")

    asyncio.run(scenario())


def test_the_command(home: Path, root: Path) -> None:
    before = sorted(root.rglob("*"))
    done = run(home, "find", "Cart.add", "--root", root)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("1 declaration of 'Cart.add'\nmethod shop.cart.Cart.add  shop/")
    missed = run(home, "find", "Crat", "--root", root)
    assert (missed.returncode, missed.stderr) == (4, "")
    assert missed.stdout == "nothing is declared as 'Crat'; near names: Cart, cart\n"
    data = json.loads(run(home, "find", "Cart", "--json", "--root", root).stdout)
    assert [each["name"] for each in data["symbols"]] == ["shop.cart.Cart"]
    assert run(home, "find", "Crat", "--json", "--root", root).returncode == 4
    assert sorted(root.rglob("*")) == before


def by_line(text: str) -> list[str]:
    """``path:line:source`` of every line below a path."""
    found: list[str] = []
    path = ""
    for line in text.splitlines()[1:]:
        match = re.fullmatch(r"(\d+): (.*)", line)
        if match is None:
            path = line
        else:
            found.append(f"{path}:{match[1]}:{match[2]}")
    return sorted(found, key=_place)


def grep(root: Path, *arguments: str) -> list[str]:
    """The same as another program finds it, without indentation."""
    found = subprocess.run(
        ["grep", "-rn", *arguments, "."], cwd=root, capture_output=True, text=True, check=True
    ).stdout
    lines = [line.removeprefix("./").split(":", 2) for line in found.splitlines()]
    return sorted((f"{path}:{number}:{text.strip()}" for path, number, text in lines), key=_place)


def _place(line: str) -> tuple[str, int]:
    path, number, _ = line.split(":", 2)
    return path, int(number)
