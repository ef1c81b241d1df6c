"""Python: a package's stub declares what its source imports from elsewhere. It is one symbol."""

from pathlib import Path

import pytest

from tests.languages.samples import only
from tests.support.engine import engine
from tests.support.files import write_files

FILES = {
    "pyproject.toml": '[project]\nname = "x"\nversion = "1"\n',
    "shop/__init__.py": "from shop._cart import Cart, total\n",
    "shop/__init__.pyi": "def total() -> int: ...\n\nclass Cart:\n    def add(self) -> None: ...\n",
    "shop/_cart.py": "def total():\n    return 1\n\n\nclass Cart:\n    def add(self):\n"
    "        return total()\n",
    "other/__init__.py": "from json import total\n",
    "other/__init__.pyi": "def total() -> str: ...\n",
    "use.py": "import shop\nimport other\n\nshop.total()\nother.total()\nshop.Cart().add()\n",
    "tests.py": "from shop._cart import Cart, total\n\ntotal()\nCart().add()\n",
}
TOTAL = {
    ("shop/__init__.py", 0),
    ("shop/__init__.pyi", 0),
    ("shop/_cart.py", 0),
    ("shop/_cart.py", 6),
    ("use.py", 3),
    ("tests.py", 0),
    ("tests.py", 2),
}
ADD = {("shop/__init__.pyi", 3), ("shop/_cart.py", 5), ("use.py", 5), ("tests.py", 3)}


@pytest.mark.parametrize("server", ["ty", "pyright"])
@pytest.mark.parametrize(
    ("name", "line", "column", "uses"),
    [
        ("shop/_cart.py", 0, 4, TOTAL),
        ("shop/__init__.pyi", 0, 4, TOTAL),
        ("use.py", 3, 5, TOTAL),
        ("shop/_cart.py", 5, 8, ADD),
        ("shop/__init__.pyi", 3, 8, ADD),
        ("use.py", 5, 12, ADD),
    ],
)
async def test_uses_of_both_are_counted(
    tmp_path: Path, server: str, name: str, line: int, column: int, uses: set[tuple[str, int]]
) -> None:
    root = write_files(tmp_path / "ws", FILES)
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        place = {"line": line, "character": column}
        found: dict[bool, set[tuple[str, int]]] = {}
        for declaration in (True, False):
            answer = await running.call(
                "vscode.lsp.references",
                uri=running.uri(name),
                position=place,
                includeDeclaration=declaration,
            )
            found[declaration] = {
                (
                    each["uri"].removeprefix(running.uri("")).lstrip("/"),
                    each["range"]["start"]["line"],
                )
                for each in answer["items"]
            }
    assert found[True] == uses
    first = min(number for file, number in uses if file == "shop/_cart.py")
    assert uses - found[False] == {("shop/_cart.py", first)} | {
        each for each in uses if each[0] == "shop/__init__.pyi"
    }


#: Other stubs have the name, too: of an argument, in a comment, of what a function gives.
ELSEWHERE = {
    f"m{number}/api.{end}": f"from shop import Cart\n{text}\n"
    for number in range(6)
    for end, text in (
        ("py", "def f(c): return Cart()"),
        ("pyi", "# class of a Cart\ndef f(c: Cart, Cart2: int = ...) -> Cart: ..."),
    )
}


async def found_at(tmp_path: Path, files: dict[str, str], server: str, *place: int) -> set[str]:
    """The lines of ``shop/_cart.py`` and others that an answer has, and its summary."""
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        line, column = place
        answer = await running.call(
            "vscode.lsp.references",
            uri=running.uri("shop/_cart.py"),
            position={"line": line, "character": column},
        )
    uris = {each["uri"].removeprefix(running.uri("")).lstrip("/") for each in answer["items"]}
    return uris | {answer["summary"].partition(". ")[2]}


@pytest.mark.parametrize("server", ["ty", "pyright"])
async def test_stubs_that_only_name_it_are_in_nobodys_way(tmp_path: Path, server: str) -> None:
    found = await found_at(tmp_path, FILES | ELSEWHERE, server, 4, 6)
    assert found == {"shop/__init__.py", "use.py", "tests.py", *ELSEWHERE, ""}


#: Packages that all declare what they import from the same source.
SHOPS = {
    f"p{number:02}/{name}": text
    for number in range(9)
    for name, text in (
        ("__init__.py", "from shop._cart import total\n"),
        ("__init__.pyi", "def total() -> int: ...\n"),
    )
}


@pytest.mark.parametrize("server", ["ty", "pyright"])
async def test_stubs_that_are_not_followed_are_said(tmp_path: Path, server: str) -> None:
    use = {"uses.py": "import p00, p08\n\np00.total()\n", "z.py": "import p08\n\np08.total()\n"}
    found = await found_at(tmp_path, FILES | SHOPS | use, server, 0, 4)
    assert {
        "uses.py",
        "2 more stubs may declare it; uses of what is declared there are not counted.",
    } < found
    assert "z.py" not in found
