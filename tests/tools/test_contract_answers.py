"""Section 7 of the contract: what each tool makes of what a source knows."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from sightline.contract import limits
from sightline.contract.settings import Settings
from sightline.contract.source import RawDiagnostic, RawSymbol, RawWorkspaceSymbol
from sightline.contract.values import Hover, HoverContent, Location, Position, Range
from sightline.lsp.asking import answers
from sightline.lsp.wire import messages
from sightline.protocol.surface import ClientOptions
from sightline.tools.catalogue import CATALOGUE
from tests.support.clock import Clock
from tests.support.fake_source import Desktop, FakeSource, desktop, span
from tests.support.leaks import OUTSIDE

START = {"line": 0, "character": 0}
LSP = [
    tool.info.name.removeprefix("vscode.lsp.") for tool in CATALOGUE if tool.info.family == "lsp"
]


async def hover(desk: Desktop, *fragments: HoverContent) -> Any:
    desk.source.hovered = Hover(fragments, span(0))
    return await desk.payload("hover", uri=desk.uri(), position=START)


# Every list


def twice(desk: Desktop) -> dict[str, tuple[list[Any], list[Any], dict[str, Any]]]:
    """For each tool: what the source finds, out of order and twice; its member; its arguments."""
    # A second spelling of the document: the same after canonicalisation, and not before.
    other = desk.uri().replace("main", "%6Dain")
    spans = [span(2), span(0), span(1), span(0), span(2)]
    uris = [desk.uri(), other, desk.uri(), desk.uri(), other]
    places = [Location(uri, where) for uri, where in zip(uris, spans, strict=True)]
    place = {"uri": desk.uri(), "position": START}
    said = [RawDiagnostic(where, f"said {where.start.line}") for where in spans]
    return {
        "definition": (places, ["locations"], place),
        "references": (places, ["items"], place),
        "hover": ([HoverContent("markdown", text) for text in "cabac"], ["contents"], place),
        "documentSymbols": (
            [RawSymbol("n", 12, where, where) for where in spans],
            ["symbols"],
            {"uri": desk.uri()},
        ),
        "workspaceSymbols": (
            [RawWorkspaceSymbol("n", 12, where) for where in places],
            ["items"],
            {"query": "n"},
        ),
        "diagnostics.document": (said, ["diagnostics"], {"uri": desk.uri()}),
        "diagnostics.workspace": (said, ["items", 0, "diagnostics"], {}),
    }


@pytest.mark.requirement("GW-4.3-duplicates", "GW-1.3-sorted-once")
@pytest.mark.parametrize("tool", LSP)
async def test_every_list_is_sorted_and_holds_nothing_twice(tmp_path: Path, tool: str) -> None:
    async with desktop(tmp_path / "ws", FakeSource()) as desk:
        (desk.root / "main.py").write_text("a\nb\nc\n", encoding="utf-8")
        found, path, arguments = twice(desk)[tool]
        source = desk.source
        source.locations = source.symbols = source.workspace = source.diagnostics = found
        source.hovered = Hover(tuple(found), span(0))
        other = desk.uri().replace("main", "%6Dain")
        source.reports = {other: found[:3], desk.uri(): found[3:]} if path[1:] else {}
        items: Any = await desk.payload(tool, **arguments)
        for step in path:
            items = items[step]
        assert len(items) == 3, items
        order = [item.get("value") or line_of(item) for item in items]
        assert order in (list("abc"), [0, 1, 2])


def line_of(item: dict[str, Any]) -> int:
    line: int = item.get("location", item)["range"]["start"]["line"]
    return line


# Lists of locations


@pytest.mark.requirement(
    "GW-7.1-definition", "GW-7.2-references", "GW-1.2-outputs-in-roots", "GW-3.2-omitted"
)
@pytest.mark.parametrize("tool", ["definition", "references"])
async def test_what_lies_outside_is_left_out_and_counted(tmp_path: Path, tool: str) -> None:
    root = tmp_path / "ws"
    outside = tmp_path / f"out-{OUTSIDE}"
    outside.mkdir()
    (outside / "x.py").write_text("", encoding="utf-8")
    async with desktop(root, FakeSource()) as desk:
        (root / "link.py").symlink_to(outside / "x.py")
        (root / "inner.py").symlink_to("main.py")
        desk.source.locations = [
            Location((outside / "x.py").as_uri(), span(0)),
            Location((root / "link.py").as_uri(), span(0)),
            Location((root / "missing.py").as_uri(), span(0)),
            Location((root / "missing.py").as_uri(), span(0)),
            Location("untitled:Untitled-1", span(0)),
            Location((root / "inner.py").as_uri(), span(2)),
            Location(desk.uri(), span(2)),
            Location(desk.uri(), span(1)),
        ]
        payload = await desk.payload(tool, uri=desk.uri(), position=START)
        items = payload["locations" if tool == "definition" else "items"]
        assert [item["uri"] for item in items] == [desk.uri()] * 2, "under the real name, once"
        assert [item["range"]["start"]["line"] for item in items] == [1, 2]
        assert payload["summary"].endswith(
            " 2 outside the workspace not shown. 1 in files that cannot be found not shown. "
            "1 in unsaved or virtual documents not shown."
        )
        assert OUTSIDE not in str(payload)


@pytest.mark.requirement("GW-5.1-numbers", "GW-5.2-unpaged", "GW-7.1-definition")
async def test_more_than_200_definitions(tmp_path: Path) -> None:
    async with desktop(tmp_path / "ws", FakeSource()) as desk:
        found = [Location(desk.uri(), span(line)) for line in range(201)]
        desk.source.locations = found[:200]
        payload = await desk.payload("definition", uri=desk.uri(), position=START)
        assert (len(payload["locations"]), payload["summary"]) == (200, "Found 200 definitions.")
        desk.source.locations = found[::-1]
        (desk.root / "main.py").write_text("y = 2\n", encoding="utf-8")
        payload = await desk.payload("definition", uri=desk.uri(), position=START)
        assert [item["range"]["start"]["line"] for item in payload["locations"]] == [*range(200)]
        assert payload["summary"] == "Found 200 of 201 definitions (capped)."


# Hover


@pytest.mark.requirement("GW-7.3-fragments")
async def test_fragments_are_sorted_and_each_once(tmp_path: Path) -> None:
    async with desktop(tmp_path / "ws", FakeSource()) as desk:
        payload = await hover(
            desk,
            HoverContent("plaintext", "a"),
            HoverContent("markdown", "\uff5e"),
            HoverContent("markdown", "\U0001f600"),
            HoverContent("markdown", "b"),
            HoverContent("markdown", "b"),
            HoverContent("markdown", ""),
        )
        assert payload["contents"] == [
            {"kind": "markdown", "value": "b"},
            {"kind": "markdown", "value": "\U0001f600"},
            {"kind": "markdown", "value": "\uff5e"},
            {"kind": "plaintext", "value": "a"},
        ]
        assert payload["summary"] == "Hover available."
        assert payload["range"] == {"start": START, "end": {"line": 0, "character": 1}}


@pytest.mark.requirement("GW-7.3-truncation")
async def test_too_much_hover(tmp_path: Path) -> None:
    async with desktop(tmp_path / "ws", FakeSource()) as desk:
        nine = [HoverContent("markdown", str(number)) for number in range(9)]
        payload = await hover(desk, *nine)
        assert [part["value"] for part in payload["contents"]] == list("01234567")
        assert payload["summary"] == "Hover available (truncated)."
    async with desktop(tmp_path / "ws", FakeSource()) as desk:
        payload = await hover(desk, HoverContent("markdown", "\U0001f600" * 9_000))
        assert payload["contents"][0]["value"] == "\U0001f600" * 8_192
        assert payload["summary"] == "Hover available (truncated)."


@pytest.mark.requirement("GW-7.3-truncation", "GW-5.3-response-bytes")
@pytest.mark.parametrize("character", ["x", "é", "\U0001f600", '"', "\x01", "\\"])
@pytest.mark.parametrize("content", ["empty", "mirror"])
async def test_hover_fits_the_answer(tmp_path: Path, character: str, content: Any) -> None:
    """The last fragment is cut between characters, to the longest text that fits."""
    cap = 16_384
    async with desktop(
        tmp_path / "ws", FakeSource(), settings=Settings(max_response_bytes=cap)
    ) as desk:
        desk.options = ClientOptions(content=content)
        first = HoverContent("markdown", "first")
        payload = await hover(desk, first, HoverContent("plaintext", character * 8_192))
        assert payload["contents"][0]["value"] == "first"
        last = payload["contents"][1]["value"]
        assert last == character * len(last)
        if len(last) < 8_192:
            assert payload["summary"] == "Hover available (truncated)."
        size = len(json.dumps(character, ensure_ascii=False).encode()) - 2
        mirrored = len(json.dumps(json.dumps(character, ensure_ascii=False)).encode()) - 6
        each = size if content == "empty" else size + max(mirrored, size)
        room = cap - limits.ENVELOPE_RESERVE_BYTES - 800
        assert len(last) >= min(8_192, room // each), "nothing is cut that would fit"


@pytest.mark.requirement("GW-3.1-summary", "GW-6.3-nothing-leaks")
async def test_paths_in_texts_become_names(tmp_path: Path) -> None:
    async with desktop(tmp_path / "ws", FakeSource()) as desk:
        text = f"see {tmp_path}/out-{OUTSIDE}/x.py and {desk.root}/main.py"
        payload = await hover(desk, HoverContent("markdown", text))
        assert payload["contents"][0]["value"] == f"see x.py and {desk.root}/main.py"
        desk.source.diagnostics = [RawDiagnostic(span(0), text)]
        report = await desk.payload("diagnostics.document", uri=desk.uri())
        assert report["diagnostics"][0]["message"] == f"see x.py and {desk.root}/main.py"


# Document symbols


def symbol(name: str, line: int, *children: RawSymbol, container: Any = UNSET) -> RawSymbol:
    return RawSymbol(name, 12, span(line), span(line), container, children)


@pytest.mark.requirement("GW-7.4-flat", "GW-3.7-id-deterministic")
async def test_symbols_are_flat(tmp_path: Path) -> None:
    async with desktop(tmp_path / "ws", FakeSource()) as desk:
        desk.source.symbols = [
            symbol("Outer", 5, symbol("inner", 7, symbol("deep", 8)), symbol("early", 6)),
            symbol("top", 1),
            symbol("top", 1),
            symbol(" ", 2, symbol("orphan", 3)),
        ]
        payload = await desk.payload("documentSymbols", uri=desk.uri())
        assert [(s["name"], s.get("containerName")) for s in payload["symbols"]] == [
            ("top", None),
            ("orphan", None),
            ("Outer", None),
            ("early", "Outer"),
            ("inner", "Outer"),
            ("deep", "inner"),
        ]
        assert payload["summary"] == "Returned 6 document symbols."
        assert all("children" not in s for s in payload["symbols"])
        assert len({s["id"] for s in payload["symbols"]}) == 6


@pytest.mark.requirement("GW-7.4-cap", "GW-5.2-unpaged")
async def test_too_many_symbols(tmp_path: Path) -> None:
    async with desktop(tmp_path / "ws", FakeSource()) as desk:
        classes = [
            symbol(f"C{number}", number * 10, symbol("deep", number * 10 + 1))
            for number in range(150)
        ]
        desk.source.symbols = classes
        payload = await desk.payload("documentSymbols", uri=desk.uri())
        names = [s["name"] for s in payload["symbols"]]
        assert len(names) == 200 and names.count("deep") == 50, "the deepest go first"
        assert payload["summary"] == (
            "Returned 200 of 300 document symbols (capped). Left out: 100, the deepest first, of "
            "equal depth the last. The first of them is at line 501 (from 0): read the file from "
            "there, or ask for workspace symbols by name."
        )
        desk.source.symbols = [symbol(f"C{number}", 3 * number) for number in range(300)]
        (desk.root / "main.py").write_text("y = 2\n", encoding="utf-8")
        flat = await desk.payload("documentSymbols", uri=desk.uri())
        assert len(flat["symbols"]) == 200 and "at line 600 (from 0)" in flat["summary"]
        lines = [s["range"]["start"]["line"] for s in payload["symbols"]]
        assert lines == sorted(lines)


@pytest.mark.requirement("GW-7.4-cap", "GW-6.3-CAP_EXCEEDED")
async def test_a_traversal_over_the_cap(tmp_path: Path) -> None:
    async with desktop(tmp_path / "ws", FakeSource()) as desk:
        cap = limits.MAX_DOCUMENT_SYMBOL_NODES
        desk.source.symbols = [symbol("n", line) for line in range(cap)]
        payload = await desk.payload("documentSymbols", uri=desk.uri())
        said = f"Returned 200 of {cap} document symbols (capped). Left out: {cap - 200}, "
        assert payload["summary"].startswith(said)
        desk.source.symbols = [symbol("n", line) for line in range(cap + 1)]
        (desk.root / "main.py").write_text("y = 2\n", encoding="utf-8")
        assert await desk.code("documentSymbols", uri=desk.uri()) == "CAP_EXCEEDED"


# Workspace symbols


@pytest.mark.requirement("GW-7.5-workspace-symbols", "GW-4.1-trimmed")
async def test_symbols_of_the_workspace(tmp_path: Path) -> None:
    async with desktop(tmp_path / "ws", FakeSource()) as desk:
        uri = desk.uri()
        outside = f"file:///{OUTSIDE}/x.py"
        desk.source.workspace = [
            RawWorkspaceSymbol("b", 12, Location(uri, span(0))),
            RawWorkspaceSymbol("a", 12, Location(uri, span(0)), "C"),
            RawWorkspaceSymbol("a", 12, Location(uri, span(0))),
            RawWorkspaceSymbol("a", 12, Location(uri, span(0))),
            *[RawWorkspaceSymbol("hidden", 12, Location(outside, span(0)))] * 2,
            RawWorkspaceSymbol("new", 12, Location("untitled:Untitled-1", span(0))),
            RawWorkspaceSymbol("gone", 12, Location(desk.uri("gone.py"), span(0))),
        ]
        hidden = (
            "1 outside the workspace not shown. 1 in files that cannot be found not shown. "
            "1 in unsaved or virtual documents not shown."
        )
        payload = await desk.payload("workspaceSymbols", query="  a \t")
        assert desk.source.queries == ["a"]
        shown = [(item["name"], item.get("containerName")) for item in payload["items"]]
        assert shown == [("a", "C"), ("a", None), ("b", None)]
        assert payload["summary"] == f"Returned 3 workspace symbols. {hidden}"
        page = await desk.payload("workspaceSymbols", query="a", pageSize=2)
        assert page["summary"].startswith("Returned 2 workspace symbols (next page available).")


@pytest.mark.requirement("GW-7.5-blank-query")
@pytest.mark.parametrize("query", ["", " ", "\t\n", "\u00a0", "\u2003 "])
async def test_a_blank_query(tmp_path: Path, query: str) -> None:
    async with desktop(tmp_path / "ws", FakeSource()) as desk:
        answer = await desk.call("workspaceSymbols", query=query)
        assert answer["error"]["code"] == -32602
        assert answer["error"]["data"]["code"] == "MCP_LSP_GATEWAY/INVALID_PARAMS"
        assert desk.source.asked == 0


# Diagnostics


@pytest.mark.requirement("GW-7.6-code")
@pytest.mark.parametrize(
    ("code", "shown"),
    [("E1", "E1"), (1234, "1234"), (0, "0"), (-5, "-5"), (1.5, "1.5"), (1e21, "1e+21"), ("", None),
     (None, None), (True, None), ({"value": 7}, "7"), ({"value": "X", "target": "u"}, "X"),
     ([], None)],
)  # fmt: skip
async def test_codes_are_strings(tmp_path: Path, code: Any, shown: str | None) -> None:
    place = Range(Position(0, 0), Position(0, 1))
    raw = answers.diagnostics([messages.LspDiagnostic(place, "wrong", code=code)])
    async with desktop(tmp_path / "ws", FakeSource(diagnostics=raw)) as desk:
        report = await desk.payload("diagnostics.document", uri=desk.uri())
        assert report["diagnostics"][0].get("code") == shown
        assert ("code" in report["diagnostics"][0]) == (shown is not None)


@pytest.mark.requirement("GW-7.6-cap", "GW-5.2-unpaged")
async def test_more_than_200_diagnostics_of_a_document(tmp_path: Path) -> None:
    found = [RawDiagnostic(span(line), "wrong") for line in range(250)]
    async with desktop(tmp_path / "ws", FakeSource(diagnostics=found[::-1])) as desk:
        report = await desk.payload("diagnostics.document", uri=desk.uri())
        assert [d["range"]["start"]["line"] for d in report["diagnostics"]] == [*range(200)]
        assert report["summary"] == "Returned 200 of 250 diagnostics (capped)."
        assert report["uri"] == desk.uri()


@pytest.mark.requirement("GW-3.1-summary", "GW-7.6-cap", "GW-7.7-per-file")
async def test_diagnostics_are_counted_by_severity(tmp_path: Path) -> None:
    severities = [2, 1, 4, 2, 3, 3]
    found = [RawDiagnostic(span(line), "wrong", each) for line, each in enumerate(severities)]
    said = "1 error, 2 warnings, 2 informational, 1 hint"
    root = tmp_path / "ws"
    async with desktop(root, FakeSource(diagnostics=found)) as desk:
        report = await desk.payload("diagnostics.document", uri=desk.uri())
        assert report["summary"] == f"Returned 6 diagnostics: {said}."
        (root / "main.py").write_text("y = 2\n", encoding="utf-8")
        desk.source.diagnostics = [RawDiagnostic(span(0), "wrong"), RawDiagnostic(span(1), "x", 1)]
        report = await desk.payload("diagnostics.document", uri=desk.uri())
        assert report["summary"] == "Returned 2 diagnostics: 1 error, 1 without severity."
        (root / "main.py").write_text("y = 3\n", encoding="utf-8")
        many = [RawDiagnostic(span(line), "wrong", 1 + line // 240) for line in range(250)]
        desk.source.diagnostics = many
        report = await desk.payload("diagnostics.document", uri=desk.uri())
        capped = "Returned 200 of 250 diagnostics (capped). In all: 240 errors, 10 warnings."
        assert report["summary"] == capped
        (root / "b.py").write_text("", encoding="utf-8")
        desk.source.reports = {desk.uri(): many, desk.uri("b.py"): found}
        first = await desk.payload("diagnostics.workspace", pageSize=1)
        said = "In all: 241 errors, 12 warnings, 2 informational, 1 hint"
        assert first["summary"] == (
            f"Returned diagnostics for 1 file (next page available). {said} in 2 files."
        )
        last = await desk.payload("diagnostics.workspace", pageSize=1, cursor=first["nextCursor"])
        assert last["summary"] == f"Returned diagnostics for 1 file (Capped). {said} in 2 files."
        both = await desk.payload("diagnostics.workspace")
        assert both["summary"] == f"Returned diagnostics for 2 files (Capped). {said}."


@pytest.mark.requirement("GW-7.7-groups", "GW-7.7-per-file")
async def test_diagnostics_by_file(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    async with desktop(root, FakeSource()) as desk:
        for name in ("b.py", "a.py", "empty.py"):
            (root / name).write_text("", encoding="utf-8")
        (root / "again.py").symlink_to("a.py")
        desk.source.reports = {
            desk.uri("b.py"): [RawDiagnostic(span(line), "wrong") for line in range(201)],
            desk.uri("a.py"): [RawDiagnostic(span(1), "wrong"), RawDiagnostic(span(0), "wrong")],
            desk.uri("again.py"): [RawDiagnostic(span(1), "wrong"), RawDiagnostic(span(2), "x")],
            desk.uri("empty.py"): [],
            f"file:///{OUTSIDE}/x.py": [RawDiagnostic(span(0), "wrong")],
            "untitled:Untitled-1": [RawDiagnostic(span(0), "wrong")],
            "untitled:Untitled-2": [],
            desk.uri("gone.py"): [RawDiagnostic(span(0), "wrong")],
        }
        page = await desk.payload("diagnostics.workspace")
        assert [(i["uri"], len(i["diagnostics"])) for i in page["items"]] == [
            (desk.uri("a.py"), 3),
            (desk.uri("b.py"), 200),
        ]
        assert page["summary"] == (
            "Returned diagnostics for 2 files (Capped). 1 outside the workspace not shown. 1 in "
            "files that cannot be found not shown. 1 in unsaved or virtual documents not shown."
        )
        first = await desk.payload("diagnostics.workspace", pageSize=1)
        assert first["summary"].startswith("Returned diagnostics for 1 file (next page available).")


# Summaries


@pytest.mark.requirement("GW-3.1-summary")
async def test_a_summary_is_short_and_counts_what_it_leaves_out(tmp_path: Path) -> None:
    notes = [
        f"Module number {number:02} is not installed; uses may be missing." for number in range(50)
    ]
    async with desktop(tmp_path / "ws", FakeSource(note=" ".join(notes))) as desk:
        desk.options = ClientOptions(content="summary")
        place = {"uri": desk.uri(), "position": START}
        for tool, arguments in (
            ("definition", place),
            ("references", place),
            ("workspaceSymbols", {"query": "a"}),
            ("diagnostics.workspace", {}),
        ):
            result = (await desk.call(tool, **arguments))["result"]
            summary = result["structuredContent"]["summary"]
            assert result["content"] == [{"type": "text", "text": summary}]
            assert 900 < len(summary) <= limits.MAX_SUMMARY_CODE_POINTS
            shown = [note for note in notes if note in summary]
            assert shown == notes[: len(shown)], "in order, from the first"
            assert summary.endswith(f" {50 - len(shown)} notes are left out."), tool
        desk.source.note = notes[0]
        (desk.root / "main.py").write_text("y = 2\n", encoding="utf-8")
        assert (await desk.payload("definition", **place))["summary"].endswith(notes[0])


# What a client shows


@pytest.mark.requirement("GW-5.2-unpaged", "GW-5.3-response-bytes")
@pytest.mark.parametrize("cap", [16_384, 524_288])
@pytest.mark.parametrize("content", ["empty", "summary", "mirror"])
async def test_lists_are_made_to_fit_a_client_and_say_so(
    tmp_path: Path, cap: int, content: Any
) -> None:
    """Fewer bytes for the payloads of one client: shorter, whatever the cap would refuse."""
    settings = Settings(max_response_bytes=cap)
    async with desktop(tmp_path / "ws", FakeSource(), settings=settings) as desk:
        limit = 6_144
        desk.options = ClientOptions(answer_bytes=limit, content=content)
        desk.source.symbols = [
            symbol(f"C{line}", line * 10, symbol("deep", line * 10 + 1)) for line in range(40)
        ]
        desk.source.locations = [Location(desk.uri(), span(line)) for line in range(200)]
        desk.source.diagnostics = [RawDiagnostic(span(line), "m" * 99) for line in range(200)]
        place = {"uri": desk.uri(), "position": START}
        outline = await desk.payload("documentSymbols", uri=desk.uri())
        names = [found["name"] for found in outline["symbols"]]
        assert names.count("deep") == 0 or names.count("deep") == len(names) - 40
        said = f"Returned {len(names)} of 80 document symbols (capped). Left out: {80 - len(names)}"
        assert outline["summary"].startswith(said)
        defined = await desk.payload("definition", **place)
        count = len(defined["locations"])
        assert defined["summary"] == f"Found {count} of 200 definitions (capped)."
        report = await desk.payload("diagnostics.document", uri=desk.uri())
        count = len(report["diagnostics"])
        assert report["summary"] == f"Returned {count} of 200 diagnostics (capped)."
        page = await desk.payload("references", **place, pageSize=200)
        for payload in (outline, defined, report, page):
            size = len(json.dumps(payload, separators=(",", ":")))
            assert limit // 2 < size <= limit
        assert page["nextCursor"] is not None


@pytest.mark.requirement("GW-5.1-numbers", "GW-5.3-response-bytes", "GW-6.3-CAP_EXCEEDED")
@pytest.mark.parametrize("cap", [16_384, 524_288])
async def test_an_unpaged_list_over_the_cap_is_refused(tmp_path: Path, cap: int) -> None:
    """A list of 200 is whole or an error. A page of the same items is cut, and goes on."""
    long = cap // 200 + 400
    settings = Settings(max_response_bytes=cap)
    async with desktop(tmp_path / "ws", FakeSource(), settings=settings) as desk:
        desk.source.symbols = [symbol("n" * long, line) for line in range(200)]
        desk.source.diagnostics = [RawDiagnostic(span(n), "m" * long) for n in range(200)]
        (desk.root / ("d" * 200)).mkdir()
        for number in range(200):
            name = f"{'d' * 200}/{number:03}{'f' * 200}.py"
            (desk.root / name).write_text("x = 1\n", encoding="utf-8")
            desk.source.locations = [*desk.source.locations, Location(desk.uri(name), span(0))]
        place = {"uri": desk.uri(), "position": START}
        questions: list[tuple[str, dict[str, Any]]] = [
            ("documentSymbols", {"uri": desk.uri()}),
            ("diagnostics.document", {"uri": desk.uri()}),
        ]
        if cap < 200 * 400:  # longer paths would not fit the system
            questions.append(("definition", place))
        for tool, arguments in questions:
            first = await desk.call(tool, **arguments)
            assert first["error"]["data"] == {"code": "MCP_LSP_GATEWAY/CAP_EXCEEDED"}, tool
            assert "max_response_bytes" in first["error"]["message"], "the cause"
            assert "answer_bytes" in first["error"]["message"], "the next step"
            assert await desk.call(tool, **arguments) == first, "from memory, too"
        if cap < 200 * 400:
            page = await desk.payload("references", **place, pageSize=200)
            assert 0 < len(page["items"]) < 200 and page["nextCursor"] is not None


@pytest.mark.requirement("GW-5.3-response-bytes")
async def test_200_names_of_3_003_characters(tmp_path: Path) -> None:
    async with desktop(tmp_path / "ws", FakeSource()) as desk:
        desk.source.symbols = [symbol("n" * 3_003, line) for line in range(200)]
        assert await desk.code("documentSymbols", uri=desk.uri()) == "CAP_EXCEEDED"
        desk.options = ClientOptions(answer_bytes=30_000)
        outline = await desk.payload("documentSymbols", uri=desk.uri())
        count = len(outline["symbols"])
        assert 0 < count < 10
        said = f"Returned {count} of 200 document symbols (capped). Left out: {200 - count}, "
        assert outline["summary"].startswith(said)


@pytest.mark.requirement("GW-5.2-unpaged", "GW-5.3-response-bytes")
async def test_the_cap_on_items_comes_first(tmp_path: Path) -> None:
    """A list is cut to 200 with a summary, and only then measured."""
    async with desktop(tmp_path / "ws", FakeSource()) as desk:
        desk.source.symbols = [symbol("n" * 2_000, line) for line in range(400)]
        outline = await desk.payload("documentSymbols", uri=desk.uri())
        assert len(outline["symbols"]) == 200
        assert outline["summary"].startswith("Returned 200 of 400 document symbols (capped).")


async def test_one_item_larger_than_a_client_shows_is_still_an_answer(tmp_path: Path) -> None:
    async with desktop(tmp_path / "ws", FakeSource()) as desk:
        desk.options = ClientOptions(answer_bytes=4_096)
        desk.source.reports = {desk.uri(): [RawDiagnostic(span(n), "m" * 99) for n in range(200)]}
        desk.source.diagnostics = [RawDiagnostic(span(0), "m" * 9_999)]
        page = await desk.payload("diagnostics.workspace")
        assert len(page["items"][0]["diagnostics"]) == 200
        report = await desk.payload("diagnostics.document", uri=desk.uri())
        assert report["summary"] == "Returned 1 diagnostic."


# Time


@pytest.mark.requirement("GW-4.5-time", "GA-no-partial", "GW-6.3-CAP_EXCEEDED", "ST-8.1-aborted")
async def test_past_the_time_limit_there_is_an_error_and_then_the_whole_answer(
    tmp_path: Path,
) -> None:
    release = asyncio.Event()
    async with desktop(
        tmp_path / "ws",
        FakeSource(before=release.wait),
        settings=Settings(request_timeout_ms=250),
    ) as desk:
        desk.source.locations = [Location(desk.uri(), span(0))]
        question = {"uri": desk.uri(), "position": START}
        first = await desk.call("definition", **question)
        second = await desk.call("definition", **question)
        assert first == second, "the same error each time, without a time in it"
        assert "the work goes on" in first["error"]["message"]
        assert "stopped" not in first["error"]["message"]
        assert first["error"]["data"] == {
            "code": "MCP_LSP_GATEWAY/CAP_EXCEEDED",
            "details": {"waitingFor": "the fake", "retryable": True},
        }
        release.set()
        payload = await desk.payload("definition", **question)
        assert payload["summary"] == "Found 1 definition."
        assert desk.source.asked == 1, "the work went on meanwhile"


@pytest.mark.requirement("GW-5.1-numbers", "GW-4.5-time", "GA-no-partial")
@pytest.mark.parametrize("tool", ["definition", "references"])
async def test_an_answer_that_is_there_too_late_is_the_same_error(
    tmp_path: Path, tool: str
) -> None:
    """The work holds the event loop beyond the limit, so that no timer stops it."""
    clock = Clock()

    async def slowly() -> None:
        clock.now += 2.001

    source = FakeSource(before=slowly)
    async with desktop(tmp_path / "ws", source, clock=clock, patient=False) as desk:
        desk.source.locations = [Location(desk.uri(), span(0))]
        question = {"uri": desk.uri(), "position": START}
        late = await desk.call(tool, **question)
        assert late["error"]["data"]["code"] == "MCP_LSP_GATEWAY/CAP_EXCEEDED"
        assert late["error"]["data"]["details"]["retryable"] is True
        assert (await desk.payload(tool, **question))["summary"]
        assert desk.source.asked == 1, "the retry has what was found"


@pytest.mark.requirement("GW-1.3-deterministic")
async def test_answers_do_not_depend_on_the_order_of_a_source(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    payloads = []
    for reverse in (False, True):
        async with desktop(root, FakeSource()) as desk:
            found = [Location(desk.uri(), span(line % 7, line % 3)) for line in range(40)]
            desk.source.locations = found[::-1] if reverse else found
            payloads.append(await desk.references())
    assert payloads[0] == payloads[1]
