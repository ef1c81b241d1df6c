"""Every argument of every tool reaches the engine under its own name.

Each argument is changed alone, and what the tool then asks for must differ in exactly the places
given here: an argument that is dropped changes nothing, one that is mixed up changes another place.
"""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sightline.calls import calls
from sightline.calls.pages import page_of
from sightline.contract.settings import Family
from sightline.contract.source import SourceFile
from sightline.contract.values import Location
from sightline.index import show
from sightline.tools.catalogue import CATALOGUE
from sightline.workspace.gate import GatedFile
from tests.conftest import Workspace
from tests.support.engine import Engine, engine
from tests.support.fake_source import FakeSource, span
from tests.support.promises import promise_of

#: What the arguments of the family code do is seen in its texts: tests/code.
NAMES = [tool.info.name for tool in CATALOGUE if tool.info.family != "code"]
TEXT = "def area():\n    return 1\n\n\ndef border():\n    return 2\n"
AT = {"line": 0, "character": 1}
PLACE = {"uri": "{main}", "position": AT}
SEARCH = {"query": "area"}
RESOLVE = {"cache": "a", "query": "q", "budget": 9}

#: Per tool and argument: a call, the value that is changed in it, and how what is asked differs.
#: ``{main}``, ``{other}``: two documents; ``{cursor}``: the end of a first page of one.
CHANGES: dict[str, dict[str, tuple[dict[str, Any], Any, dict[str, Any]]]] = {
    "vscode.lsp.definition": {
        "uri": (PLACE, "{other}", {"definition.file": "{other}"}),
        "position.line": (PLACE, 1, {"definition.position.line": 1}),
        "position.character": (PLACE, 2, {"definition.position.character": 2}),
    },
    "vscode.lsp.references": {
        "uri": (PLACE, "{other}", {"references.file": "{other}"}),
        "position.line": (PLACE, 1, {"references.position.line": 1}),
        "position.character": (PLACE, 2, {"references.position.character": 2}),
        "includeDeclaration": (PLACE, True, {"references.include_declaration": True}),
        "pageSize": (PLACE, 1, {"page.size": 1}),
        "cursor": (PLACE, "{cursor}", {"page.start": 1}),
    },
    "vscode.lsp.hover": {
        "uri": (PLACE, "{other}", {"hover.file": "{other}"}),
        "position.line": (PLACE, 1, {"hover.position.line": 1}),
        "position.character": (PLACE, 2, {"hover.position.character": 2}),
    },
    "vscode.lsp.documentSymbols": {
        "uri": ({"uri": "{main}"}, "{other}", {"document_symbols.file": "{other}"}),
    },
    "vscode.lsp.workspaceSymbols": {
        "query": ({"query": "a"}, "b", {"workspace_symbols.query": "b"}),
        "pageSize": ({"query": "a"}, 1, {"page.size": 1}),
        "cursor": ({"query": "a"}, "{cursor}", {"page.start": 1}),
    },
    "vscode.lsp.diagnostics.document": {
        "uri": ({"uri": "{main}"}, "{other}", {"document_diagnostics.file": "{other}"}),
    },
    "vscode.lsp.diagnostics.workspace": {
        "pageSize": ({}, 1, {"page.size": 1}),
        "cursor": ({}, "{cursor}", {"page.start": 1}),
    },
    "index_build": {"force": ({}, True, {"build.force": True})},
    "index_status": {},
    "search": {
        "query": (SEARCH, "border", {"search.request.query": "border"}),
        "mode": (SEARCH, "regex", {"search.request.mode": "regex"}),
        "path": (SEARCH, ["*.py"], {"search.request.filters.paths": ("*.py",)}),
        "language": (SEARCH, "py", {"search.request.filters.language": "python"}),
        "kind": (SEARCH, "function", {"search.request.filters.kind": "function"}),
        "symbol": (SEARCH, "area", {"search.request.filters.symbol": "area"}),
        "pageSize": (SEARCH, 1, {"page.size": 1}),
        "cursor": (SEARCH, "{cursor}", {"page.start": 1}),
        "maxTokens": (SEARCH, 1_000, {"search.request.limits.characters": 500}),
        "explain": (SEARCH, True, {"search.request.explain": True}),
        "ranking": (SEARCH, "words", {"search.request.ranking": "words"}),
    },
    "show_file": {
        "path": ({"path": "main.py"}, "other.py", {"read_text.file": "{other}"}),
        "symbol": (
            {"symbol": "area", "path": "main.py"},
            "border",
            {"by_symbol.symbol": "border", "lines.first": 5, "lines.last": 6},
        ),
        "id": (
            {"id": "{id}"},
            "{other_id}",
            {"by_id.id": "{other_id}", "read_text.file": "{other}"},
        ),
        "startLine": ({"path": "main.py"}, 2, {"lines.first": 2}),
        "endLine": ({"path": "main.py"}, 2, {"lines.last": 2}),
        "maxTokens": ({"path": "main.py"}, 60, {"lines.limit": 240}),
    },
    "check_status": {},
    "workspace_status": {},
    "context.resolve": {
        "cache": (RESOLVE, "b", {"resolve.cache": "b"}),
        "query": (RESOLVE, "r", {"resolve.query": "r"}),
        "budget": (RESOLVE, 8, {"resolve.budget": 8}),
    },
    "context.list_caches": {},
    "context.inspect_cache": {"cache": ({"cache": "a"}, "b", {"inspect.cache": "b"})},
}


