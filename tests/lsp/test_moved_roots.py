"""A root that goes, comes back or is another folder now: the next answer is about what is there."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sightline.contract.failures import Unavailable
from tests.languages.samples import only
from tests.support.engine import engine
from tests.support.files import write_files

FILES = {
    "pkg/__init__.py": "",
    "pkg/a.py": "def area(): ...\n",
    "use.py": "from pkg.a import area\narea()\n",
}
MORE = {**FILES, "more.py": "from pkg.a import area\narea()\narea()\n"}


def replaced(root: Path, files: dict[str, str]) -> None:
    shutil.rmtree(root)
    write_files(root, files)


def exchanged(root: Path, files: dict[str, str]) -> None:
    other = write_files(root.with_name("other"), files)
    root.rename(root.with_name("before"))
    other.rename(root)


def parent_exchanged(root: Path, files: dict[str, str]) -> None:
    root.parent.rename(root.parent.with_name("before"))
    write_files(root, files)


WAYS = [replaced, exchanged, parent_exchanged]


@pytest.mark.parametrize("way", WAYS)
async def test_another_folder_in_its_place(
    tmp_path: Path, way: Callable[[Path, dict[str, str]], None]
) -> None:
    root = write_files(tmp_path / "parent" / "ws", FILES)
    async with engine(root, cache=tmp_path / "cache", registry=only("ty")) as running:

        async def count() -> int:
            answer = await running.call(
                "vscode.lsp.references",
                uri=running.uri("pkg/a.py"),
                position={"line": 0, "character": 4},
            )
            return len(answer["items"])

        assert await count() == 2
        way(root, MORE)
        assert await count() == 5
        (root / "more.py").write_text("from pkg.a import area\n")
        assert await count() == 3


@pytest.mark.parametrize("asked", [True, False])
async def test_it_goes_and_comes_back(tmp_path: Path, asked: bool) -> None:
    root = write_files(tmp_path / "ws", FILES)
    async with engine(root, cache=tmp_path / "cache", registry=only("ty")) as running:

        async def symbols() -> list[str]:
            answer = await running.call("vscode.lsp.workspaceSymbols", query="area")
            return sorted(item["name"] for item in answer["items"])

        assert await symbols() == ["area"]
        root.rename(tmp_path / "away")
        if asked:
            with pytest.raises(Unavailable, match="is gone"):
                await symbols()
        (tmp_path / "away").rename(root)
        assert await symbols() == ["area"]
        (root / "more.py").write_text("def area2(): ...\n")
        assert await symbols() == ["area", "area2"]
