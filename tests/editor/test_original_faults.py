"""Ten faults of the gateway this program follows, B1 to B10: none is here, behind either source.

Each test does what showed the fault there. The real program is asked over HTTP; the language
server or the window behind it follows a script, since real ones cannot be made to be this late.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.http import initialize
from tests.support.leaks import ledger
from tests.support.scripted import SOURCES, Late, Scripted, ScriptedServer, ScriptedWindow
from tests.support.watching import HANG_S

Start = Callable[..., Scripted]
StartWindow = Callable[..., ScriptedWindow]

PLACE = {"line": 2, "character": 7}
PING = {"jsonrpc": "2.0", "id": 0, "method": "ping"}
LIMIT_MS = 250


def span(line: int, start: int = 0, end: int = 1) -> dict[str, Any]:
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}


def markdown(text: str) -> list[Any]:
    return [{"kind": "markdown", "value": text}]


def problem(text: str) -> dict[str, Any]:
    return {"range": span(0), "message": text, "severity": 2}


def main(root: Path) -> str:
    return (root / "main.py").as_uri()


def lines(root: Path, count: int, first: int = 0) -> list[Any]:
    """Places in one document, one per line."""
    uri = main(root)
    return [{"uri": uri, "range": span(line)} for line in range(first, first + count)]


@pytest.fixture
def windows(home: Path, sample: Path) -> Iterator[StartWindow]:
    """Starts the editor source alone, for what only a window can do."""
    with ExitStack() as started:

        def start(**script: Any) -> ScriptedWindow:
            return started.enter_context(ScriptedWindow.start(sample, home, script, {}))

        yield start


@pytest.fixture(params=sorted(SOURCES))
def start(request: pytest.FixtureRequest, home: Path, sample: Path) -> Iterator[Start]:
    """Starts either source with a script."""
    source: type[ScriptedServer | ScriptedWindow] = SOURCES[request.param]
    with ExitStack() as started:

        def begin(settings: dict[str, Any] | None = None, **script: Any) -> Scripted:
            opened: AbstractContextManager[Scripted] = source.start(
                sample, home, script, settings or {}
            )
            return started.enter_context(opened)

        yield begin


def code(error: Any) -> str:
    name: str = error["data"]["code"]
    return name.removeprefix("MCP_LSP_GATEWAY/")


def is_late(error: Any) -> bool:
    return code(error) == "CAP_EXCEEDED" and bool(error["data"]["details"]["retryable"])


# B1: work whose time had passed still filled the caches.


@pytest.mark.parametrize("arrives", ["before the edit", "after the edit"])
@pytest.mark.parametrize("kind", ["hover", "references"])
def test_b1_an_answer_that_came_too_late_is_never_given_for_another_state(
    start: Start, sample: Path, kind: str, arrives: str
) -> None:
    if kind == "hover":
        old, new, member = markdown("old"), markdown("new"), "contents"
    else:
        old, new, member = lines(sample, 3), lines(sample, 2, 1), "items"
    more = {} if kind == "hover" else {"includeDeclaration": True}
    asking = {"uri": main(sample), "position": PLACE} | more
    running = start({"request_timeout_ms": LIMIT_MS}, **{kind: [Late(old), new]})
    assert is_late(running.until_asked(kind, kind, **asking))
    if arrives == "before the edit":
        running.release()
    running.edit("main.py", (sample / "main.py").read_text() + "\nx = 1\n")
    if arrives == "after the edit":
        meanwhile = running.once(kind, **asking)  # the new state is asked about already
        assert meanwhile.get(member) == new or is_late(meanwhile)
        running.release()
    for _ in range(2):
        assert running.call(kind, **asking)[member] == new


# B2: a token that was changed or cleared stayed valid.


def test_b2_a_changed_token_is_the_only_one_at_once(start: Start) -> None:
    running = start(documentSymbols=[[]])
    before, after = running.rotate()

    def status(token: str) -> int:
        headers = {"authorization": f"Bearer {token}"}
        return running.server.request(PING, headers=headers).status

    assert (status(before), status(after)) == (401, 200)


def test_b2_cleared_tokens_let_nobody_in(windows: StartWindow) -> None:
    running = windows(documentSymbols=[[]])
    running.window.child.tell({"type": "tokens", "tokens": []})
    while running.server.request(PING).status != 401:
        pass
    assert running.server.request(PING).status == 401


# B3: a removed folder was still served and an added one denied.


def test_b3_folders_are_those_of_the_window(
    windows: StartWindow, sample: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "late.py").write_text("def late(): ...\n")
    theirs = (other / "late.py").as_uri()
    running = windows(documentSymbols=[[]])
    assert code(running.call("documentSymbols", uri=theirs)) == "WORKSPACE_DENIED"
    running.window.child.tell({"type": "folders", "roots": [str(sample), str(other)]})
    assert running.call("documentSymbols", uri=theirs)["symbols"] == []
    running.window.child.tell({"type": "folders", "roots": [str(other)]})
    assert code(running.call("documentSymbols", uri=main(sample))) == "WORKSPACE_DENIED"
    assert running.call("documentSymbols", uri=theirs)["symbols"] == []


# B4: asking opened the document, and that made the first page's cursor stale.


def test_b4_a_document_opened_by_asking_leaves_the_cursor_good(start: Start, sample: Path) -> None:
    running = start(references=[lines(sample, 3)])
    asking = {"uri": main(sample), "position": PLACE, "includeDeclaration": True, "pageSize": 1}
    first = running.call("references", **asking)
    if isinstance(running, ScriptedWindow):
        running.documents.append({"uri": main(sample), "open": True, "digest": "x"})
    second = running.once("references", **asking, cursor=first["nextCursor"])
    assert first["items"] + second["items"] == lines(sample, 2)


# B5: answers were remembered by the version of their own document alone.


def test_b5_diagnostics_that_change_without_an_edit_are_seen(
    windows: StartWindow, sample: Path
) -> None:
    running = windows(documentDiagnostics=[[problem("first")], [problem("second")]])
    asking = {"uri": main(sample)}
    seen = [running.call("diagnostics.document", **asking) for _ in range(2)]
    running.window.child.tell({"type": "diagnostics", "uris": [main(sample)]})
    seen.append(running.call("diagnostics.document", **asking))
    messages = [[item["message"] for item in answer["diagnostics"]] for answer in seen]
    assert messages == [["first"], ["first"], ["second"]]


@pytest.mark.parametrize(
    ("kind", "tool", "member"),
    [
        ("definition", "definition", "locations"),
        ("hover", "hover", "contents"),
        ("documentDiagnostics", "diagnostics.document", "diagnostics"),
    ],
)
def test_b5_an_edit_in_another_file_is_seen(
    start: Start, sample: Path, kind: str, tool: str, member: str
) -> None:
    answers: dict[str, list[Any]] = {
        "definition": [lines(sample, 1), lines(sample, 1, 2)],
        "hover": [markdown("first"), markdown("second")],
        "documentDiagnostics": [[problem("first")], [problem("second")]],
    }
    running = start(**{kind: answers[kind]})
    asking = {"uri": main(sample)} | ({} if "Diag" in kind else {"position": PLACE})
    first = running.call(tool, **asking)[member]
    assert running.call(tool, **asking)[member] == first
    running.edit("shapes.py", "\n" + (sample / "shapes.py").read_text())
    second = running.call(tool, **asking)[member]
    assert first != second and running.asked(kind) == 2


# B6: document symbols had no total order, and duplicates that were not neighbours stayed.


def test_b6_symbols_with_equal_keys_have_one_order_and_each_is_there_once(
    start: Start, sample: Path
) -> None:
    def symbol(selected: int) -> dict[str, Any]:
        place = {"range": span(0, 0, 9), "selectionRange": span(0, selected, selected + 1)}
        return {"name": "same", "kind": 12, "children": []} | place

    one, two = symbol(1), symbol(2)
    running = start(documentSymbols=[[two, one, two], [one, two, one]] * 4)
    first = running.call("documentSymbols", uri=main(sample))
    for round_ in range(3):
        asked = running.asked("documentSymbols")
        running.edit("shapes.py", f"x = {round_}\n")
        again = running.call("documentSymbols", uri=main(sample))
        assert running.asked("documentSymbols") > asked
        assert json.dumps(first) == json.dumps(again)
    selected = [found["selectionRange"]["start"]["character"] for found in first["symbols"]]
    assert selected == [1, 2]


# B7: the bytes of a kept list were fewer than the items it was allowed to have.


def test_b7_twenty_thousand_references_are_paged_to_their_end(start: Start, sample: Path) -> None:
    running = start(references=[lines(sample, 20_000)])
    asking = {"uri": main(sample), "position": PLACE, "includeDeclaration": True, "pageSize": 200}
    page = running.call("references", **asking)
    found: list[Any] = list(page["items"])
    while page["nextCursor"] is not None:
        page = running.once("references", **asking, cursor=page["nextCursor"])
        if "code" in page:
            assert code(page) == "CURSOR_EXPIRED", page  # a slow machine; the list is made again
            page = running.call("references", **asking)
            found = list(page["items"])
            continue
        found += page["items"]
    assert found == lines(sample, 20_000)


# B8: the time limit was not hard: work that overran it was still answered with.


def test_b8_what_is_found_past_the_limit_is_an_error_and_the_retry_has_it(
    start: Start, sample: Path
) -> None:
    """The program is held up with the answer already in its pipe, as if it were busy with it."""
    running = start({"request_timeout_ms": LIMIT_MS}, hover=[markdown("warm"), Late(markdown("x"))])
    asking = {"uri": main(sample), "position": PLACE}
    assert running.call("hover", **asking)["contents"] == markdown("warm")
    running.edit("shapes.py", "x = 1\n")
    for _ in range(50):  # on a busy machine the time may be up before anybody is asked
        calling, outcomes = running.in_background("hover", **asking)
        while running.asked("hover") < 2 and calling.is_alive():
            pass
        if running.asked("hover") == 2:
            break
    with running.stopped():
        running.release()
        threading.Event().wait(2 * LIMIT_MS / 1000)  # not for something: the time itself must pass
    calling.join(HANG_S)
    assert is_late(outcomes[0]), outcomes
    for _ in range(2):
        assert running.call("hover", **asking)["contents"] == markdown("x")


def test_b8_the_same_question_has_the_same_outcome_however_often_it_is_late(
    start: Start, sample: Path
) -> None:
    """As many as may be looked at, of which most are the same: late, or all of them."""
    many = lines(sample, 20_000) * 4
    running = start({"request_timeout_ms": LIMIT_MS}, references=[many])
    asking = {"uri": main(sample), "position": PLACE, "includeDeclaration": True, "pageSize": 1}
    for round_ in range(3):
        running.edit("shapes.py", f"x = {round_}\n")
        first = running.once("references", **asking)
        assert "items" in first or is_late(first), first
        page = running.call("references", **asking)
        assert (page["items"], page["nextCursor"] is None) == (lines(sample, 1), False)


# B9: the documents contradicted each other and the code. What holds here, in both sources:


def test_b9_a_setting_above_its_maximum_is_lowered_and_said(start: Start) -> None:
    running = start({"request_timeout_ms": 60_000}, hover=[markdown("x")])
    running.until_warned("request_timeout_ms was lowered from 60000 to its maximum, 2000")


def test_b9_a_page_above_its_maximum_is_lowered_and_never_refused(
    start: Start, sample: Path
) -> None:
    running = start(references=[lines(sample, 300)])
    asking = {"uri": main(sample), "position": PLACE, "includeDeclaration": True}
    for huge in (201, 10**9):
        assert len(running.call("references", **asking, pageSize=huge)["items"]) == 200


def test_b9_schemas_have_no_default_no_page_maximum_and_no_reference(start: Start) -> None:
    running = start(hover=[markdown("x")])
    session = running.server.initialize()
    listing = running.server.say({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, session).json
    for tool in listing["result"]["tools"]:
        schemas = [tool["inputSchema"], tool["outputSchema"]]
        assert not _members(schemas) & {"default", "$ref", "$defs"}, tool["name"]
        page = tool["inputSchema"]["properties"].get("pageSize", {"minimum": 1})
        assert page["minimum"] == 1 and "maximum" not in page


def _members(schema: Any) -> set[str]:
    """The words of a schema. No property of ours has the name of one that is looked for."""
    if isinstance(schema, dict):
        return set(schema).union(*map(_members, schema.values()))
    return set().union(*map(_members, schema)) if isinstance(schema, list) else set()


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "https://example.invalid/a.py", "main.py"])
def test_b9_what_is_no_file_uri_has_one_code(start: Start, uri: str) -> None:
    running = start(documentSymbols=[[]])
    assert code(running.call("documentSymbols", uri=uri)) == "URI_INVALID"


def test_b9_a_session_that_is_not_ready_is_served_ping_alone(start: Start) -> None:
    running = start(hover=[markdown("x")])
    server = running.server
    session = ledger.secret(server.request(initialize()).headers["mcp-session-id"])
    assert server.say(PING, session).json["result"] == {}
    for method in ("tools/list", "tools/call"):
        assert server.say(PING | {"method": method}, session).json["error"]["code"] == -32600


def test_b9_a_function_is_12_and_content_is_empty(start: Start, sample: Path) -> None:
    place = {"range": span(0, 0, 9), "selectionRange": span(0, 4, 8)}
    running = start(documentSymbols=[[{"name": "f", "kind": 12, "children": []} | place]])
    uri = main(sample)
    assert running.call("documentSymbols", uri=uri)["symbols"][0]["kind"] == 12
    whole = running.server.call("vscode.lsp.documentSymbols", {"uri": uri})
    assert whole["result"]["content"] == []


# B10: a page of 200 rich items that did not fit was an error.


def test_b10_a_page_that_does_not_fit_is_shorter_and_nothing_is_lost(
    start: Start, sample: Path
) -> None:
    running = start({"max_response_bytes": 16_384}, references=[lines(sample, 400)])
    asking = {"uri": main(sample), "position": PLACE, "includeDeclaration": True, "pageSize": 200}
    page = running.call("references", **asking)
    assert 0 < len(page["items"]) < 200
    found = list(page["items"])
    while page["nextCursor"] is not None:
        page = running.call("references", **asking, cursor=page["nextCursor"])
        found += page["items"]
    assert found == lines(sample, 400)
