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
