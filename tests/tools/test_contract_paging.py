"""Cursors and pages: sections 3.5, 3.6 and 4.4 of the contract, over sets of chosen sizes."""

import base64
import hashlib
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from sightline.contract import limits
from sightline.contract.settings import Settings
from sightline.contract.source import RawDiagnostic, RawWorkspaceSymbol
from sightline.contract.values import Location
from sightline.tools.catalogue import CATALOGUE
from sightline.workspace.view import Epoch, Epochs
from tests.support.clock import Clock
from tests.support.fake_source import Desktop, FakeSource, desktop, span

PAGED = ["references", "workspaceSymbols", "diagnostics.workspace"]


def locations(root: Path, count: int) -> list[Location]:
    """In an order that is not the contract's, with every tenth one twice."""
    uri = (root / "main.py").as_uri()
    found = [Location(uri, span(line)) for line in range(count)]
    return found[::-1] + found[::10]


def asking(desk: Desktop, tool: str) -> dict[str, Any]:
    questions: dict[str, dict[str, Any]] = {
        "references": {"uri": desk.uri(), "position": {"line": 0, "character": 0}},
        "workspaceSymbols": {"query": "name"},
        "diagnostics.workspace": {},
    }
    return questions[tool]


def filled(root: Path, count: int) -> FakeSource:
    """A source whose every paged answer has ``count`` items."""
    root.mkdir(exist_ok=True)
    for number in range(count):
        (root / f"file{number:05}.py").write_text("", encoding="utf-8")
    uris = [(root / f"file{number:05}.py").as_uri() for number in range(count)]
    return FakeSource(
        locations=[Location(uri, span(0)) for uri in uris],
        workspace=[RawWorkspaceSymbol("name", 12, Location(uri, span(0))) for uri in uris],
        reports={uri: [RawDiagnostic(span(0), "wrong")] for uri in reversed(uris)},
    )


def decoded(cursor: str) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads(
        base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    )
    return payload


