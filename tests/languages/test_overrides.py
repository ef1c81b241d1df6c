"""Python: a use through a base class may reach a method. No server counts it, so it is said."""

from pathlib import Path

import pytest

from tests.languages.samples import only
from tests.support.engine import engine
from tests.support.files import write_files

FILES = {
    "pyproject.toml": '[project]\nname = "x"\nversion = "1"\n',
    "base.py": "from abc import ABC, abstractmethod\n\n\nclass Handler(ABC):\n"
    "    @abstractmethod\n    def handle(self, event: str) -> None: ...\n",
    "mail.py": "import base\n\n\nclass Mail(base.Handler):\n"
    "    def handle(self, event: str) -> None: ...\n",
    "other.py": "class Other:\n    def handle(self) -> None: ...\n\n\nOther().handle()\n",
    "run.py": "from base import Handler\nfrom mail import Mail\n\n\n"
    "def run(all: list[Handler], mail: Mail) -> None:\n    for each in all:\n"
    '        each.handle("x")\n    mail.handle("y")\n',
}


@pytest.mark.parametrize(
    ("name", "line", "uses", "said"),
    [
        ("mail.py", 4, 1, "handle of a base class or subclass is used in 1 place (run.py)"),
        ("base.py", 5, 1, "handle of a base class or subclass is used in 1 place (run.py)"),
        ("other.py", 1, 1, ""),
    ],
)
async def test_a_method_that_overrides_another(
    tmp_path: Path, name: str, line: int, uses: int, said: str
) -> None:
    root = write_files(tmp_path / "ws", FILES)
    async with engine(root, cache=tmp_path, registry=only("ty")) as running:
        place = {"line": line, "character": 8}
        answer = await running.call("vscode.lsp.references", uri=running.uri(name), position=place)
    assert len(answer["items"]) == uses
    assert said in answer["summary"]
    assert bool(said) == ("subclass" in answer["summary"])


ATTRIBUTES = {
    "box.py": "class Box:\n    def __init__(self) -> None:\n        self.items = [1]\n\n"
    "    def show(self) -> int:\n        return len(self.items)\n\n\n"
    "class Crate(Box):\n    @property\n    def items(self) -> list[int]:\n        return [2]\n",
}


async def test_a_property_in_the_place_of_an_attribute(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", ATTRIBUTES)
    async with engine(root, cache=tmp_path, registry=only("ty")) as running:
        place = {"line": 10, "character": 8}
        answer = await running.call(
            "vscode.lsp.references", uri=running.uri("box.py"), position=place
        )
    assert answer["summary"] == (
        "Returned 0 references. items of a base class or subclass is used in 2 places (box.py), "
        "not counted here."
    )
