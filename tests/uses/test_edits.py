"""An edit between two questions changes the answer: nothing that was resolved or read is kept."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.markers.archive import MARKER
from tests.support.engine import engine
from tests.support.files import write_files
from tests.uses.test_uses import unmarked, uses


@dataclass
class Edited:
    """A workspace with one mark, what is written into it, step by step, and what each step says."""

    files: dict[str, str]
    said: str
    steps: list[tuple[dict[str, str | None], str]]


NOWHERE, UNKNOWN = "behind imports that do not resolve", "where the type is unknown"
CART = {"shop/__init__.py": "", "shop/cart.py": "def ⟨d⟩total() -> int: ...\n"}
COPY = ".venv/lib/python3.11/site-packages/app"
EDITED = {
    "the type of a value becomes known": Edited(
        {
            "box.py": "class Box:\n    def ⟨d⟩fold(self): ...\n",
            "use.py": "def f(one):\n    one.fold()\n",
        },
        UNKNOWN,
        [
            ({"use.py": "from box import Box\ndef f(one: Box):\n    one.fold()\n"}, "1 reference."),
            ({"use.py": "def f(one: set):\n    one.fold()\n"}, UNKNOWN),
            ({"use.py": "def f(one):\n    one.folds()\n"}, "0 references."),
        ],
    ),
    "the class that a value has moves": Edited(
        {
            "box.py": "class Box:\n    def ⟨d⟩fold(self): ...\n",
            "kinds.py": "class Tin:\n    def fold(self): ...\n",
            "use.py": "from kinds import Tin\nTin().fold()\n",
        },
        "0 references.",
        [
            ({"kinds.py": "from box import Box as Tin\n"}, "1 reference."),
            ({"kinds.py": "from lost import Tin\n"}, UNKNOWN),
            ({"kinds.py": "from box import Boxes as Tin\n"}, UNKNOWN),
        ],
    ),
    "a star comes and goes": Edited(
        CART | {"all.py": 'from shop.cart import *\n__all__ = ["total"]\n'},
        "1 reference.",
        [
            ({"all.py": 'from shop import *\n__all__ = ["total"]\n'}, "0 references."),
            ({"shop/__init__.py": "from .cart import *\n"}, "1 reference."),
            ({"shop/__init__.py": "from .lost import *\n"}, "in 1 place " + NOWHERE),
        ],
    ),
    "a module of the workspace is found, and a copy of it": Edited(
        {
            "lib/app/__init__.py": "",
            "lib/app/core.py": "def ⟨d⟩total() -> int: ...\n",
            "tests/use.py": "from app.core import total\n",
        },
        NOWHERE,
        [
            (
                {
                    ".venv/pyvenv.cfg": "home = /usr/bin\n",
                    f"{COPY}/__init__.py": "",
                    f"{COPY}/core.py": "def total() -> int: ...\n",
                },
                "in 1 place behind a copy or a build of its file",
            ),
            ({f"{COPY}/core.py": None}, NOWHERE),
            ({"pyproject.toml": '[tool.ty.environment]\nroot = ["lib"]\n'}, "1 reference."),
        ],
    ),
    "a package of the workspace is named": Edited(
        {
            "packages/shapes/package.json": '{"name": "@here/shapes"}',
            "packages/shapes/src/index.ts": "export function ⟨d⟩area() {}\n",
            "packages/app/package.json": "{}",
            "packages/app/src/main.ts": "import { area } from '@here/shapes'\n",
        },
        NOWHERE,
        [
            ({"packages/shapes/package.json": '{"name": "@here/forms"}'}, "0 references."),
            ({"packages/shapes/package.json": '{"name": "@here/shapes"}'}, NOWHERE),
            (
                {"packages/app/src/main.ts": "import { area } from '../../shapes/src/index'\n"},
                "1 reference.",
            ),
        ],
    ),
    "a configuration gets a pattern": Edited(
        {
            "tsconfig.json": '{"compilerOptions": {"module": "esnext"}}',
            "src/cart.ts": "export function ⟨d⟩total() {}\n",
            "src/main.ts": "import { total } from '@/cart'\n",
        },
        NOWHERE,
        [
            (
                {"tsconfig.json": '{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}'},
                "1 reference.",
            ),
            ({"tsconfig.json": '{"compilerOptions": {"module": "esnext"}}'}, NOWHERE),
        ],
    ),
}


@pytest.mark.parametrize("case", EDITED)
async def test_an_edit_changes_the_answer(tmp_path: Path, case: str) -> None:
    edited = EDITED[case]
    marks: dict[str, tuple[str, int, int]] = {}
    files = {name: unmarked(name, text, marks) for name, text in edited.files.items()}
    assert not any(MARKER.search(text) for text in files.values())
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path / "cache") as running:
        assert edited.said in await uses(running, marks["d"], declaration=False)
        for changes, said in edited.steps:
            for name, text in changes.items():
                if text is None:
                    (root / name).unlink()
            write_files(root, {name: text for name, text in changes.items() if text is not None})
            answer = await uses(running, marks["d"], declaration=False)
            is_all = said.endswith(".")
            assert answer.endswith(said) if is_all else said in answer, (changes, answer)
