"""Every question about a sample, and what the answers must be."""

from typing import Any

import pytest

from sightline.contract.failures import Unavailable
from tests.languages.samples import Place, Sample, offers
from tests.support.engine import Engine

__all__ = ["all_questions", "arguments"]


async def all_questions(engine: Engine, server: str, sample: Sample) -> None:
    """Every tool on the marked places; each answer is the whole truth or the right refusal."""
    await references(engine, server, sample)
    await definition(engine, server, sample)
    await hover(engine, server, sample)
    await symbols(engine, server, sample)
    await diagnostics(engine, server, sample)


def arguments(engine: Engine, place: Place) -> dict[str, Any]:
    file, line, character = place
    return {"uri": engine.uri(file), "position": {"line": line, "character": character}}


def places(engine: Engine, locations: list[Any]) -> set[Place]:
    prefix = engine.root.as_uri() + "/"
    return {
        (
            item["uri"].removeprefix(prefix),
            item["range"]["start"]["line"],
            item["range"]["start"]["character"],
        )
        for item in locations
    }


async def references(engine: Engine, server: str, sample: Sample) -> None:
    some = next(iter(sample.archive.files))
    if not offers(server, "references"):
        with pytest.raises(Unavailable, match=f"{server} cannot answer this completely"):
            await engine.call("vscode.lsp.references", **arguments(engine, (some, 0, 0)))
        return
    expected = {sample.place(mark) for mark in sample.places}
    for mark in sample.places:
        asked = arguments(engine, sample.place(mark))
        answer = await engine.call("vscode.lsp.references", **asked, includeDeclaration=True)
        assert places(engine, answer["items"]) == expected, mark


async def definition(engine: Engine, server: str, sample: Sample) -> None:
    if not offers(server, "definition"):
        return
    expected = {sample.place(sample.places[0])}
    for mark in sample.uses:
        answer = await engine.call("vscode.lsp.definition", **arguments(engine, sample.place(mark)))
        assert places(engine, answer["locations"]) == expected, mark


async def hover(engine: Engine, server: str, sample: Sample) -> None:
    if not sample.places:
        return
    asked = arguments(engine, sample.place(sample.places[-1]))
    if not offers(server, "hover"):
        with pytest.raises(Unavailable, match="allow_unstable_hover"):
            await engine.call("vscode.lsp.hover", **asked)
        return
    answer = await engine.call("vscode.lsp.hover", **asked)
    assert sample.hover in str(answer["contents"])


async def symbols(engine: Engine, server: str, sample: Sample) -> None:
    for name, expected in sample.outline.items():
        answer = await engine.call("vscode.lsp.documentSymbols", uri=engine.uri(name))
        assert {symbol["name"] for symbol in answer["symbols"]} >= expected, name
    if not offers(server, "workspaceSymbols"):
        with pytest.raises(Unavailable):
            await engine.call("vscode.lsp.workspaceSymbols", query="area")
        return
    for name in sample.symbols:
        answer = await engine.call("vscode.lsp.workspaceSymbols", query=name)
        assert [item["name"] for item in answer["items"] if item["name"] == name] == [name]


async def diagnostics(engine: Engine, server: str, sample: Sample) -> None:
    if not offers(server, "documentDiagnostics"):
        with pytest.raises(Unavailable):
            await engine.call("vscode.lsp.diagnostics.workspace")
        return
    wide = await engine.call("vscode.lsp.diagnostics.workspace")
    prefix = engine.root.as_uri() + "/"
    found = {item["uri"].removeprefix(prefix): item["diagnostics"] for item in wide["items"]}
    for file, word in sample.errors.items():
        assert word in str(found[file]).lower(), file
        one = await engine.call("vscode.lsp.diagnostics.document", uri=engine.uri(file))
        assert one["diagnostics"] == found[file]
    errors = {file for file, items in found.items() if any(i.get("severity") == 1 for i in items)}
    assert errors <= set(sample.errors)
