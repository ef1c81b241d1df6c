"""Names of types in quotes: said where pyright does not count them, and nowhere else."""

from pathlib import Path

import pytest

from tests.languages.samples import only
from tests.support.engine import engine
from tests.support.files import write_files

PORT = """import typing
from typing import Callable, Dict, Generic, List, Literal, NewType, Optional, TypeVar, Union, cast


class Port:
    pass


"""
#: What stands behind it, and how many places are said, of those that pyright does not count.
TEXTS = {
    'T = TypeVar("T", bound="Port")\n': 1,
    'T = TypeVar("T", "Port", int)\n': 1,
    'T = TypeVar("T", bound="List[Port]")\n': 1,
    'Filter = Callable[["Port"], bool]\n': 1,
    'Kept = typing.Union["Port", Dict[str, "Port"]]\n': 2,
    'Kept = list["Port"]\n': 1,
    'New = NewType("New", "Port")\n': 1,
    'x = cast("Port", 1)\n': 1,
    "x = typing.cast(\n    'Port | None',\n    1,\n)\n": 1,
    'def go(self: "Port") -> "Port": ...\n': 0,
    'x: Optional["Port"] = None\n': 0,
    'x: "List[Port]" = []\n': 0,
    'def go(f: Callable[["Port"], bool]): ...\n': 0,
    'Port2 = TypeVar("Port")\n': 0,
    'x = {"Port": 1}["Port"]\n': 0,
    'x = Literal["Port"]\n': 0,
    'names = dict()\nnames["Port"] = 1\nprint("Port")\n': 0,
    '# cast("Port", 1)\n': 0,
    '"""As in cast("Port", 1)."""\n': 0,
    'x = cast(Port, "Port")\n': 0,
    'x = cast(Dict[str, "Port"], 1)\n': 1,
    'x = cast("Dict[str, Port]", 1)\n': 1,
    'x = print(List["Port"], "é", cast("Port", 1))\n': 2,
}


@pytest.mark.parametrize("text", TEXTS)
async def test_it_is_said_of_what_is_not_counted(tmp_path: Path, text: str) -> None:
    root = write_files(tmp_path / "ws", {"a.py": PORT + text})
    async with engine(root, cache=tmp_path / "cache", registry=only("pyright")) as running:
        answer = await running.call(
            "vscode.lsp.references", uri=running.uri("a.py"), position={"line": 4, "character": 6}
        )
    count = {0: "", 1: "1 place", 2: "2 places"}[TEXTS[text]]
    said = f"Port stands in quotes in {count} (a.py); uses there are not counted."
    assert (said in answer["summary"]) == bool(count), answer
    assert ("in quotes" in answer["summary"]) == bool(count), answer


async def test_ty_counts_them(tmp_path: Path) -> None:
    text = f'{PORT}T = TypeVar("T", bound="Port")\nFilter = Callable[["Port"], bool]\n'
    root = write_files(tmp_path / "ws", {"a.py": text})
    async with engine(root, cache=tmp_path / "cache", registry=only("ty")) as running:
        answer = await running.call(
            "vscode.lsp.references", uri=running.uri("a.py"), position={"line": 4, "character": 6}
        )
    assert len(answer["items"]) == 2 and "in quotes" not in answer["summary"]