def spelled(payload: dict[str, Any]) -> str:
    raw = json.dumps(payload, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


@pytest.mark.requirement(
    "GW-1.3-stable-paging", "GW-3.5-null-at-the-end", "GW-3.6-slice", "GW-3.6-next", "GW-4.4-steps"
)
@pytest.mark.parametrize("size", [1, 7, 100, 150, 151])
async def test_the_pages_are_the_list(tmp_path: Path, size: int) -> None:
    root = tmp_path / "ws"
    async with desktop(root, FakeSource(locations(root, 150))) as desk:
        found: list[Any] = []
        cursor = None
        pages = 0
        while pages == 0 or cursor is not None:
            page = await desk.references(pageSize=size, cursor=cursor)
            assert len(page["items"]) <= size
            if page["nextCursor"] is not None:
                assert len(page["items"]) == size
                new = decoded(page["nextCursor"])
                assert new["o"] == len(found) + size and new["v"] == 2
                if cursor is not None:
                    old = decoded(cursor)
                    assert (new["k"], new["s"]) == (old["k"], old["s"])
            found += page["items"]
            cursor = page["nextCursor"]
            pages += 1
        assert [item["range"]["start"]["line"] for item in found] == list(range(150))
        assert pages == -(-150 // size)
        assert desk.source.asked == 1, "later pages come from the kept list"


@pytest.mark.requirement("GW-5.1-numbers", "GW-3.6-slice", "GW-5.2-page-size")
async def test_the_size_of_a_page(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    async with desktop(root, FakeSource(locations(root, 450))) as desk:
        assert len((await desk.references())["items"]) == 100
        assert len((await desk.references(pageSize=200))["items"]) == 200
        for huge in (201, 10**6, 10**30):
            assert len((await desk.references(pageSize=huge))["items"]) == 200
    async with desktop(
        root, FakeSource(locations(root, 450)), settings=Settings(max_items_per_page=50)
    ) as desk:
        assert len((await desk.references())["items"]) == 50


async def test_an_offset_past_the_end_is_an_empty_page(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    async with desktop(root, FakeSource(locations(root, 150))) as desk:
        cursor = decoded((await desk.references(pageSize=10))["nextCursor"])
        for offset in (150, 151, 10**20):
            page = await desk.references(cursor=spelled(cursor | {"o": offset}))
            assert (page["items"], page["nextCursor"]) == ([], None)


@pytest.mark.requirement("GW-3.5-derived", "GW-3.6.1-stable", "GW-3.6.1-snapshot-key")
@pytest.mark.parametrize("tool", PAGED)
async def test_equal_trees_give_equal_cursors(tmp_path: Path, tool: str) -> None:
    """In two workspaces that know nothing of each other, as after a restart."""
    root = tmp_path / "ws"
    source = filled(root, 5)
    cursors = []
    for _ in range(2):
        async with desktop(root, source) as desk:
            page = await desk.payload(tool, **asking(desk, tool), pageSize=2)
            again = await desk.payload(tool, **asking(desk, tool), pageSize=2)
            assert page == again
            cursors.append(page["nextCursor"])
            epochs = desk.workspace._epochs
            info = next(t.info for t in CATALOGUE if t.info.name == f"vscode.lsp.{tool}")
            assert epochs is not None
            roots = hashlib.sha256(json.dumps([str(root)]).encode()).hexdigest()
            numbers = ",".join(map(str, epochs.select(info.epochs)))
            payload = decoded(page["nextCursor"])
            text = f"v1|snapshot|{payload['k']}|roots:{roots}|epochs:{numbers}"
            assert payload["s"] == hashlib.sha256(text.encode()).hexdigest()
    assert cursors[0] == cursors[1]


@pytest.mark.requirement("GW-3.6-invalid", "GW-6.3-CURSOR_INVALID")
@pytest.mark.parametrize("tool", PAGED)
async def test_cursors_that_are_invalid(tmp_path: Path, tool: str) -> None:
    root = tmp_path / "ws"
    async with desktop(root, filled(root, 5)) as desk:
        question = asking(desk, tool)
        good = decoded((await desk.payload(tool, **question, pageSize=2))["nextCursor"])
        for bad in (
            "",
            "x",
            spelled(good) + "=",
            spelled(good)[:-2],
            spelled(good | {"v": 1}),
            spelled(good | {"o": -1}),
            spelled(good | {"k": good["s"]}),
            spelled({key: good[key] for key in ("o", "v", "k", "s")}),
        ):
            answer = await desk.call(tool, **question, cursor=bad)
            assert answer["error"]["code"] == -32602
            assert answer["error"]["data"] == {"code": "MCP_LSP_GATEWAY/CURSOR_INVALID"}


@pytest.mark.requirement("GW-3.6-reject-other-question")
async def test_a_cursor_belongs_to_its_question(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    async with desktop(root, filled(root, 5)) as desk:
        page = await desk.payload("workspaceSymbols", query="name", pageSize=2)
        cursor = page["nextCursor"]
        assert await desk.code("workspaceSymbols", query="other", cursor=cursor) == "CURSOR_INVALID"
        same = await desk.payload("workspaceSymbols", query="  name\t", cursor=cursor)
        assert len(same["items"]) == 3
        assert await desk.code("diagnostics.workspace", cursor=cursor) == "CURSOR_INVALID"


@pytest.mark.requirement(
    "GW-3.5-one-snapshot", "GW-3.6-stale", "GW-6.3-CURSOR_STALE", "GW-3.6.1-text-counts",
    "GW-3.6.1-files-count", "GW-3.6.1-diagnostics-count",
)  # fmt: skip
@pytest.mark.parametrize("tool", PAGED)
@pytest.mark.parametrize("change", ["edit", "create", "delete", "rename"])
async def test_a_change_makes_cursors_stale(tmp_path: Path, tool: str, change: str) -> None:
    root = tmp_path / "ws"
    async with desktop(root, filled(root, 5)) as desk:
        question = asking(desk, tool)
        page = await desk.payload(tool, **question, pageSize=2)
        assert (await desk.payload(tool, **question, cursor=page["nextCursor"]))["items"]
        match change:
            case "edit":
                (root / "file00001.py").write_text("changed = 1\n", encoding="utf-8")
            case "create":
                (root / "new.py").write_text("", encoding="utf-8")
            case "delete":
                (root / "file00001.py").unlink()
            case _:
                (root / "file00001.py").rename(root / "renamed.py")
        answer = await desk.call(tool, **question, cursor=page["nextCursor"])
        assert answer["error"]["code"] == -32602
        assert answer["error"]["data"] == {"code": "MCP_LSP_GATEWAY/CURSOR_STALE"}
        fresh = await desk.payload(tool, **question, pageSize=2)
        assert fresh["nextCursor"] != page["nextCursor"]


@pytest.mark.requirement("GW-3.6.1-diagnostics-count", "GW-3.6.2-mapping")
@pytest.mark.parametrize("tool", PAGED)
async def test_other_diagnostics_of_the_same_files(tmp_path: Path, tool: str) -> None:
    """As a live editor announces them: they matter where diagnostics are listed."""
    root = tmp_path / "ws"
    async with desktop(root, filled(root, 5)) as desk:
        question = asking(desk, tool)
        page = await desk.payload(tool, **question, pageSize=2)
        desk.workspace.diagnostics_changed()
        answer = await desk.call(tool, **question, cursor=page["nextCursor"])
        if tool == "diagnostics.workspace":
            assert answer["error"]["data"] == {"code": "MCP_LSP_GATEWAY/CURSOR_STALE"}
        else:
            assert answer["result"]["structuredContent"]["items"]


@pytest.mark.requirement("GW-3.6.2-monotonic")
async def test_epochs_only_rise(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    async with desktop(root, filled(root, 2)) as desk:
        seen = [(await desk.workspace.begin()).epochs]
        for number in range(5):
            (root / "main.py").write_text(f"x = {number} * 1000\n", encoding="utf-8")
            (root / f"new{number}.py").write_text("", encoding="utf-8")
            seen.append((await desk.workspace.begin()).epochs)
        for earlier, later in itertools.pairwise(seen):
            assert later.roots == earlier.roots
            assert later.text > earlier.text
            assert later.fs > earlier.fs
            assert later.diagnostics > earlier.diagnostics


@pytest.mark.requirement("GW-3.6.2-mapping", "GW-3.6.2-order")
def test_what_each_tool_depends_on() -> None:
    epochs = {tool.info.name: tool.info.epochs for tool in CATALOGUE}
    text = (Epoch.ROOTS, Epoch.TEXT, Epoch.FS)
    assert epochs["vscode.lsp.references"] == epochs["vscode.lsp.workspaceSymbols"] == text
    assert epochs["vscode.lsp.diagnostics.workspace"] == (
        Epoch.ROOTS,
        Epoch.FS,
        Epoch.DIAGNOSTICS,
    )
    assert list(Epoch) == [Epoch.ROOTS, Epoch.TEXT, Epoch.FS, Epoch.DIAGNOSTICS]
    assert Epochs(1, 2, 3, 4).select(tuple(Epoch)) == (1, 2, 3, 4)


@pytest.mark.requirement("GW-3.6-expired", "GW-6.3-CURSOR_EXPIRED", "GW-3.5-retained")
@pytest.mark.parametrize("tool", PAGED)
async def test_a_list_that_is_no_longer_kept(tmp_path: Path, tool: str) -> None:
    root, clock = tmp_path / "ws", Clock()
    async with desktop(root, filled(root, 5), clock=clock) as desk:
        question = asking(desk, tool)
        cursor = (await desk.payload(tool, **question, pageSize=2))["nextCursor"]
        clock.now += limits.RETAINED_IDLE_S - 1
        assert (await desk.payload(tool, **question, cursor=cursor))["items"]
        clock.now += limits.RETAINED_IDLE_S + 1
        answer = await desk.call(tool, **question, cursor=cursor)
        assert answer["error"]["code"] == -32602
        assert answer["error"]["data"] == {"code": "MCP_LSP_GATEWAY/CURSOR_EXPIRED"}
        again = await desk.payload(tool, **question, pageSize=2)
        assert again["nextCursor"] == cursor, "the same state, the same cursor"
        assert (await desk.payload(tool, **question, cursor=cursor))["items"]


@pytest.mark.requirement("GW-3.6-too-large", "GW-6.3-SNAPSHOT_TOO_LARGE", "GW-3.5-retained")
@pytest.mark.parametrize("tool", PAGED)
async def test_a_list_too_large_to_keep(
    tmp_path: Path, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "RETAINED_SET_BYTES", 300)
    root = tmp_path / "ws"
    async with desktop(root, filled(root, 5)) as desk:
        answer = await desk.call(tool, **asking(desk, tool), pageSize=1)
        assert answer["error"]["code"] == -32602
        assert answer["error"]["data"] == {"code": "MCP_LSP_GATEWAY/SNAPSHOT_TOO_LARGE"}
        assert "result" not in answer


@pytest.mark.requirement(
    "GW-5.1-numbers", "GW-5.1-total-sets", "GW-7.7-total", "GW-6.3-CAP_EXCEEDED"
)
async def test_the_largest_sets(tmp_path: Path) -> None:
    """Exactly the cap is served and can be paged to its end; one more is an error."""
    root = tmp_path / "ws"
    cap = limits.MAX_REFERENCES_ITEMS_TOTAL
    source = FakeSource(locations(root, cap))
    async with desktop(root, source) as desk:
        page = await desk.references(pageSize=200)
        last = decoded(page["nextCursor"]) | {"o": cap - 5}
        end = await desk.references(cursor=spelled(last))
        assert (len(end["items"]), end["nextCursor"]) == (5, None)
        source.locations = locations(root, cap + 1)
        (root / "main.py").write_text("y = 2\n", encoding="utf-8")
        place = {"uri": desk.uri(), "position": {"line": 0, "character": 0}}
        assert await desk.code("references", **place) == "CAP_EXCEEDED"


@pytest.mark.requirement("GW-5.1-numbers", "GW-5.1-total-sets")
async def test_the_largest_set_of_symbols(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    cap = limits.MAX_WORKSPACE_SYMBOLS_ITEMS_TOTAL
    async with desktop(root, FakeSource()) as desk:
        uri = desk.uri()
        symbols = [RawWorkspaceSymbol("n", 1, Location(uri, span(line))) for line in range(cap + 1)]
        desk.source.workspace = symbols[:-1]
        assert (await desk.payload("workspaceSymbols", query="n"))["nextCursor"]
        desk.source.workspace = symbols
        assert await desk.code("workspaceSymbols", query="other") == "CAP_EXCEEDED"


@pytest.mark.requirement("GW-5.1-numbers", "GW-7.7-total", "GW-7.7-groups")
async def test_the_largest_set_of_files_with_diagnostics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "sightline.tools.diagnostics_workspace.MAX_WORKSPACE_DIAGNOSTICS_ITEMS_TOTAL", 5
    )
    root = tmp_path / "ws"
    source = filled(root, 6)
    source.reports[(root / "file00005.py").as_uri()] = []
    async with desktop(root, source) as desk:
        page = await desk.payload("diagnostics.workspace")
        assert [item["uri"] for item in page["items"]] == [
            (root / f"file0000{number}.py").as_uri() for number in range(5)
        ], "a file without diagnostics is no item"
        source.reports[(root / "file00005.py").as_uri()] = [RawDiagnostic(span(0), "wrong")]
        (root / "main.py").write_text("y = 2\n", encoding="utf-8")
        assert await desk.code("diagnostics.workspace") == "CAP_EXCEEDED"


@pytest.mark.requirement("GW-5.3-response-bytes", "GW-3.6-slice")
async def test_a_page_is_cut_by_bytes_and_nothing_is_lost(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    async with desktop(root, FakeSource(), settings=Settings(max_response_bytes=16_384)) as desk:
        desk.source.workspace = [
            RawWorkspaceSymbol(f"{'long' * 200}{line}", 1, Location(desk.uri(), span(line)))
            for line in range(100)
        ]
        lines: list[int] = []
        cursor = None
        while not lines or cursor is not None:
            page = await desk.payload("workspaceSymbols", query="long", cursor=cursor)
            assert 0 < len(page["items"]) < 100
            lines += [item["location"]["range"]["start"]["line"] for item in page["items"]]
            cursor = page["nextCursor"]
        assert lines == list(range(100))


async def test_one_item_that_does_not_fit_alone(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    async with desktop(root, FakeSource(), settings=Settings(max_response_bytes=16_384)) as desk:
        desk.source.workspace = [RawWorkspaceSymbol("x" * 20_000, 1, Location(desk.uri(), span(0)))]
        assert await desk.code("workspaceSymbols", query="x") == "CAP_EXCEEDED"
