"""More documents at a time than stay open: each is answered for, and no wait is without end."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sightline.contract.settings import Settings
from tests.languages.samples import only
from tests.support.engine import Engine, engine
from tests.support.files import write_files

COUNT = 150
GENEROUS = Settings(request_timeout_ms=60_000)
TEXTS = {
    "clangd": ("c", "int name{0}(int x) {{\n  return x + {0};\n}}\n", 5),
    "ty": ("py", "def name{0}(x: int) -> int:\n    return x + {0}\n", 5),
    "tsgo": ("ts", "export function name{0}(x: number): number {{ return x + {0}; }}\n", 17),
}


def project(tmp_path: Path, server: str) -> tuple[Path, str, int]:
    ending, text, column = TEXTS[server]
    files = {f"f{i}.{ending}": text.format(i) for i in range(COUNT)}
    return write_files(tmp_path / "ws", files | {"tsconfig.json": "{}"}), ending, column


@pytest.mark.parametrize("tool", ["hover", "diagnostics.document"])
@pytest.mark.parametrize("server", TEXTS)
async def test_questions_about_all_at_once(tmp_path: Path, server: str, tool: str) -> None:
    root, ending, column = project(tmp_path, server)
    registry = only(server)
    async with engine(root, cache=tmp_path, registry=registry, settings=GENEROUS) as running:
        await running.call("vscode.lsp.documentSymbols", uri=running.uri(f"f0.{ending}"))

        async def ask(number: int) -> str:
            asked: dict[str, Any] = {"uri": running.uri(f"f{number}.{ending}")}
            if tool == "hover":
                asked["position"] = {"line": 0, "character": column}
            answer = await running.once(f"vscode.lsp.{tool}", **asked)
            return str(answer["summary"])

        said = {"hover": "Hover available.", "diagnostics.document": "Returned 0 diagnostics."}
        assert set(await asyncio.gather(*map(ask, range(COUNT)))) == {said[tool]}


async def uses(running: Engine) -> int:
    place = {"line": 0, "character": 5}
    answer = await running.call("vscode.lsp.references", uri=running.uri("f0.c"), position=place)
    return len(answer["items"])


@pytest.mark.parametrize("edited", [20, 60, COUNT])
async def test_edits_of_many_sources_at_once(tmp_path: Path, edited: int) -> None:
    root, _, _ = project(tmp_path, "clangd")
    _, text, _ = TEXTS["clangd"]
    changed = text.replace("return x", "return name0(1)")
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        assert await uses(running) == 0
        write_files(root, {f"f{i}.c": changed.format(i) for i in range(edited)})
        async with asyncio.timeout(60):
            assert await uses(running) == 1  # in its own file; the others do not declare it


async def test_another_edit_before_the_first_was_taken_in(tmp_path: Path) -> None:
    root, _, _ = project(tmp_path, "clangd")
    _, text, _ = TEXTS["clangd"]
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        await uses(running)
        (server,) = running.program.pool._fleet.servers.values()
        write_files(root, {"f1.c": text.format(1).replace("x +", "x -")})
        first = asyncio.create_task(uses(running))
        while server._run is None or not server._run.published._waits:
            await asyncio.sleep(0)
        write_files(root, {"f1.c": text.format(1).replace("x +", "x *")})
        async with asyncio.timeout(60):
            assert [await uses(running), await first] == [0, 0]
