"""Uses that Python servers miss without a word: each is said where it is so, and nowhere else."""

from pathlib import Path
from typing import Any

import pytest

from tests.languages.samples import only
from tests.support.engine import Engine, engine
from tests.support.files import write_files

CORE = "def total() -> int:\n    return 1\n"
USE = "from a.core import total\n\ntotal()\n"
PROJECT = '[project]\nname = "x"\nversion = "1"\n'
NOTE = "Imports of a are not resolved in 1 file; uses there may be missing."

#: Where the function lies, who uses it how, and what else there is.
LAYOUTS: dict[str, tuple[str, str, str, dict[str, str]]] = {
    "folders named like packages": (
        "services/a/a/core.py",
        "services/b/b/__init__.py",
        USE,
        {"services/a/a/__init__.py": ""},
    ),
    "no packages": ("a/a/core.py", "app/main.py", USE, {}),
    "a module": ("a/a/core.py", "app/main.py", "import a.core\n\na.core.total()\n", {}),
    "from the package": (
        "a/a/__init__.py",
        "app/main.py",
        "from a import total\n\ntotal()\n",
        {},
    ),
    "a module from the package": (
        "a/a/core.py",
        "app/main.py",
        "from a import core\n\ncore.total()\n",
        {"a/a/__init__.py": ""},
    ),
    "a module from a folder": (
        "a/core.py",
        "app/main.py",
        "from a import core\n\ncore.total()\n",
        {},
    ),
    "a folder from a folder": (
        "a/more/core.py",
        "app/main.py",
        "from a.more import core\n\ncore.total()\n",
        {},
    ),
    "several lines": (
        "a/core.py",
        "app/main.py",
        "from a import (  # why\n    other as o,\n    core,\n)\n\ncore.total()\n",
        {"a/other.py": ""},
    ),
    "several lines of a package": (
        "a/a/__init__.py",
        "app/main.py",
        "from a import (  # why\n    other,\n    total,\n)\n\ntotal()\n",
        {"a/a/other.py": ""},
    ),
    "a folder of that name with others in it": (
        "lib/a/core.py",
        "use.py",
        USE,
        {"a/more.py": ""},
    ),
    "beside itself": ("a/a/core.py", "a/tests/use.py", USE, {"a/a/__init__.py": ""}),
    "inside itself": ("a/a/core.py", "a/a/use.py", USE, {"a/a/__init__.py": ""}),
    "inside itself, no package": ("a/a/core.py", "a/a/use.py", USE, {}),
    "a folder of that name in the middle": ("a/src/a/core.py", "b/use.py", USE, {}),
    "src, and a folder of that name": ("src/a/core.py", "use.py", USE, {"a/more.py": ""}),
    "src, a package and a folder of that name": (
        "src/a/core.py",
        "use.py",
        USE,
        {"a/more.py": "", "src/a/__init__.py": ""},
    ),
    "the other way round": ("a/core.py", "use.py", USE, {"src/a/more.py": ""}),
    "named like the project": (
        "x/x/core.py",
        "use.py",
        "from x.core import total\n\ntotal()\n",
        {"pyproject.toml": PROJECT},
    ),
    "everything": (
        "a/a/core.py",
        "app/main.py",
        "from a.core import *\n\ntotal()\n",
        {"a/a/__init__.py": ""},
    ),
    "everything of a package": (
        "a/a/__init__.py",
        "app/main.py",
        "from a import *\n\ntotal()\n",
        {},
    ),
}


async def asked(running: Engine, core: str, line: int = 0) -> tuple[set[str], str]:
    answer: Any = await running.call(
        "vscode.lsp.references",
        uri=running.uri(core),
        position={"line": line, "character": 4},
        includeDeclaration=True,
    )
    return {item["uri"] for item in answer["items"]}, answer["summary"]


@pytest.mark.parametrize("server", ["ty", "pyright"])
@pytest.mark.parametrize("layout", list(LAYOUTS))
async def test_folders_that_are_named_like_a_package(
    tmp_path: Path, server: str, layout: str
) -> None:
    core, use, text, more = LAYOUTS[layout]
    root = write_files(tmp_path / "ws", {core: CORE, use: text, **more})
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        found, summary = await asked(running, core)
        assert (running.uri(use) in found) != (" are not resolved" in summary), (found, summary)


SPELLINGS = [
    "import sys; from core import total\n",
    "try: from core import total\nexcept ImportError: raise\n",
    "from core \\\n    import total\n",
    "from \\\n core import \\\n    total\n",
    "if True: import sys; import core; total = core.total\n",
]