class Record:
    """What the engines were asked, by the names of their own parameters."""

    def __init__(self) -> None:
        self.asked: dict[str, Any] = {}

    def listens(self, holder: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Notes what a function of an engine is called with."""
        self.stands_in(holder, name, getattr(holder, name), monkeypatch)

    def stands_in(
        self, holder: Any, name: str, answer: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The same, and something else answers."""
        signature = inspect.signature(getattr(holder, name))

        def noted(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(*args, **kwargs)
            for parameter, value in bound.arguments.items():
                self.asked.update(_flat(f"{name}.{parameter}", value))
            return answer(*args, **kwargs)

        monkeypatch.setattr(holder, name, noted)


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A parameter as plain values; what is no question (a gate, an index) is left out."""
    if isinstance(value, SourceFile | GatedFile):
        yield name, value.uri
    elif isinstance(value, show.Text):
        return
    elif value is None or isinstance(value, str | int | bool | float):
        yield name, value
    elif isinstance(value, msgspec.Struct):
        for field in value.__struct_fields__:
            yield from _flat(f"{name}.{field}", getattr(value, field))
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        for field in value._fields:
            yield from _flat(f"{name}.{field}", getattr(value, field))
    elif isinstance(value, tuple) and all(isinstance(each, str) for each in value):
        yield name, value


@asynccontextmanager
async def recorded(
    root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Engine, Record]]:
    """All tools, their engines overheard; language servers and context caches are stand-ins."""
    record = Record()
    families: tuple[Family, ...] = ("lsp", "index", "context")
    async with engine(root, cache=cache, families=families) as running:
        await running.once("index_build")
        uris = [running.uri(name) for name in ("main.py", "other.py")]
        places = [Location(uri, span(line)) for uri in uris for line in (0, 1)]
        source, pool = _knowing(places), running.program.pool
        for name in ("definition", "references", "hover", "document_symbols", "workspace_symbols",
                     "document_diagnostics", "workspace_diagnostics"):  # fmt: skip
            record.stands_in(pool, name, getattr(source, name), monkeypatch)

        async def empty(*args: Any) -> bytes:
            return b'{"a":1}\n'

        for name in ("resolve", "inspect", "listing"):
            record.stands_in(running.program.context, name, empty, monkeypatch)
        index = await running.program.index.get()
        record.listens(index, "search", monkeypatch)
        record.listens(index, "build", monkeypatch)
        for name in ("by_id", "by_symbol", "lines", "read_text"):
            record.listens(show, name, monkeypatch)

        def page(result: Any, start: Any, size: int, fits: Any) -> Any:
            record.asked.update({"page.start": start.offset, "page.size": size})
            return page_of(result, start, size, fits)

        monkeypatch.setattr(calls, "page_of", page)
        yield running, record


def _knowing(places: list[Location]) -> FakeSource:
    from sightline.contract.source import RawDiagnostic, RawWorkspaceSymbol

    return FakeSource(
        locations=places,
        workspace=[RawWorkspaceSymbol("a", 12, place) for place in places],
        reports={place.uri: [RawDiagnostic(span(0), "wrong")] for place in places},
    )


def _filled(value: Any, words: dict[str, str]) -> Any:
    """A call with its placeholders filled in."""
    if isinstance(value, str):
        return words.get(value, value)
    if isinstance(value, dict):
        return {key: _filled(each, words) for key, each in value.items()}
    return value


def _with(arguments: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    first, _, rest = path.partition(".")
    inner = _with(arguments[first], rest, value) if rest else value
    return arguments | {first: inner}


def _forget(running: Engine) -> None:
    """Nothing is answered from memory: every call asks its engine."""
    for store in (running.program.calls.retained.store, running.program.calls.answers.store):
        for key in list(store._entries):
            store.drop(key)


def _leaves(tool: str) -> set[str]:
    """Every argument of a schema, those inside of others too."""
    (known,) = [each for each in CATALOGUE if each.info.name == tool]
    paths = {path for path in promise_of(known)["arguments"] if not path.endswith("[]")}
    return {path for path in paths if not any(other.startswith(f"{path}.") for other in paths)}


@pytest.mark.requirement("ST-4.2-nothing-ignored", "ST-10-argument-mapping")
@pytest.mark.parametrize("tool", NAMES)
def test_every_argument_is_listed(tool: str) -> None:
    assert CHANGES[tool].keys() == _leaves(tool)


@pytest.mark.requirement("ST-4.2-nothing-ignored", "ST-10-argument-mapping")
async def test_each_argument_alone_changes_what_is_asked(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = workspace({"main.py": TEXT, "other.py": TEXT})
    async with recorded(root, tmp_path / "cache", monkeypatch) as (running, record):
        words = {"{main}": running.uri("main.py"), "{other}": running.uri("other.py")}
        hits = (await running.once("search", query="area", path=["*.py"]))["items"]
        ids = {hit["path"]: hit["id"] for hit in hits if hit["name"] == "area"}
        words |= {"{id}": ids["main.py"], "{other_id}": ids["other.py"]}
        wrong: dict[str, Any] = {}
        for tool, changes in CHANGES.items():
            for argument, (call, value, expected) in changes.items():
                arguments = _filled(call, words)
                _forget(running)
                if value == "{cursor}":
                    first = await running.once(tool, **arguments, pageSize=1)
                    words["{cursor}"] = first["nextCursor"]
                record.asked = {}
                await running.once(tool, **arguments)
                before, record.asked = record.asked, {}
                await running.once(tool, **_with(arguments, argument, _filled(value, words)))
                # A page of what is known is not asked for again, so not everything is there.
                differs = {k: v for k, v in record.asked.items() if before.get(k, v) != v}
                if not before or differs != _filled(expected, words):
                    wrong[f"{tool}: {argument}"] = differs
        assert wrong == {}


async def test_the_name_of_a_served_folder_reaches_the_index(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = workspace({"main.py": TEXT})
    async with recorded(root, tmp_path / "cache", monkeypatch) as (running, record):

        async def live(*args: Any) -> bytes:
            return b"{}\n"

        record.stands_in(running.program.context, "resolve_live", live, monkeypatch)
        await running.once("context.resolve", cache="workspace:ws", query="q", budget=7)
        asked = {key: record.asked[f"resolve_live.{key}"] for key in ("name", "query", "budget")}
        assert asked == {"name": "ws", "query": "q", "budget": 7}
