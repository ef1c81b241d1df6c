"""An answer about the whole project does not depend on which of its documents were asked about.

A file that a project leaves out counts as one of it for some servers while it is open.
"""

from pathlib import Path
from typing import Any

import pytest

from sightline.contract.settings import Settings
from tests.languages.samples import offers, only
from tests.support.engine import Engine, engine
from tests.support.files import write_files

PYTHON = {
    "lib.py": "def area() -> int:\n    return 1\n",
    "left_out.py": "from lib import area\n\narea()\n",
    "pyproject.toml": '[tool.pyright]\nexclude = ["left_out.py"]\n',
}
TYPESCRIPT = {
    "lib.ts": "export function area(): number {\n  return 1\n}\n",
    # The compiler leaves it out beside a source of the same name.
    "lib.d.ts": "export declare function area(): number\n",
    "use.ts": 'import { area } from "./lib"\narea()\n',
    "tsconfig.json": "{}",
}


async def everything(running: Engine, defined: str, column: int) -> list[Any]:
    place = {"line": 0, "character": column}
    uri = running.uri(defined)
    return [
        (await running.call("vscode.lsp.references", uri=uri, position=place))["items"],
        (await running.call("vscode.lsp.workspaceSymbols", query="area"))["items"],
    ]


@pytest.mark.parametrize(
    ("server", "files", "left_out", "column"),
    [
        ("pyright", PYTHON, "left_out.py", 4),
        ("tsgo", TYPESCRIPT, "lib.d.ts", 16),
        ("vtsls", TYPESCRIPT, "lib.d.ts", 16),
    ],
)
async def test_a_file_that_the_project_leaves_out(
    tmp_path: Path, server: str, files: dict[str, str], left_out: str, column: int
) -> None:
    others = {name: text for name, text in files.items() if name != left_out}
    root = write_files(tmp_path / "ws", others)
    defined = next(iter(files))
    async with engine(root, cache=tmp_path, registry=only(server)) as running:
        before = await everything(running, defined, column)
        write_files(root, {left_out: files[left_out]})
        outline = await running.call("vscode.lsp.documentSymbols", uri=running.uri(left_out))
        assert "symbols" in outline
        assert await everything(running, defined, column) == before


UNION = "export declare function area(): 2 | 3\nexport const plane = area()\n"


@pytest.mark.parametrize("server", ["tsgo", "vtsls"])
async def test_a_union_that_was_met_in_another_order(tmp_path: Path, server: str) -> None:
    """The members are told in the same order, or hover is not offered."""
    met_before = {"three.ts": "export let three: 3 = 3\nexport let two: 2 = 2\n"}
    files = {"tsconfig.json": "{}", "union.ts": UNION} | met_before
    root = write_files(tmp_path / "ws", files)
    told: list[str] = []
    for number, first in enumerate(["union.ts", "three.ts"]):
        cache = tmp_path / f"cache{number}"
        cache.mkdir()
        settings = Settings(allow_unstable_hover=True)
        async with engine(root, cache=cache, registry=only(server), settings=settings) as running:
            await running.call("vscode.lsp.diagnostics.document", uri=running.uri(first))
            place = {"line": 1, "character": 13}
            hover = await running.call(
                "vscode.lsp.hover", uri=running.uri("union.ts"), position=place
            )
            told.append(hover["contents"][0]["value"])
    assert (told[0] == told[1]) == offers(server, "hover"), told
