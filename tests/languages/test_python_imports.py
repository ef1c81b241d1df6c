"""Own modules that a Python server does not find: said exactly where it misses uses."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.languages.samples import only
from tests.support.engine import Engine, engine
from tests.support.files import write_files
from tests.support.program import run

CORE = "def target() -> int:\n    return 1\n"
USE = "from app.core import target\n\ntarget()\n"
PROJECT = '[project]\nname = "x"\nversion = "1"\n'
TY = PROJECT + "[tool.ty.environment]\n"
PYRIGHT = PROJECT + "[tool.pyright]\n"
SITE = ".venv/lib/python3.11/site-packages"
COPY = "Imports of app lead to an installed copy in 1 file; uses there may be missing."
NOTE = "Imports of app are not resolved in 1 file; uses there may be missing."

#: Where the module lies, who imports it, and what else there is.
LAYOUTS: dict[str, tuple[str, str, dict[str, str]]] = {
    "at the top": ("app", "use.py", {}),
    "src": ("src/app", "use.py", {}),
    "src that is a package": ("src/app", "use.py", {"src/__init__.py": ""}),
    "python": ("python/app", "use.py", {}),
    "python that is a package": ("python/app", "use.py", {"python/__init__.py": ""}),
    "lib": ("lib/app", "tests/use.py", {}),
    "tests": ("tests/app", "lib/use.py", {}),
    "beside the importing folder": ("b/app", "b/tests/use.py", {}),
    "beside a folder deeper down": ("b/app", "b/tests/more/use.py", {}),
    "beside a package": ("b/app", "b/tests/use.py", {"b/tests/__init__.py": ""}),
    "below the importing folder": ("a/b/app", "a/use.py", {}),
    "src of a package": ("b/src/app", "b/tests/use.py", {"b/pyproject.toml": PROJECT}),
    "inside itself": ("b/src/app", "b/src/app/more/use.py", {"b/src/app/__init__.py": ""}),
    "named as the project": ("x/app", "use.py", {"pyproject.toml": PROJECT, "x/x/a.py": ""}),
    "not named as the project": ("x/app", "use.py", {"pyproject.toml": PROJECT}),
    "root of ty": ("q/app", "use.py", {"pyproject.toml": TY + 'root = [".", "q"]\n'}),
    "no root of ty": ("src/app", "use.py", {"pyproject.toml": TY + 'root = ["."]\n'}),
    "path of ty": ("q/app", "use.py", {"ty.toml": '[environment]\nextra-paths = ["q"]\n'}),
    "path of pyright": ("q/app", "use.py", {"pyproject.toml": PYRIGHT + 'extraPaths = ["q"]\n'}),
    "file of pyright": ("q/app", "use.py", {"pyrightconfig.json": '{"extraPaths": ["q"]}'}),
    "path elsewhere": (
        "q/app",
        "use.py",
        {
            "pyproject.toml": TY + 'extra-paths = ["../beside"]\n[tool.pyright]\n'
            'extraPaths = ["../beside"]\n',
            "../beside/app/core.py": CORE,
        },
    ),
}


async def asked(running: Engine, core: str) -> tuple[set[str], str]:
    answer: Any = await running.call(
        "vscode.lsp.references",
        uri=running.uri(core),
        position={"line": 0, "character": 4},
        includeDeclaration=False,
    )
    return {item["uri"] for item in answer["items"]}, answer["summary"]


@pytest.mark.parametrize("server", ["ty", "pyright"])
@pytest.mark.parametrize("layout", list(LAYOUTS))
async def test_it_is_said_where_uses_are_missed_and_nowhere_else(
    tmp_path: Path, server: str, layout: str
) -> None:
    folder, use, more = LAYOUTS[layout]
    core = f"{folder}/core.py"
    root = write_files(tmp_path / "ws", {core: CORE, use: USE, **more})
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        found, summary = await asked(running, core)
        if layout == "path elsewhere":
            assert NOTE not in summary  # what is meant lies elsewhere
        else:
            assert (running.uri(use) in found) != (NOTE in summary), (found, summary)


@pytest.mark.parametrize("server", ["ty", "pyright"])
async def test_it_is_said_from_when_it_is_so_until_it_is_mended(
    tmp_path: Path, server: str
) -> None:
    core, site = "lib/app/core.py", SITE
    files = {core: CORE, "lib/app/other.py": "", "tests/use.py": "x = 1\n", "alone.py": CORE}
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        assert NOTE not in (await asked(running, core))[1]
        write_files(root, {"tests/use.py": USE})
        assert NOTE in (await asked(running, core))[1]
        assert NOTE not in (await asked(running, "alone.py"))[1]
        write_files(root, {"tests/more.py": USE})
        assert NOTE.replace("1 file", "2 files") in (await asked(running, core))[1]
        (root / "tests/more.py").unlink()
        assert NOTE in (await asked(running, core))[1]
        write_files(
            root, {".venv/pyvenv.cfg": "home = /usr/bin\n", f"{site}/app.pth": f"{root}/lib\n"}
        )
        found, summary = await asked(running, core)
        assert running.uri("tests/use.py") in found
        assert NOTE not in summary


@pytest.mark.parametrize("server", ["ty", "pyright"])
@pytest.mark.parametrize("layout", list(LAYOUTS))
async def test_it_is_said_where_uses_are_those_of_an_installed_copy(
    tmp_path: Path, server: str, layout: str
) -> None:
    folder, use, more = LAYOUTS[layout]
    core = f"{folder}/core.py"
    copy = {f"{SITE}/app/core.py": CORE, ".venv/pyvenv.cfg": "home = /usr/bin\n"}
    root = write_files(tmp_path / "ws", {core: CORE, use: USE, **copy, **more})
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        found, summary = await asked(running, core)
        if layout == "path elsewhere":
            assert COPY not in summary  # what is meant lies elsewhere
        else:
            assert (running.uri(use) in found) != (COPY in summary), (found, summary)
            assert NOTE not in summary


@pytest.mark.parametrize("server", ["ty", "pyright"])
async def test_what_is_installed_of_others_is_no_copy(tmp_path: Path, server: str) -> None:
    """Own code by a name that is also installed, and part of a package that is spread."""
    files = {
        "lib/app/core.py": CORE,
        "tests/use.py": "import app.other\nimport yaml\n",
        "lib/yaml/own.py": CORE,
        f"{SITE}/app/other.py": "x = 1\n",
        f"{SITE}/yaml/__init__.py": "",
        ".venv/pyvenv.cfg": "home = /usr/bin\n",
    }
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        assert (await asked(running, "lib/app/core.py"))[1] == "Returned 0 references."
        assert (await asked(running, "lib/yaml/own.py"))[1] == "Returned 0 references."
        write_files(root, {"tests/use.py": USE})
        # Others have a part of it installed, and this is another one.
        assert NOTE in (await asked(running, "lib/app/core.py"))[1]


async def test_a_copy_is_one_until_it_is_installed_as_it_lies(tmp_path: Path) -> None:
    files = {
        "lib/app/__init__.py": "",
        "lib/app/core.py": CORE,
        "tests/use.py": USE,
        f"{SITE}/app/__init__.py": "",
        f"{SITE}/app/core.py": CORE,
        ".venv/pyvenv.cfg": "home = /usr/bin\n",
    }
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path / "cache", registry=only("ty")) as running:
        assert COPY in (await asked(running, "lib/app/core.py"))[1]
        shutil.rmtree(root / SITE / "app")
        write_files(root, {f"{SITE}/app.pth": f"{root}/lib\n"})
        found, summary = await asked(running, "lib/app/core.py")
        assert running.uri("tests/use.py") in found
        assert summary == "Returned 2 references."


async def test_a_warm_engine_knows_it_before_it_is_asked(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", {"lib/app/core.py": CORE, "tests/use.py": USE})
    async with engine(root, cache=tmp_path / "cache", registry=only("ty")) as running:
        running.program.pool.warm()
        answers = await asyncio.gather(*(asked(running, "lib/app/core.py") for _ in range(3)))
        assert all(NOTE in summary for _, summary in answers)


def test_doctor_says_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    root = write_files(tmp_path / "ws", {"lib/app/core.py": CORE, "tests/use.py": USE})
    said = run(home, "doctor", root).stdout
    assert ", ready; imports of own modules are not resolved: app\n" in said


def test_doctor_says_that_what_is_installed_is_a_copy(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    copy = {f"{SITE}/app/core.py": CORE, ".venv/pyvenv.cfg": "home = /usr/bin\n"}
    root = write_files(tmp_path / "ws", {"lib/app/core.py": CORE, "tests/use.py": USE, **copy})
    said = run(home, "doctor", root).stdout
    assert ", ready; imports of own modules lead to an installed copy: app\n" in said
