"""The stability contract of the six tools: names, versions, arguments, codes."""

import json
from pathlib import Path
from typing import Any

import pytest

from sightline.calls import families
from sightline.calls.validate import load_schema
from sightline.contract import limits
from sightline.contract.failures import Bug, Failure
from sightline.contract.settings import Settings
from sightline.index.cutting.chunks import KINDS
from tests.conftest import Workspace
from tests.support.engine import Engine, engine
from tests.support.index import index_engine

SIX = ["index_build", "index_status", "search", "show_file", "check_status", "workspace_status"]

FILES = {
    "src/shapes.py": '''
        """Shapes and their measures."""


        class Circle:
            def area(self, radius: float) -> float:
                """The area of a circle."""
                return 3.14 * radius * radius

            def border(self, radius: float) -> float:
                return 2 * 3.14 * radius
        ''',
    "src/plot.ts": """
        export function area(width: number): number {
          return width * width;
        }
        """,
    "tests/test_shapes.py": """
        def test_area():
            assert area(2) == 4
        """,
    "docs/guide.md": """
        # Guide

        How to compute the area of things.
        """,
}


def code_of(failure: Failure) -> str:
    """The code a client of the index family is told."""
    outcome = families.failed("index", failure)
    result = json.loads(bytes(outcome))  # type: ignore[arg-type]
    assert result["isError"] is True
    error = json.loads(result["content"][0]["text"])
    assert isinstance(error["message"], str) and error["message"]
    code: str = error["code"]
    return code


async def refused(running: Engine, tool: str, **arguments: Any) -> tuple[str, Failure]:
    with pytest.raises(Failure) as caught:
        await running.once(tool, **arguments)
    return code_of(caught.value), caught.value


# Arguments


@pytest.mark.requirement("ST-4.1-unknown-arguments")
@pytest.mark.parametrize("tool", SIX)
async def test_unknown_arguments(workspace: Workspace, tmp_path: Path, tool: str) -> None:
    root = workspace(FILES)
    good: dict[str, Any] = {"search": {"query": "x"}, "show_file": {"path": "src/plot.ts"}}
    async with engine(root, cache=tmp_path, families=("index",)) as running:
        code, _ = await refused(running, tool, **good.get(tool, {}), extra=1)
        assert code == "INVALID_REQUEST"


#: For each argument: a call with it, and the same without or with another value.
EFFECTS: dict[str, dict[str, tuple[dict[str, Any], dict[str, Any]]]] = {
    "search": {
        "query": ({"query": "area"}, {"query": "border"}),
        "mode": ({"query": "area of", "mode": "literal"}, {"query": "area of"}),
        "path": ({"query": "area", "path": ["src/**"]}, {"query": "area"}),
        "language": ({"query": "area", "language": "ts"}, {"query": "area"}),
        "kind": ({"query": "area", "kind": "method"}, {"query": "area"}),
        "symbol": ({"query": "area", "symbol": "Circle.area"}, {"query": "area"}),
        "pageSize": ({"query": "area", "pageSize": 1}, {"query": "area"}),
        "maxTokens": ({"query": "area", "maxTokens": 200}, {"query": "area"}),
        "explain": ({"query": "area", "explain": True}, {"query": "area"}),
        "ranking": ({"query": "the area of it", "ranking": "words"}, {"query": "the area of it"}),
    },
    "show_file": {
        "path": ({"path": "src/plot.ts"}, {"path": "src/shapes.py"}),
        "symbol": ({"symbol": "border"}, {"symbol": "Circle"}),
        "startLine": ({"path": "src/shapes.py", "startLine": 3}, {"path": "src/shapes.py"}),
        "endLine": ({"path": "src/shapes.py", "endLine": 3}, {"path": "src/shapes.py"}),
        "maxTokens": ({"path": "src/shapes.py", "maxTokens": 50}, {"path": "src/shapes.py"}),
    },
    "index_build": {"force": ({"force": True}, {})},
}


@pytest.mark.requirement("ST-4.2-nothing-ignored", "ST-10-argument-mapping")
async def test_every_argument_does_something(workspace: Workspace, tmp_path: Path) -> None:
    async with index_engine(workspace(FILES), tmp_path / "cache") as running:
        shown = {tool: set(load_schema(tool).get("properties", {})) for tool in SIX}
        for tool, effects in EFFECTS.items():
            for name, (with_it, without) in effects.items():
                first = await running.once(tool, **with_it)
                assert first != await running.once(tool, **without), f"{tool}: {name}"
                shown[tool].remove(name)
        # The two that need an answer of before: a cursor and the id of a hit.
        page = await running.once("search", query="area", pageSize=1)
        rest = await running.once("search", query="area", cursor=page["nextCursor"])
        assert page["items"][0]["id"] not in [item["id"] for item in rest["items"]]
        shown["search"].remove("cursor")
        hit = await running.once("show_file", id=page["items"][0]["id"])
        assert hit["path"] == page["items"][0]["path"] and hit["changed"] is False
        shown["show_file"].remove("id")
        assert shown == {tool: set() for tool in SIX}, "an argument without a proof"


