"""A name that servers spell in their own ways changes nothing about the answers of any tool."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sightline.lsp.registry import Operation
from tests.languages.samples import offers, only
from tests.support.engine import Engine, engine
from tests.support.files import write_files

PLAIN, ODD = "plain", "a b:c+d@é%25,(e)&'f"
PYTHON = "def area() -> int:\n    return ''\n\n\narea()\n"
TYPESCRIPT = "export function area(): number {\n  return ''\n}\narea()\n"
#: The ending of a file, its text, and a place to ask about.
TEXTS: dict[str, tuple[str, str, tuple[int, int]]] = {
    "ty": ("py", PYTHON, (4, 1)),
    "pyright": ("py", PYTHON, (4, 1)),
    "tsgo": ("ts", TYPESCRIPT, (3, 1)),
    "vtsls": ("ts", TYPESCRIPT, (3, 1)),
    "clangd": (
        "c",
        "int area(void) {\n  return x;\n}\nint use(void) { return area(); }\n",
        (3, 26),
    ),
    "bash": ("sh", "#!/bin/bash\narea() {\n  echo 1\n}\narea\n", (4, 1)),
    "yaml": ("yaml", "a:\n  b: c: d\n", (0, 0)),
    "json": ("json", '{"a": {"b": ,}}\n', (0, 2)),
    "css": ("css", "a { colour red }\n", (0, 0)),
    "html": ("html", "<p id='a'>a</p>\n", (0, 1)),
}
TOOLS: dict[Operation, str] = {
    "documentSymbols": "documentSymbols",
    "documentDiagnostics": "diagnostics.document",
    "definition": "definition",
    "references": "references",
    "hover": "hover",
}


async def told(server: str, running: Engine, name: str) -> dict[str, Any]:
    """What each tool says of a file, without what names it."""
    _, _, (line, character) = TEXTS[server]
    answers: dict[str, Any] = {}
    for operation, tool in TOOLS.items():
        if not offers(server, operation):
            continue
        asked: dict[str, Any] = {"uri": running.uri(name)}
        if operation in ("definition", "references", "hover"):
            asked["position"] = {"line": line, "character": character}
        async with asyncio.timeout(60):
            answer = await running.call(f"vscode.lsp.{tool}", **asked)
        answers[operation] = _ranges(answer), answer["summary"]
    return answers


def _ranges(value: Any) -> list[Any]:
    """Every range in an answer, in order."""
    if isinstance(value, list):
        return [found for item in value for found in _ranges(item)]
    if isinstance(value, dict):
        inner = [found for key in sorted(value) for found in _ranges(value[key])]
        return ([value["range"]] if "range" in value else []) + inner
    return []


@pytest.mark.parametrize("server", sorted(TEXTS))
async def test_a_name_with_odd_characters(tmp_path: Path, server: str) -> None:
    ending, text, _ = TEXTS[server]
    found: list[dict[str, Any]] = []
    for stem in (PLAIN, ODD):
        name = f"{stem}.{ending}"
        root = write_files(tmp_path / stem, {name: text})
        async with engine(root, cache=tmp_path, registry=only(server)) as running:
            found.append(await told(server, running, name))
    plain, odd = found
    assert any(ranges for ranges, _ in plain.values())
    assert odd == plain
