"""Python: a field whose name is given as a text, or as an argument that no server follows."""

from pathlib import Path

import pytest

from tests.languages.samples import only
from tests.support.engine import engine
from tests.support.files import write_files

FILES = {
    "pyproject.toml": '[project]\nname = "x"\nversion = "1"\n',
    "types_.py": """from dataclasses import dataclass
from enum import Enum
from typing import TypedDict
from missing import Model

class Options(TypedDict):
    history: bool
class More(Options, total=False):
    depth: int
class Color(Enum):
    RED = 1
@dataclass
class Item:
    price: int = 0
class User(Model):
    email: str
class Admin(User):
    level: int
class Plain:
    history: bool
    email: str
""",
}
KEYS = """from types_ import Color, Item, More, Options
def work(options: Options, more: More) -> More:
    options["history"]; more.get('history'); "history of it"; f"history"
    # options["history"]
    # fmt: "depth"
    Color["RED"]; {"RED": 1}; Color.RED
    return {"history": True, "depth": 1}
"""
ARGUMENTS = """from dataclasses import replace
from types_ import Admin, Item, User
def work(item: Item, other, match_):
    replace(item, price=1)
    Item(price=2)
    other.buy(price=3); print(item, price == 4)
    match item:
        case Item(price=5): pass
    User(email="a")
    Admin(
        level=f(1)[0], # )
        email=")",
    )
    other(email="b"); dict(email="c")
"""


def as_text(name: str, places: str) -> str:
    return f"{name} stands as a text in {places} (use.py); uses as a key are not counted."


def as_argument(name: str, places: str) -> str:
    where = f"{places} (use.py)"
    return f"{name} is an argument of unknown meaning in {where}; it is not counted there."


@pytest.mark.parametrize(
    ("line", "text", "said"),
    [
        (6, KEYS, as_text("history", "3 places")),
        (8, KEYS, as_text("depth", "1 place")),
        (10, KEYS, as_text("RED", "1 place")),
        (19, KEYS, ""),
        (13, ARGUMENTS, as_argument("price", "2 places")),
        (15, ARGUMENTS, as_argument("email", "2 places")),
        (17, ARGUMENTS, as_argument("level", "1 place")),
        (20, ARGUMENTS, ""),
    ],
)
async def test_what_is_said(tmp_path: Path, line: int, text: str, said: str) -> None:
    root = write_files(tmp_path / "ws", FILES | {"use.py": text})
    async with engine(root, cache=tmp_path / "cache", registry=only("ty")) as running:
        answer = await running.call(
            "vscode.lsp.references",
            uri=running.uri("types_.py"),
            position={"line": line, "character": 4},
        )
    _, _, rest = answer["summary"].partition(".")
    assert rest.strip() == said


PROJECT = FILES["pyproject.toml"]
ITEM = """from dataclasses import dataclass
from typing import NamedTuple
@dataclass
class Item:
    price: int
class Point(NamedTuple):
    width: int
"""
#: Another class with a field of that name, which makes objects of itself.
OTHER = """from dataclasses import dataclass
@dataclass
class K{number}:
    price: int
    @classmethod
    def make(cls, price):
        return cls(price=price)
"""


async def told(tmp_path: Path, files: dict[str, str], server: str, line: int) -> str:
    """What an answer about a field in ``item.py`` says but for the number of references."""
    files = {"pyproject.toml": PROJECT, "item.py": ITEM} | files
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        answer = await running.call(
            "vscode.lsp.references",
            uri=running.uri("item.py"),
            position={"line": line, "character": 4},
        )
    return str(answer["summary"]).partition(".")[2].strip()


@pytest.mark.parametrize("server", ["ty", "pyright"])
async def test_other_classes_make_objects_of_themselves(tmp_path: Path, server: str) -> None:
    others = {f"k{number}.py": OTHER.format(number=number) for number in range(60)}
    assert await told(tmp_path, others, server, 4) == ""


@pytest.mark.parametrize("server", ["ty", "pyright"])
async def test_many_other_classes_are_told_apart(tmp_path: Path, server: str) -> None:
    others = {f"k{number}.py": OTHER.format(number=number) for number in range(90)}
    calls = (f"from k{number} import K{number}\nK{number}(price=1)\n" for number in range(90))
    others["calls.py"] = "".join(calls)
    assert await told(tmp_path, others, server, 4) == ""


CHANGES = "from dataclasses import replace\ndef work(item):\n" + "    replace(item, price=1)\n" * 60


@pytest.mark.parametrize("server", ["ty", "pyright"])
async def test_nobody_was_asked_about_so_many(tmp_path: Path, server: str) -> None:
    assert await told(tmp_path, {"use.py": CHANGES}, server, 4) == (
        "price is an argument in 60 other places (use.py); uses of unknown meaning are not counted."
    )


OWN = """from item import Item
class More(Item):
    @classmethod
    def dear(cls):
        def make(): return cls(price=9)
        return make()
def work(cls):
    cls(price=1)
class Base:
    @classmethod
    def new(cls): cls(price=2)
"""


@pytest.mark.parametrize("server", ["ty", "pyright"])
async def test_a_class_that_may_be_one_of_these(tmp_path: Path, server: str) -> None:
    """In a class below, in a base, and where it is given."""
    item = ITEM.replace("@data", "from use import Base\n@data").replace("Item:", "Item(Base):")
    said = await told(tmp_path, {"use.py": OWN, "item.py": item}, server, 5)
    assert said == (
        as_argument("price", "2 places")  # ty counts the one below
        if server == "ty"
        else "price is an argument in 3 other places (use.py); uses of unknown meaning are not "
        "counted."
    )


@pytest.mark.parametrize("server", ["ty", "pyright"])
async def test_a_changed_copy_of_a_tuple(tmp_path: Path, server: str) -> None:
    use = "from item import Point\np = Point(width=1)\np._replace(width=2)\n"
    assert await told(tmp_path, {"use.py": use}, server, 6) == (
        ""  # ty counts it
        if server == "ty"
        else "width is an argument in 1 other place (use.py); uses of unknown meaning are not "
        "counted."
    )
