"""A question that a change overtakes leaves nothing of the old text behind.

One who has read a document and waits would show it to the server after others told it of the
change, and hide the new text from everybody.
"""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest

from sightline.contract.failures import Failure
from tests.languages.samples import only
from tests.support.engine import Engine, engine
from tests.support.files import write_files

PYTHON = {
    "pyproject.toml": "[project]\nname = 'x'\nversion = '1'\n",
    "a.py": "def target():\n    return 1\n",
    "b.py": "from a import target\n\ntarget()\n",
}
TYPESCRIPT = {
    "tsconfig.json": "{}",
    "a.ts": "export function target() {}\n",
    "b.ts": 'import { target } from "./a"\n\ntarget()\n',
}
#: The files, the one that is asked about later, that of the edit, and its new text.
CASES: dict[str, tuple[dict[str, str], str, str, str]] = {
    "ty": (PYTHON, "a.py", "b.py", PYTHON["b.py"] + "\n\ntarget()\ntarget()\n"),
    "tsgo": (TYPESCRIPT, "a.ts", "b.ts", TYPESCRIPT["b.ts"] + "\n\ntarget()\ntarget()\n"),
    "vtsls": (TYPESCRIPT, "a.ts", "b.ts", TYPESCRIPT["b.ts"] + "\n\ntarget()\ntarget()\n"),
}
NAMES = {"ty": (0, 4), "tsgo": (0, 16), "vtsls": (0, 16)}


async def uses(running: Engine, name: str, place: tuple[int, int]) -> set[tuple[str, int]]:
    answer: Any = await running.call(
        "vscode.lsp.references",
        uri=running.uri(name),
        position={"line": place[0], "character": place[1]},
    )
    items = answer["items"]
    return {(item["uri"].rpartition("/")[2], item["range"]["start"]["line"]) for item in items}


@pytest.mark.parametrize("warm", [False, True], ids=["starting", "running"])
@pytest.mark.parametrize(
    ("server", "tool"),
    [
        ("ty", "references"),
        ("ty", "hover"),
        ("ty", "documentSymbols"),
        ("tsgo", "definition"),
        ("vtsls", "references"),
    ],
)
async def test_later_answers_have_the_new_text(
    tmp_path: Path, server: str, tool: str, warm: bool
) -> None:
    files, asked, edited, text = CASES[server]
    line, column = NAMES[server]
    for steps in (0, 2, 4, 8, 20):
        folder = tmp_path / str(steps)
        root = write_files(folder / "ws", files)
        async with engine(root, cache=folder, registry=only(server)) as running:
            await running.program.workspace.begin()
            if warm:
                await uses(running, asked, (line, column))
            about: dict[str, Any] = {"uri": running.uri(edited)}
            if tool != "documentSymbols":
                about["position"] = {"line": 2, "character": 1}
            overtaken = asyncio.create_task(running.once(f"vscode.lsp.{tool}", **about))
            for _ in range(steps):
                await asyncio.sleep(0)
            write_files(root, {edited: text})
            expected = {(edited, number) for number in (0, 2, 5, 6)}
            assert await uses(running, asked, (line, column + 1)) == expected, steps
            with contextlib.suppress(Failure):  # its place may be another one now
                await overtaken
            assert await uses(running, asked, (line, column + 2)) == expected, steps
