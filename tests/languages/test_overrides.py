"""Python: a use through a base class may reach a method. No server counts it, so it is said."""

import threading
from pathlib import Path
from typing import Any

import pytest

from sightline.lsp.asking.kin import Kin
from sightline.lsp.asking.members import Members
from tests.languages.samples import only
from tests.support.engine import engine
from tests.support.files import write_files

PROJECT = {"pyproject.toml": '[project]\nname = "x"\nversion = "1"\n'}
FILES = {
    **PROJECT,
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


#: A class and one that is derived from it, in the ways that a text alone does not tell.
FAMILIES = {
    "through another class": "class Middle(Base):\n    pass\n\n\nclass Mail(Middle):",
    "by another name": "from base import Base as Root\n\n\nclass Mail(Root):",
    "by a module's name": "import base as kinds\n\n\nclass Mail(\n    kinds.Base,  # of (all)\n):",
    "with a type": "class Mail[T: list[int]](Base, metaclass=type):",
}
CALL = "from base import Base\n\n\ndef run(one: Base) -> None:\n    one.handle()\n"
SAID = "handle of a base class or subclass is used in 1 place (run.py)"


async def said_of(tmp_path: Path, files: dict[str, str]) -> str:
    """What is said of the first ``def handle``, or ``self.handle``, in ``mail.py``."""
    lines = files["mail.py"].split("\n")
    line = next(n for n, text in enumerate(lines) if "def handle" in text or "self.handle" in text)
    place = {"line": line, "character": lines[line].index("handle")}
    root = write_files(tmp_path / "ws", {**PROJECT, **files})
    async with engine(root, cache=tmp_path, registry=only("ty")) as running:
        uri = running.uri("mail.py")
        answer = await running.call("vscode.lsp.references", uri=uri, position=place)
    return str(answer["summary"])


@pytest.mark.parametrize("family", FAMILIES)
async def test_a_base_class_is_found_where_it_is(tmp_path: Path, family: str) -> None:
    mail = f"from base import Base\n\n\n{FAMILIES[family]}\n    def handle(self) -> None: ...\n"
    base = "class Base:\n    def handle(self) -> None: ...\n"
    files = {"base.py": base, "mail.py": mail, "run.py": CALL}
    assert SAID in await said_of(tmp_path, files)


async def test_an_attribute_that_a_method_gives(tmp_path: Path) -> None:
    base = "class Base:\n    def __init__(self) -> None:\n        self.handle = len\n"
    mail = (
        "from base import Base\n\n\nclass Mail(Base):\n"
        "    def __init__(self) -> None:\n        self.handle = max\n"
    )
    files = {"base.py": base, "mail.py": mail, "run.py": CALL}
    assert SAID in await said_of(tmp_path, files)


async def test_a_base_class_of_the_standard_library(tmp_path: Path) -> None:
    mail = "import logging\n\n\nclass Mail(logging.Handler):\n    def handle(self, record): ...\n"
    run = "import logging\n\n\ndef run(one: logging.Handler) -> None:\n    one.handle(None)\n"
    assert SAID in await said_of(tmp_path, {"mail.py": mail, "run.py": run})


async def test_another_class_of_the_same_name_is_no_kin(tmp_path: Path) -> None:
    base = "class Base:\n    def handle(self) -> None: ...\n"
    mail = "from other import Base\n\n\nclass Mail(Base):\n    def handle(self) -> None: ...\n"
    files = {"base.py": base, "other.py": "class Base: ...\n", "mail.py": mail, "run.py": CALL}
    assert "subclass" not in await said_of(tmp_path, files)


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
        "Returned 0 references. items of a base class or subclass is used in 1 place (box.py), "
        "not counted here."
    )


PROTOCOL = (
    "from typing import Protocol\n\n\nclass Base(Protocol):\n    def handle(self) -> None: ...\n"
)


@pytest.mark.parametrize(
    ("more", "is_kin"), [("", True), ("    size: int\n", True), ("    weight: int\n", False)]
)
async def test_a_protocol_is_a_base_of_what_has_its_members(
    tmp_path: Path, more: str, is_kin: bool
) -> None:
    mail = "class Box:\n    size = 1\n\n\nclass Mail(Box):\n    def handle(self) -> None: ...\n"
    files = {"base.py": PROTOCOL + more, "mail.py": mail, "run.py": CALL}
    assert (SAID in await said_of(tmp_path, files)) == is_kin


async def test_where_only_the_name_of_a_base_is_known(tmp_path: Path) -> None:
    mail = "from missing import kinds\n\n\nclass Mail(kinds.Base):\n    def handle(self): ...\n"
    base = "class Base:\n    def handle(self) -> None: ...\n"
    said = await said_of(tmp_path, {"base.py": base, "mail.py": mail, "run.py": CALL})
    assert SAID.replace("a base", "what may be a base", 1) in said
    assert SAID not in said


async def test_files_are_looked_through_beside_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many there are, others have their turns."""
    threads: dict[str, set[threading.Thread]] = {}
    for owner, name in ((Kin, "_classes"), (Kin, "_all_at"), (Members, "_in_code")):
        look = getattr(owner, name)

        def watched(self: object, *given: Any, name: str = name, look: Any = look) -> Any:
            threads.setdefault(name, set()).add(threading.current_thread())
            return look(self, *given)

        monkeypatch.setattr(owner, name, watched)
    base = "class Base:\n    def handle(self) -> None: ...\n"
    mail = "from base import Base\n\n\nclass Mail(Base):\n    def handle(self) -> None: ...\n"
    many = "from mail import Mail\n\n\ndef run(one: Mail) -> None:\n" + "    one.handle()\n" * 501
    files = {"base.py": base, "mail.py": mail, "run.py": CALL, "many.py": many}
    assert SAID in await said_of(tmp_path, files)
    assert threads.keys() == {"_classes", "_all_at", "_in_code"}
    assert threading.main_thread() not in set.union(*threads.values())
