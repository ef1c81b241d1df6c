"""Python: a parameter that is given by its name in a call that no server follows. It is said."""

from pathlib import Path

import pytest

from tests.languages.samples import only
from tests.support.engine import engine
from tests.support.files import write_files

TOOLS = """def add(cls: type, x):
    return cls


def wrap(fn):
    return fn


@wrap
def loud(volume):
    return volume


class Attr:
    def __init__(
        self,
        name,  # of it
        hash,
    ):
        self.hash = hash

    def evolve(self, *, deep):
        return deep


Attr = add(Attr, 1)


class Box:
    def __init__(self, width: int):
        self.width = width

    @classmethod
    def new(cls, width: int):
        return cls(width=width)


def plain(tone):
    return tone


Attr(name=2, hash=3)
"""
USE = """from tools import Attr, Box, loud as noisy, plain


def use(a, m):
    Attr(name=1, hash=2)
    noisy(volume=2)
    m.noisy(volume=2)
    a.evolve(deep=1)
    a.other(deep=1, volume=2, hash=3, width=4)
    Box(width=1)
    plain(tone=1)
    print("loud(volume=1)", tone=1)  # plain(tone=1)
"""
ALL = {"pyproject.toml": '[project]\nname = "x"\nversion = "1"\n', "tools.py": TOOLS, "use.py": USE}


async def told(
    tmp_path: Path, place: tuple[int, int], server: str, files: dict[str, str] | None = None
) -> tuple[int, str]:
    """How many references there are, and what is said of them."""
    root = write_files(tmp_path / "ws", ALL | (files or {}))
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        answer = await running.call(
            "vscode.lsp.references",
            uri=running.uri("tools.py"),
            position={"line": place[0], "character": place[1]},
            includeDeclaration=True,
        )
    return len(answer["items"]), str(answer["summary"]).partition(".")[2].strip()


def unknown(name: str, places: str, *, asked: bool = True) -> str:
    if asked:
        return f"{name} is an argument of unknown meaning in {places}; it is not counted there."
    return f"{name} is an argument in {places}; uses of unknown meaning are not counted."


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ((9, 9), unknown("volume", "2 places (use.py)")),
        ((17, 8), unknown("hash", "1 place (tools.py)")),
        ((21, 24), unknown("deep", "1 place (use.py)")),
        ((29, 23), ""),
        ((37, 10), ""),
    ],
)
async def test_what_is_said_by_a_server_that_can_be_asked(
    tmp_path: Path, place: tuple[int, int], said: str
) -> None:
    assert (await told(tmp_path, place, "ty"))[1] == said


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ((9, 9), unknown("volume", "1 other place (use.py)", asked=False)),
        ((21, 24), unknown("deep", "1 other place (use.py)", asked=False)),
        ((37, 10), ""),
    ],
)
async def test_what_is_said_by_one_that_cannot(
    tmp_path: Path, place: tuple[int, int], said: str
) -> None:
    assert (await told(tmp_path, place, "pyright"))[1] == said


BELOW = """from tools import Box


class Small(Box):
    def __init__(self, **more):
        super().__init__(width=1)


class Unrelated:
    def __init__(self, width):
        self.width = width

    @classmethod
    def new(cls, width):
        return cls(width=width)


def work(cls):
    Unrelated(width=3)
    cls(width=2)
"""


@pytest.mark.parametrize("server", ["ty", "pyright"])
async def test_what_makes_objects(tmp_path: Path, server: str) -> None:
    """``work`` may be given the class, and pyright does not count what ``cls`` makes."""
    _, said = await told(tmp_path, (29, 23), server, {"below.py": BELOW})
    assert said == (
        unknown("width", "1 place (below.py)")
        if server == "ty"
        else unknown("width", "2 other places (below.py, tools.py)", asked=False)
    )


async def test_each_overload_of_a_stub_has_its_own(tmp_path: Path) -> None:
    stub = (
        "from typing import overload\n\n\n@overload\ndef plain(tone: int) -> int: ...\n"
        "@overload\ndef plain(tone: str) -> str: ...\n"
    )
    use = 'from tools import plain\n\nplain(tone=1)\nplain(tone="a")\n'
    files = {"tools.py": "def plain(tone): ...\n", "tools.pyi": stub, "use.py": use}
    assert await told(tmp_path, (0, 10), "ty", files) == (5, "")
