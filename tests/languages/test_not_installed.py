"""Packages that do not find each other until they are installed, while Sightline runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.languages.samples import only
from tests.support.engine import Engine, engine
from tests.support.files import write_files

NOTE = "The package @here/shapes is not installed, so uses in other packages may be missing."
FILES = {
    "packages/shapes/package.json": '{"name": "@here/shapes", "types": "src/index.ts"}',
    "packages/shapes/tsconfig.json": '{"include": ["src"]}',
    "packages/shapes/src/index.ts": "export function area(): number {\n  return 1\n}\n",
    "packages/app/package.json": '{"name": "@here/app", "dependencies": {"@here/shapes": "1"}}',
    "packages/app/tsconfig.json": '{"include": ["src"]}',
    "packages/app/src/main.ts": 'import { area } from "@here/shapes"\nexport const x = area()\n',
}


async def uses(running: Engine) -> tuple[list[str], str]:
    answer: Any = await running.call(
        "vscode.lsp.references",
        uri=running.uri("packages/shapes/src/index.ts"),
        position={"line": 0, "character": 16},
    )
    return [item["uri"].rpartition("/")[2] for item in answer["items"]], answer["summary"]


@pytest.mark.parametrize("server", ["tsgo", "vtsls"])
async def test_an_install_is_seen(tmp_path: Path, server: str) -> None:
    root = write_files(tmp_path / "ws", FILES)
    async with engine(root, cache=tmp_path, registry=only(server)) as running:
        assert await uses(running) == ([], f"Returned 0 references. {NOTE}")
        # A manifest that is edited counts at once, and so does what an install makes.
        manifest = root / "packages/app/package.json"
        manifest.write_text(json.dumps({"name": "@here/app"}))
        assert await uses(running) == ([], "Returned 0 references.")
        manifest.write_text(FILES["packages/app/package.json"])
        assert (await uses(running))[1].endswith(NOTE)
        (root / "node_modules/@here").mkdir(parents=True)
        (root / "node_modules/@here/shapes").symlink_to("../../packages/shapes")
        found, summary = await uses(running)
        assert set(found) == {"main.ts"}
        assert "not installed" not in summary


CORE = "packages/core/src/core/__init__.py"
PROJECTS = {
    "packages/core/pyproject.toml": '[project]\nname = "core"\nversion = "1"\n',
    CORE: "def area() -> int:\n    return 1\n",
    "packages/app/pyproject.toml": '[project]\nname = "app"\ndependencies = ["core"]\n',
    "packages/app/src/app/main.py": "from core import area\n\narea()\n",
}


@pytest.mark.parametrize("server", ["ty", "pyright"])
async def test_an_environment_is_seen(tmp_path: Path, server: str) -> None:
    root = write_files(tmp_path / "ws", PROJECTS)

    async def uses() -> tuple[bool, bool]:
        """Whether the use in the other package is found, and whether a package is missed."""
        place = {"line": 0, "character": 4}
        answer = await running.call("vscode.lsp.references", uri=running.uri(CORE), position=place)
        names = {item["uri"].rpartition("/")[2] for item in answer["items"]}
        return "main.py" in names, "core is not installed" in answer["summary"]

    async with engine(root, cache=tmp_path, registry=only(server)) as running:
        assert await uses() == (False, True)
        packages = root / ".venv/lib/python3.11/site-packages"
        packages.mkdir(parents=True)
        (root / ".venv/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
        assert await uses() == (False, True)
        # As an editable install leaves it.
        (packages / "core-1.dist-info").mkdir()
        (packages / "core-1.dist-info/METADATA").write_text("Name: core\n")
        (packages / "core.pth").write_text(f"import os\n{root}/packages/core/src\n")
        assert await uses() == (True, False)


async def test_a_folder_in_the_place_of_a_list_of_packages(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", PROJECTS)
    (root / "packages/core/requirements.txt").mkdir()
    async with engine(root, cache=tmp_path, registry=only("ty")) as running:
        place = {"line": 0, "character": 4}
        answer = await running.call("vscode.lsp.references", uri=running.uri(CORE), position=place)
        assert "core is not installed" in answer["summary"]