#: A call, and a word that its refusal has to have.
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("search", {"query": " "}, "query"),
    ("search", {"query": "x" * 16_385}, "query"),
    ("search", {"query": "a(", "mode": "regex"}, "regular expression"),
    ("search", {"query": "a", "mode": "fuzzy"}, "mode"),
    ("search", {"query": "a", "language": "klingon"}, "klingon"),
    ("search", {"query": "a", "kind": "thing"}, "kind"),
    ("search", {"query": "a", "pageSize": 0}, "pageSize"),
    ("search", {"query": "a", "maxTokens": 5}, "maxTokens"),
    ("search", {"query": "a", "path": []}, "path"),
    ("search", {"query": "a", "ranking": "best"}, "ranking"),
    ("search", {"query": "a", "mode": "literal", "ranking": "words"}, "ranking"),
    ("search", {"query": "a", "mode": "regex", "ranking": "auto"}, "ranking"),
    ("search", {}, "query"),
    ("show_file", {}, "path, symbol or id"),
    ("show_file", {"id": "0" * 12 + ":1-2:" + "0" * 8, "path": "a"}, "id alone"),
    ("show_file", {"symbol": "area", "startLine": 2}, "startLine"),
    ("show_file", {"path": "src/plot.ts", "startLine": 3, "endLine": 2}, "endLine"),
    ("show_file", {"path": "src/plot.ts", "startLine": 99}, "startLine"),
    ("show_file", {"id": "nonsense"}, "id"),
    ("show_file", {"symbol": "area"}, "src/shapes.py"),
    ("index_build", {"force": "yes"}, "force"),
]


async def test_bad_values_are_named(workspace: Workspace, tmp_path: Path) -> None:
    async with index_engine(workspace(FILES), tmp_path / "cache") as running:
        for tool, arguments, word in REFUSED:
            code, failure = await refused(running, tool, **arguments)
            assert code == "INVALID_REQUEST", arguments
            assert word in failure.advice + json.dumps(failure.details), arguments


def test_the_kinds_of_the_schema_are_those_of_the_index() -> None:
    assert tuple(load_schema("search")["properties"]["kind"]["enum"]) == KINDS


# Codes


@pytest.mark.requirement("ST-6-each-code")
async def test_each_event_has_its_code(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = workspace(FILES)
    outside = tmp_path / "secret.txt"
    outside.write_text("x")
    async with engine(root, cache=tmp_path / "cache", families=("index",)) as running:
        assert (await refused(running, "search", query="area"))[0] == "NO_INDEX"
        await running.once("index_build")
        assert (await refused(running, "show_file", path="src/none.py"))[0] == "NOT_FOUND"
        assert (await refused(running, "show_file", symbol="nobody"))[0] == "NOT_FOUND"
        gone = "0" * 12 + ":1-2:" + "0" * 8
        assert (await refused(running, "show_file", id=gone))[0] == "NOT_FOUND"
        for path in (str(outside), outside.as_uri(), "../secret.txt"):
            assert (await refused(running, "show_file", path=path))[0] == "FORBIDDEN"
        for cursor, reason in [("zzz", "cursor_invalid"), ("", "cursor_invalid")]:
            code, failure = await refused(running, "search", query="area", cursor=cursor)
            assert code == "INVALID_REQUEST" and getattr(failure, "reason", "") == reason
        page = await running.once("search", query="area", pageSize=1)
        code, failure = await refused(running, "search", query="x", cursor=page["nextCursor"])
        assert (code, failure.reason) == ("INVALID_REQUEST", "cursor_invalid")  # type: ignore[attr-defined]
        (root / "src/new.py").write_text("area = 1\n")
        code, failure = await refused(running, "search", query="area", cursor=page["nextCursor"])
        assert (code, failure.reason) == ("INVALID_REQUEST", "cursor_stale")  # type: ignore[attr-defined]
        page = await running.once("search", query="area", pageSize=1)
        kept = running.program.calls.retained.store
        for key in list(kept._entries):
            kept.drop(key)
        code, failure = await refused(running, "search", query="area", cursor=page["nextCursor"])
        assert (code, failure.reason) == ("INVALID_REQUEST", "cursor_expired")  # type: ignore[attr-defined]
        monkeypatch.setattr(limits, "MAX_CALLS_IN_FLIGHT", 0)
        assert (await refused(running, "search", query="area"))[0] == "QUEUE_OVERLOADED"
    assert code_of(Bug()) == "INTERNAL"


async def test_a_cache_that_cannot_be_written(workspace: Workspace, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "index").write_text("not a folder")
    async with engine(workspace(FILES), cache=cache, families=("index",)) as running:
        code, failure = await refused(running, "index_build")
        assert code == "CAPABILITY_MISSING" and "folder" in failure.advice
        assert str(tmp_path) not in failure.advice, "no path of the user's own folders"


async def test_a_setting_bounds_the_page(workspace: Workspace, tmp_path: Path) -> None:
    settings = Settings(max_items_per_page=2)
    async with index_engine(workspace(FILES), tmp_path / "cache", settings=settings) as running:
        page = await running.once("search", query="area", pageSize=100)
        assert len(page["items"]) == 2 and page["nextCursor"]
