"""Python: what is found out of sources once is found out again when one of them changes.

Which classes there are, which modules load others, which have stars, where a name is defined: a
server that saw an edit is asked beside one that starts after it, and the edit makes a difference.
"""

from pathlib import Path

import pytest

from tests.languages.samples import only
from tests.support.engine import Engine, engine
from tests.support.files import write_files

FILES = {
    "pyproject.toml": '[project]\nname = "x"\nversion = "1"\n',
    "rows.py": (
        "from missing import Row\nclass User(Row):\n    email: str\n    def send(self): ...\n"
    ),
    "kinds.py": "from rows import User\nclass Admin(User): ...\nclass Base: ...\n",
    "use.py": "from kinds import Admin\nAdmin(email='a')\n",
    "mail.py": (
        "from kinds import Base\n\nclass Mail(Base):\n    def send(self): ...\n\nMail().send()\n"
    ),
    "shop/__init__.py": "from .cart import *\n__all__ = ['total']\n",
    "shop/cart.py": "def total(): return 1\n",
    "load.py": "def load(module): return module.total()\n",
}
#: Where a name is declared that is asked about.
SEND, TOTAL = ("rows.py", 3, 8), ("shop/cart.py", 0, 4)
EDITS = {
    "a class is derived now": (
        SEND,
        {"kinds.py": "from rows import User\nclass Admin(User): ...\nclass Base(User): ...\n"},
    ),
    "another class of that name": (
        SEND,
        {
            "mail.py": FILES["mail.py"].replace(
                "from kinds import Base", "from rows import User as Base"
            )
        },
    ),
    "a star goes": (TOTAL, {"shop/__init__.py": "total = 1\n__all__ = ['total']\n"}),
    "names are listed no longer": (TOTAL, {"shop/__init__.py": "from .cart import *\n"}),
    "a module is loaded by its name": (
        TOTAL,
        {
            "load.py": "from importlib import import_module\ndef load(name):\n"
            "    module = import_module(name)\n    return module.total()\n"
        },
    ),
}


async def asked(running: Engine, place: tuple[str, int, int]) -> tuple[object, object]:
    file, line, character = place
    answer = await running.call(
        "vscode.lsp.references",
        uri=running.uri(file),
        position={"line": line, "character": character},
    )
    return answer["items"], answer["summary"]


#: Pyright is not asked what a class is derived from.
OF_TY = ("a class is derived now", "another class of that name")


@pytest.mark.parametrize(
    ("edit", "server"),
    [(edit, "ty") for edit in EDITS] + [(edit, "pyright") for edit in EDITS if edit not in OF_TY],
)
async def test_an_edit_is_seen_in_what_was_found_out(
    tmp_path: Path, edit: str, server: str
) -> None:
    place, files = EDITS[edit]
    root = write_files(tmp_path / "ws", FILES)
    async with engine(root, cache=tmp_path / "warm", registry=only(server)) as warm:
        before = await asked(warm, place)
        assert await asked(warm, place) == before
        write_files(root, files)
        after = await asked(warm, place)
        async with engine(root, cache=tmp_path / "cold", registry=only(server)) as cold:
            assert after == await asked(cold, place)
        write_files(root, {name: FILES[name] for name in files})
        assert await asked(warm, place) == before
    assert after != before, "an edit that makes no difference shows nothing"
