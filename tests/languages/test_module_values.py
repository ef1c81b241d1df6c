"""Python: a name that is taken from a module in code that no server follows. It is said."""

from pathlib import Path

import pytest

from sightline.lsp.asking import module_values
from sightline.lsp.asking.members import TOO_MUCH
from tests.languages.samples import only
from tests.support.engine import engine
from tests.support.files import write_files

CART = "def total() -> int:\n    return 1\n\n\ndef other() -> int:\n    return 2\n\n\nOPEN = True\n"
FILES = {
    "pyproject.toml": '[project]\nname = "x"\nversion = "1"\n',
    "shop/__init__.py": "",
    "shop/cart.py": CART,
    "shop/known.py": "from shop import cart\n\ncart.total()\n",
}
#: A file with a use that is not counted, or none.
UNREACHABLE = (
    'import sys\n\nfrom shop import cart\n\nif sys.platform == "win32":\n    cart.total()\n'
)
UNDER_ANOTHER_NAME = (
    'import sys\n\nimport shop.cart as basket\n\nif sys.platform == "win32":\n    basket.total()\n'
)
LOADED = (
    "import importlib\n\n\ndef load(name):\n    module = importlib.import_module(name)\n"
    "    return module.total()\n"
)
AT_ONCE = "from importlib import import_module\n\n\ndef load(n):\n    import_module(n).total()\n"
OF_ANY_TYPE = "def work(one):\n    return one.total(), one.other.total()\n"
ELSEWHERE = "import sys\n\nimport numpy\n\nnumpy.total()\nsys.total()\nnumpy.cart.total()\n"
OWN = "import importlib\n\n\nclass A:\n    def f(self):\n        return self.total()\n"


async def summary(
    tmp_path: Path, files: dict[str, str], line: int, column: int, server: str = "ty"
) -> str:
    root = write_files(tmp_path / "ws", FILES | files)
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        answer = await running.call(
            "vscode.lsp.references",
            uri=running.uri("shop/cart.py"),
            position={"line": line, "character": column},
        )
    return str(answer["summary"])


def unknown(name: str, file: str) -> str:
    place = f"{name} stands on values of unknown type in 1 place ({file})"
    return f"{place}; uses there are not counted."


@pytest.mark.parametrize("text", [UNREACHABLE, UNDER_ANOTHER_NAME, LOADED, AT_ONCE])
async def test_it_is_said_where_it_may_be_the_module(tmp_path: Path, text: str) -> None:
    said = await summary(tmp_path, {"use.py": text}, 0, 4)
    assert said == f"Returned 1 reference. {unknown('total', 'use.py')}"


@pytest.mark.parametrize("text", [OF_ANY_TYPE, ELSEWHERE, OWN])
async def test_nothing_is_said_where_it_is_none(tmp_path: Path, text: str) -> None:
    assert await summary(tmp_path, {"use.py": text}, 0, 4) == "Returned 1 reference."


async def test_what_a_comparison_rules_out_is_not_read(tmp_path: Path) -> None:
    use = "from shop import cart\n\nassert cart.OPEN is False\nassert cart.OPEN is True\n"
    said = await summary(tmp_path, {"use.py": use}, 8, 0)
    assert said == f"Returned 1 reference. {unknown('OPEN', 'use.py')}"


@pytest.mark.parametrize(("module", "said"), [("shop.cart", True), ("json", False)])
async def test_what_tests_are_given(tmp_path: Path, module: str, said: bool) -> None:
    made = (
        "import importlib\n\nimport pytest\n\n\n@pytest.fixture\ndef module():\n"
        f'    return importlib.import_module(f"{{""}}{module}")\n'
    )
    use = "def test_it(module):\n    module.total()\n"
    files = {"tests/conftest.py": made, "tests/test_it.py": use}
    answer = await summary(tmp_path, files, 0, 4)
    expected = f" {unknown('total', 'tests/test_it.py')}" if said else ""
    assert answer == f"Returned 1 reference.{expected}"


async def test_a_popular_name_of_another_module(tmp_path: Path) -> None:
    use = "import urllib.total\n" + "urllib.total()\n" * 60
    assert await summary(tmp_path, {"use.py": use}, 0, 4) == "Returned 1 reference."
    use = UNREACHABLE + "    cart.total()\n" * 60
    said = await summary(tmp_path, {"use.py": use}, 0, 4)
    assert "total stands after a dot in 61 other places (use.py)" in said


async def test_pyright_is_not_asked(tmp_path: Path) -> None:
    files = {"use.py": LOADED, "other.py": ELSEWHERE}
    said = await summary(tmp_path, files, 0, 4, "pyright")
    assert "total stands after a dot in 1 other place (use.py)" in said


async def test_uses_behind_many_that_are_known(tmp_path: Path) -> None:
    use = "import sys\n\nfrom shop import cart\n\n" + "cart.total()\n" * 520
    use += 'if sys.platform == "win32":\n' + "    cart.total()\n"
    said = await summary(tmp_path, {"use.py": use}, 0, 4)
    assert said.endswith(f"(next page available). {unknown('total', 'use.py')}")


async def test_more_uses_in_a_file_than_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module_values, "_MOST_IN_FILE", 3)
    use = UNREACHABLE + "    cart.total()\n" * 3
    said = await summary(tmp_path, {"use.py": use}, 0, 4)
    assert said == f"Returned 1 reference. {TOO_MUCH}"


#: What every file means by an import, and what each may mean in its own way.
ANYWHERE = [
    "import json",
    "import os, json\n",
    "from os import path as json",
    "import os.path as json",
]


@pytest.mark.parametrize("imported", ANYWHERE)
async def test_a_popular_name_in_many_files(tmp_path: Path, imported: str) -> None:
    many = {f"m{number}.py": f"{imported}\njson.total()\n" for number in range(60)}
    assert await summary(tmp_path, many, 0, 4) == "Returned 1 reference."


@pytest.mark.parametrize("imported", ["from . import cart", "import cart"])
async def test_a_name_that_files_may_mean_in_their_own_way(tmp_path: Path, imported: str) -> None:
    use = f'import sys\n{imported}\nif sys.platform == "win32":\n    cart.total()\n'
    many = {f"p{number}/use.py": use for number in range(60)} | {"p0/cart.py": CART}
    said = await summary(tmp_path, many, 0, 4)
    assert "total stands after a dot in 60 other places" in said