@pytest.mark.parametrize("server", ["ty", "pyright"])
@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_imports_that_do_not_begin_a_line(tmp_path: Path, server: str, spelling: str) -> None:
    files = {"lib/core.py": CORE, "app/main.py": f"{spelling}\ntotal()\n"}
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        _, summary = await asked(running, "lib/core.py")
        assert NOTE.replace(" a ", " core ") in summary
        write_files(root, {"app/core.py": CORE})
        assert "not resolved" not in (await asked(running, "lib/core.py"))[1]


LOCAL = "from core import total\n\ntotal()\n"
GIT = {".git/HEAD": "ref: refs/heads/main\n"}
#: What ignores some of the files, and with what settings.
IGNORES: dict[str, dict[str, str]] = {
    "nothing": GIT,
    "by a pattern": {**GIT, ".gitignore": "local_*.py\n"},
    "a folder": {**GIT, ".gitignore": "/made/\n"},
    "by a choice": {**GIT, ".gitignore": "{local_a,made/{use,deep/*}}.py\n"},
    "by a choice of folders": {**GIT, ".gitignore": "{made,other}/\n"},
    "by half a choice": {**GIT, ".gitignore": "{local_a,made\nlocal_b.py\n"},
    "a choice of its own": {".ignore": "/local_{a,b}.py\n"},
    "in a folder": {**GIT, "made/.gitignore": "*.py\n!deep/\n"},
    "taken back": {**GIT, ".gitignore": "*.py\n!made/*.py\n!core.py\n"},
    "taken back further down": {
        **GIT,
        ".gitignore": "*.py\n!core.py\n",
        "made/.gitignore": "!use.py\n",
    },
    "no repository": {".gitignore": "local_*.py\n"},
    "a file of its own": {".ignore": "local_*.py\n"},
    "a file of its own in a folder": {"made/.ignore": "deep\n"},
    "its own takes back": {**GIT, ".gitignore": "*.py\n", ".ignore": "!local_*.py\n!core.py\n"},
    "its own above the other": {**GIT, ".ignore": "use.py\n", "made/.gitignore": "!use.py\n"},
    "excluded": {**GIT, ".git/info/exclude": "made/deep\n"},
    "above": {"../.git/HEAD": GIT[".git/HEAD"], "../.gitignore": "/ws/made/deep/\nlocal_*\n"},
    "a repository inside": {**GIT, ".gitignore": "more.py\n", "made/.git/HEAD": "ref: x\n"},
    "its own above": {"../.ignore": "local_*\n"},
    "not looked at": {
        **GIT,
        ".gitignore": "local_*.py\n",
        "ty.toml": "[src]\nrespect-ignore-files = false\n",
    },
    "not looked at by a manifest": {
        **GIT,
        ".gitignore": "local_*.py\n",
        "pyproject.toml": PROJECT + "[tool.ty.src]\nrespect-ignore-files = false\n",
    },
    "looked at": {
        **GIT,
        ".gitignore": "local_*.py\n",
        "ty.toml": "[src]\nrespect-ignore-files = true\n",
    },
    "included": {
        **GIT,
        ".gitignore": "local_*.py\nmade\n",
        "pyproject.toml": PROJECT + '[tool.ty.src]\ninclude = ["local_a.py", "made", "core.py"]\n',
    },
    "excluded, too": {
        **GIT,
        ".gitignore": "local_*.py\n",
        "pyproject.toml": PROJECT + '[tool.ty.src]\nexclude = ["local_a.py", "!local_b.py"]\n',
    },
}


@pytest.mark.parametrize("server", ["ty", "pyright"])
@pytest.mark.parametrize("ignores", list(IGNORES))
async def test_files_that_are_ignored(tmp_path: Path, server: str, ignores: str) -> None:
    uses = ["local_a.py", "local_b.py", "made/use.py", "made/deep/use.py", "made/deep/more.py"]
    files = {"core.py": CORE, **dict.fromkeys(uses, LOCAL), **IGNORES[ignores]}
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        found, summary = await asked(running, "core.py")
        missed = sum(running.uri(use) not in found for use in uses)
        files_left = "1 file" if missed == 1 else f"{missed} files"
        said = f"The project's own settings leave out {files_left}; uses there may be missing."
        assert (said in summary) if missed else ("leave out" not in summary), (found, summary)


async def test_what_is_ignored_is_said_as_long_as_it_is_so(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", {"core.py": CORE, "local_a.py": LOCAL, **GIT})
    async with engine(root, cache=tmp_path / "cache", registry=only("ty")) as running:
        for _ in range(2):
            for text, there in (("", True), ("local_*.py\n", False)):
                write_files(root, {".gitignore": text})
                found, summary = await asked(running, "core.py")
                assert (running.uri("local_a.py") in found) == there, (text, summary)
                assert ("settings leave out 1 file;" not in summary) == there
