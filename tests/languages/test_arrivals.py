"""A module that is imported before it is there, and then comes: written, or moved in whole."""

import os
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.languages.samples import needs, only
from tests.support.engine import Engine, engine
from tests.support.files import write_files

#: Folders that the new module lies in: none, a new one, new ones inside each other.
FOLDERS = ["", "pkg/", "pkg/deep/"]


class Case(NamedTuple):
    """A file that uses what is not there yet. ``{path}`` is where it will be, without an ending."""

    files: dict[str, str]
    user: str
    place: tuple[int, int]
    file: str
    text: str

    def at(self, path: str) -> dict[str, str]:
        words = {"{path}": path, "{dotted}": path.replace("/", ".")}
        return {name: _filled(text, words) for name, text in self.files.items()}


def _filled(text: str, words: dict[str, str]) -> str:
    for word, meaning in words.items():
        text = text.replace(word, meaning)
    return text


PYTHON = Case(
    {"a.py": "from {dotted} import area\n\narea()\n"},
    "a.py",
    (2, 1),
    "{path}.py",
    "def area() -> int:\n    return 1\n",
)
TYPESCRIPT = Case(
    {"tsconfig.json": "{}", "a.ts": 'import { area } from "./{path}"\n\narea()\n'},
    "a.ts",
    (2, 1),
    "{path}.ts",
    "export function area(): number {\n  return 1\n}\n",
)
GO = Case(
    {
        "go.mod": "module example.com/m\n\ngo 1.21\n",
        "a.go": 'package m\n\nimport "example.com/m/{path}"\n\nfunc f() { new.Area() }\n',
    },
    "a.go",
    (4, 16),
    "{path}/x.go",
    "package new\n\nfunc Area() {}\n",
)
CASES = {"ty": PYTHON, "pyright": PYTHON, "tsgo": TYPESCRIPT, "vtsls": TYPESCRIPT, "gopls": GO}


@pytest.mark.parametrize("way", ["written", "moved"])
@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("server", CASES)
async def test_it_is_found_when_it_comes(
    tmp_path: Path, server: str, folder: str, way: str
) -> None:
    needs(server)
    case = CASES[server]
    path = f"{folder}new"
    new = case.file.replace("{path}", path)
    root = write_files(tmp_path / "ws", case.at(path))
    top = new.partition("/")[0]

    def come() -> None:
        aside = write_files(tmp_path / "aside", {new: case.text})
        if way == "written":
            write_files(root, {new: case.text})
            shutil.rmtree(aside)
        else:
            (aside / top).rename(root / top)

    def go() -> None:
        shutil.rmtree(root / top) if (root / top).is_dir() else (root / top).unlink()

    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    async with engine(
        root, cache=tmp_path, registry=only(server), environment=environment
    ) as running:
        assert new not in await defined(running, case)
        for _ in range(2):
            come()
            assert new in await defined(running, case)
            go()
            assert new not in await defined(running, case)


async def defined(running: Engine, case: Case) -> set[str]:
    line, character = case.place
    answer: Any = await running.call(
        "vscode.lsp.definition",
        uri=running.uri(case.user),
        position={"line": line, "character": character},
    )
    base = running.root.as_uri() + "/"
    return {item["uri"].removeprefix(base) for item in answer["locations"]}


@pytest.mark.parametrize("server", ["ty", "pyright"])
async def test_a_package_that_is_installed_later(tmp_path: Path, server: str) -> None:
    packages = ".venv/lib/python3.11/site-packages"
    files = {
        "a.py": "from dep import area\n\narea()\n",
        ".venv/pyvenv.cfg": "home = /usr/bin\nversion = 3.11.2\n",
        f"{packages}/other.py": "",
    }
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only(server)) as running:
        assert await defined(running, PYTHON) <= {"a.py"}
        write_files(root, {f"{packages}/dep/__init__.py": PYTHON.text})
        assert f"{packages}/dep/__init__.py" in await defined(running, PYTHON)
        shutil.rmtree(root / packages / "dep")
        assert await defined(running, PYTHON) <= {"a.py"}


async def test_a_new_package_of_go_that_nobody_imports(tmp_path: Path) -> None:
    needs("gopls")
    files = {
        "go.mod": "module example.com/m\n\ngo 1.21\n",
        "lib/lib.go": "package lib\n\nfunc Area() {}\n",
    }
    root = write_files(tmp_path / "ws", files)
    use = 'package x\n\nimport "example.com/m/lib"\n\nfunc f() { lib.Area() }\n'
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    async with engine(
        root, cache=tmp_path, registry=only("gopls"), environment=environment
    ) as running:
        expected: list[str] = []
        for name in ("use.go", "new/use.go", "new/more.go"):
            place = {"line": 2, "character": 5}
            answer = await running.call(
                "vscode.lsp.references", uri=running.uri("lib/lib.go"), position=place
            )
            assert [item["uri"] for item in answer["items"]] == sorted(expected)
            write_files(root, {name: use.replace("f()", f"{name[-6]}()")})
            expected.append(running.uri(name))
