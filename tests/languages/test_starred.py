"""Python: names in ``__all__`` of packages that take them with a star."""

from pathlib import Path
from typing import Any

import pytest

from tests.languages.samples import only
from tests.markers.archive import Archive
from tests.support.engine import engine
from tests.support.files import write_files

SERVERS = ("ty", "pyright")
CART = """
-- shop/cart.py --
__all__ = ["⟨u1⟩Cart"]
class ⟨d1⟩Cart:
    pass
"""
COUNTED = {
    "a package": """
-- shop/__init__.py --
from .cart import *
__all__ = ["⟨u2⟩Cart"]
-- use.py --
from shop import ⟨u3⟩Cart
⟨u4⟩Cart()
""",
    "a package of packages": """
-- shop/__init__.py --
from .cart import *
from .other import *
__all__ = ('⟨u2⟩Cart', 'Other')
-- shop/other.py --
class Other: ...
-- all.py --
from shop import *
__all__ = ["⟨u3⟩Cart"]
-- use.py --
import all
all.⟨u4⟩Cart()
""",
    "another name": """
-- shop/__init__.py --
from .names import *
__all__ = ["⟨u2⟩Basket"]
-- shop/names.py --
from .cart import ⟨u3⟩Cart as ⟨u4⟩Basket
""",
    "a circle": """
-- shop/__init__.py --
from .more import *
__all__ = ["⟨u2⟩Cart"]
-- shop/more.py --
from . import *
from .cart import *
""",
}


async def asked(tmp_path: Path, text: str, server: str) -> tuple[set[Any], set[Any], str]:
    """The places that are marked, those that are told, and what is said of them."""
    archive = Archive.read(text)
    (tmp_path / "ws").mkdir()
    archive.write_to(tmp_path / "ws")
    file, line, character = archive.marks["d1"]
    async with engine(tmp_path / "ws", cache=tmp_path / "cache", registry=only(server)) as running:
        answer: Any = await running.call(
            "vscode.lsp.references",
            uri=running.uri(file),
            position={"line": line, "character": character},
            includeDeclaration=True,
        )
        root = f"{running.root.as_uri()}/"
    starts = [(item["uri"], item["range"]["start"]) for item in answer["items"]]
    told = {(uri.removeprefix(root), at["line"], at["character"]) for uri, at in starts}
    assert len(told) == len(starts)
    return set(archive.marks.values()), told, answer["summary"].partition(".")[2].strip()


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("kind", COUNTED)
async def test_a_text_in_all_is_a_use(tmp_path: Path, server: str, kind: str) -> None:
    marked, told, said = await asked(tmp_path, CART + COUNTED[kind], server)
    assert told == marked
    assert said == ""


#: pyright takes all of them for the same.
OTHERS = """
-- shop/__init__.py --
-- shop/other.py --
class Cart: ...
-- one.py --
from shop.cart import *
from shop.other import *
__all__ = ["Cart"]
-- two.py --
from shop.cart import *
class Cart: ...
__all__ = ["Cart"]
-- three.py --
from shop.few import *
__all__ = ["Cart"]
-- shop/few.py --
from shop.cart import *
__all__ = ["few"]
few = 1
-- four.py --
from shop.other import *
from shop.cart import *
__all__ = ["⟨u2⟩Cart"]
"""


async def test_another_symbol_of_the_name_is_none(tmp_path: Path) -> None:
    marked, told, said = await asked(tmp_path, CART + OTHERS, "ty")
    assert told == marked
    assert said == ""


SAME_NAME = """
-- tools/__init__.py --
from .total import *
__all__ = ["⟨u1⟩total"]
-- tools/total.py --
def ⟨d1⟩total(): ...
"""


@pytest.mark.parametrize("server", SERVERS)
async def test_a_module_may_be_called_like_what_is_in_it(tmp_path: Path, server: str) -> None:
    marked, told, said = await asked(tmp_path, SAME_NAME, server)
    assert told == marked
    assert said == ""


MADE = """
-- shop/__init__.py --
from .made import *
__all__ = ["Cart"]
-- shop/made.py --
from .cart import *
__all__ = [name for name in globals()]
"""


async def test_what_a_program_knows_is_said(tmp_path: Path) -> None:
    marked, told, said = await asked(tmp_path, CART + MADE, "ty")
    assert told == marked
    assert said == (
        "Cart stands in __all__ of 1 file that imports with * (shop/__init__.py); it is not "
        "counted there."
    )


async def test_a_long_way_is_not_followed_to_its_end(tmp_path: Path) -> None:
    files = {"shop/m0.py": "class Cart: ...\n", "shop/__init__.py": ""}
    files |= {f"shop/m{n}.py": f"from .m{n - 1} import *\n" for n in range(1, 400)}
    files["all.py"] = 'from shop.m399 import *\n__all__ = ["Cart"]\n'
    files["few.py"] = 'from shop.m9 import *\n__all__ = ["Cart"]\n'
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only("ty")) as running:
        place = {"uri": running.uri("shop/m0.py"), "position": {"line": 0, "character": 6}}
        answer = await running.call("vscode.lsp.references", **place)
    assert [item["uri"] for item in answer["items"]] == [running.uri("few.py")]
    assert "Cart stands in __all__ of 1 file that imports with * (all.py)" in answer["summary"]
