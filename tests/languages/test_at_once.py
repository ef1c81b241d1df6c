"""Many questions at once: each is answered, though opening a document disturbs the others."""

import asyncio
from pathlib import Path

import pytest

from tests.languages.samples import only
from tests.support.engine import engine
from tests.support.files import write_files

_MANY = 24
TYPESCRIPT = {"tsconfig.json": "{}"} | {
    f"m{number}.ts": f"export function f{number}(): number {{ return {number}; }}\n"
    for number in range(_MANY)
}
PYTHON = {f"m{number}.py": f"def f{number}() -> int: ...\n" for number in range(_MANY)}


@pytest.mark.parametrize(
    ("server", "files", "column"), [("ty", PYTHON, 4), ("tsgo", TYPESCRIPT, 16)]
)
@pytest.mark.parametrize("tool", ["hover", "references", "definition"])
async def test_none_is_refused_once_the_server_is_ready(
    tmp_path: Path, server: str, files: dict[str, str], column: int, tool: str
) -> None:
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        first, *rest = [name for name in files if name.startswith("m")]
        position = {"line": 0, "character": column}
        await running.call(f"vscode.lsp.{tool}", uri=running.uri(first), position=position)
        answers = await asyncio.gather(
            *(
                running.once(f"vscode.lsp.{tool}", uri=running.uri(name), position=position)
                for name in rest
            )
        )
        assert len(answers) == _MANY - 1


async def test_the_standard_library_is_found_by_all_who_look_at_once(tmp_path: Path) -> None:
    """ty writes a file to point to; who needs the same one meanwhile was told of nothing."""
    names = ["len", "abs", "chr", "hash", "hex", "id", "oct", "ord", "repr", "ascii", "bin"]
    files = {f"m{number}.py": f"{name}\n" for number, name in enumerate(names)}
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path / "cache", registry=only("ty")) as running:
        await running.ready("m0.py")
        position = {"line": 0, "character": 1}
        answers = await asyncio.gather(
            *(
                running.call("vscode.lsp.definition", uri=running.uri(name), position=position)
                for name in files
            )
        )
        empty = [answer for answer in answers if "outside the workspace" not in answer["summary"]]
        assert empty == []
