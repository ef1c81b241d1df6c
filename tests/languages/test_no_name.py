"""Where no symbol stands, "0 references" must not read like a symbol that nobody uses.

``b`` marks places with no name, ``w`` words that are no symbols, ``k`` names that nobody uses.
"""

from pathlib import Path

import pytest

from tests.languages.samples import only
from tests.markers.archive import Archive
from tests.support.engine import engine

NO_NAME = "There is no name at this position"
NO_SYMBOL = "The word at this position"

PYTHON = """
-- a.py --
⟨w1⟩def ⟨b1⟩ ⟨k1⟩unused(⟨k2⟩value):⟨b2⟩
⟨b3⟩    "A text ⟨w2⟩about it."
    ⟨w3⟩return [1,⟨b4⟩ 2]  # a ⟨w4⟩comment
⟨b5⟩
"""
TYPESCRIPT = """
-- tsconfig.json --
{}
-- a.ts --
export class ⟨k1⟩Cart {
⟨b1⟩  async ⟨k2⟩run(): Promise<void> { ⟨w1⟩await 1;⟨b2⟩ ⟨w2⟩return; }
}
export function used() { ⟨w3⟩return 1 +⟨b3⟩ 2 } // a ⟨w4⟩comment
used()
"""
C = """
-- a.c --
/* Words ⟨w1⟩about it. */
⟨w2⟩int ⟨k1⟩area(int ⟨k2⟩width) {⟨b1⟩ ⟨w3⟩return 1 ⟨b2⟩+ 2; }
⟨b3⟩
"""
BASH = """
-- a.sh --
#!/bin/bash
# a ⟨w1⟩comment
⟨w2⟩function ⟨k1⟩area {⟨b1⟩  ⟨w3⟩local x=1; }
⟨b2⟩
"""
SERVERS = [
    ("ty", PYTHON),
    ("pyright", PYTHON),
    ("tsgo", TYPESCRIPT),
    ("vtsls", TYPESCRIPT),
    ("clangd", C),
    ("bash", BASH),
]


@pytest.mark.parametrize(("server", "text"), SERVERS)
async def test_it_is_said_where_there_is_none(tmp_path: Path, server: str, text: str) -> None:
    archive = Archive.read(text)
    root = tmp_path / "ws"
    root.mkdir()
    archive.write_to(root)
    said: dict[str, str] = {}
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        for mark, (file, line, column) in archive.marks.items():
            place = {"uri": running.uri(file), "position": {"line": line, "character": column}}
            found = await running.call("vscode.lsp.references", **place)
            assert found["items"] == []
            said[mark] = found["summary"].removeprefix("Returned 0 references.")[:20]
            defined = await running.call("vscode.lsp.definition", **place)
            if not mark.startswith("k") and not defined["locations"]:
                assert defined["summary"].startswith(f"Found 0 definitions.{said[mark]}"), mark
    starts = {"b": f" {NO_NAME}"[:20], "w": f" {NO_SYMBOL}"[:20], "k": ""}
    assert said == {mark: starts[mark[0]] for mark in archive.marks}


async def test_the_nearest_names_are_told(tmp_path: Path) -> None:
    """What an agent needs that miscounted a column. A name asked about at its end is met."""
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.py").write_text("def area(width): return width\n", encoding="utf-8")
    async with engine(root, cache=tmp_path / "cache", registry=only("ty")) as running:
        uri = running.uri("a.py")

        async def said(tool: str, character: int) -> str:
            place = {"line": 0, "character": character}
            answer = await running.call(f"vscode.lsp.{tool}", uri=uri, position=place)
            return str(answer["summary"])

        here = "`area` at character 4, `width` at character 9, `return` at character 17."
        assert await said("references", 16) == f"Returned 0 references. {NO_NAME}; near it: {here}"
        assert await said("hover", 16) == f"No hover information. {NO_NAME}; near it: {here}"
        assert await said("references", 1) == (
            "Returned 0 references. The word at this position (`def`) is not known as a symbol, "
            "perhaps a keyword or in a comment or text; near it: `area` at character 4, "
            "`width` at character 9, `return` at character 17."
        )
        assert await said("references", 14) == "Returned 1 reference."
        assert await said("references", 8) == "Returned 0 references."


async def test_a_key_without_a_definition_is_a_symbol(tmp_path: Path) -> None:
    """A server of YAML knows definitions of aliases alone, and its outline has every key."""
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.yaml").write_text("key: &anchor 1\nother: *anchor\n", encoding="utf-8")
    async with engine(root, cache=tmp_path / "cache", registry=only("yaml")) as running:
        uri = running.uri("a.yaml")
        found = await running.call("vscode.lsp.documentSymbols", uri=uri)
        assert [each["name"] for each in found["symbols"]] == ["key", "other"]
        for line, character, said in [(0, 1, "0 definitions"), (1, 8, "1 definition")]:
            place = {"line": line, "character": character}
            found = await running.call("vscode.lsp.definition", uri=uri, position=place)
            assert found["summary"] == f"Found {said}."
