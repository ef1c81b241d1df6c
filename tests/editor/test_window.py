"""What happens in the window is in the next answer: tokens, folders, trust, unsaved text."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor import TOKEN, Fails, ScriptedEditor
from tests.support.http import alive
from tests.support.watching import HANG_S

Start = Callable[..., ScriptedEditor]

PING = {"jsonrpc": "2.0", "id": 0, "method": "ping"}
NEW = "another-token-0123456789abcdefghijklmnopqr"


def told(**more: Any) -> dict[str, Any]:
    return {"language": "python", "loaded": True} | more


def location(uri: str, line: int, start: int, end: int) -> dict[str, Any]:
    span = {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
    return {"uri": uri, "range": span}


def status_with(editor: ScriptedEditor, token: str) -> int:
    return editor.child.request(PING, headers={"authorization": f"Bearer {token}"}).status


def test_rotated_tokens_are_valid_at_once_and_old_ones_are_not(editor: Start) -> None:
    window = editor()
    assert (status_with(window, TOKEN), status_with(window, NEW)) == (200, 401)
    window.child.tell({"type": "tokens", "tokens": [NEW]})
    window.child.tokens = [NEW]
    window.call("documentSymbols", uri="file:///nowhere")  # the child has read what came before
    assert (status_with(window, TOKEN), status_with(window, NEW)) == (401, 200)


@pytest.mark.parametrize("tokens", [[], [""], ["x" * 5_000]])
def test_tokens_that_are_none_close_the_door(editor: Start, tokens: list[str]) -> None:
    window = editor()
    session = window.child.initialize()
    window.child.tell({"type": "tokens", "tokens": tokens})
    message = PING | {"id": 1}
    while window.child.say(message, session).status != 401:
        pass
    assert status_with(window, TOKEN) == 401


def test_a_removed_folder_is_denied_and_an_added_one_served_at_once(
    editor: Start, sample: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "late.py").write_text("def late(): ...\n")
    ours, theirs = (sample / "main.py").as_uri(), (other / "late.py").as_uri()
    symbol = {"name": "late", "kind": 12, "range": location("", 0, 0, 15)["range"]}
    window = editor({"documentSymbols": lambda question: told(symbols=[symbol])})
    assert window.call("documentSymbols", uri=theirs)["data"]["code"].endswith("WORKSPACE_DENIED")
    window.child.tell({"type": "folders", "roots": [str(other)]})
    assert window.call("documentSymbols", uri=theirs)["symbols"][0]["name"] == "late"
    assert window.call("documentSymbols", uri=ours)["data"]["code"].endswith("WORKSPACE_DENIED")


@pytest.mark.parametrize(
    "message", [{"type": "trust", "trusted": False}, {"type": "folders", "roots": []}]
)
def test_without_trust_or_a_folder_the_child_ends(editor: Start, message: Any) -> None:
    window = editor()
    window.child.tell(message)
    assert window.child.process.wait(HANG_S) == 0


def test_the_child_ends_with_its_input(editor: Start, sample: Path) -> None:
    window = editor({"hover": lambda question: NotImplemented})
    pid = window.child.process.pid
    assert window.child.ended() == 0, window.child.log.so_far()
    assert not alive(pid)


@pytest.mark.parametrize("line", [b"junk\n", b'{"type":"hello"}\n', b'{"type":"other"}\n'])
def test_what_is_not_of_the_bridge_ends_it(editor: Start, line: bytes) -> None:
    window = editor()
    window.child.tell(line)
    assert window.child.process.wait(HANG_S) == 3


def test_a_message_that_is_too_large_ends_it(editor: Start) -> None:
    window = editor()
    window.child.tell(b'{"type":"text","uri":"' + b"x" * (17 << 20) + b'"}\n')
    assert window.child.process.wait(HANG_S) == 3


def test_unsaved_text_is_what_positions_are_checked_against(editor: Start, sample: Path) -> None:
    uri = (sample / "main.py").as_uri()
    text = "\n" * 50 + (sample / "main.py").read_text()
    states = [[{"uri": uri, "open": True, "dirty": True, "digest": "", "text": text}]]
    window = editor(
        {
            "sync": lambda _: {"documents": states.pop() if states else []},
            "hover": lambda _: told(contents=[{"kind": "markdown", "value": "here"}]),
        }
    )
    found = window.call("hover", uri=uri, position={"line": 52, "character": 7})
    assert found["contents"] == [{"kind": "markdown", "value": "here"}]
    beyond = window.call("hover", uri=uri, position={"line": 54, "character": 0})
    assert beyond["data"]["code"].endswith("NOT_FOUND")


def test_an_unsaved_text_that_is_too_large_cannot_be_asked_about(
    editor: Start, sample: Path
) -> None:
    uri = (sample / "main.py").as_uri()
    document = {"uri": uri, "open": True, "dirty": True, "digest": "", "text": None}
    window = editor({"sync": lambda _: {"documents": [document]}})
    assert window.call("documentSymbols", uri=uri)["data"]["code"].endswith("NOT_FOUND")


def references(editor: ScriptedEditor, uri: str, cursor: str | None = None) -> Any:
    position = {"line": 2, "character": 7}
    more = {} if cursor is None else {"cursor": cursor}
    return editor.call(
        "references", uri=uri, position=position, includeDeclaration=True, pageSize=1, **more
    )


def test_opening_a_document_moves_nothing_and_editing_it_makes_cursors_stale(
    editor: Start, sample: Path
) -> None:
    uri = (sample / "main.py").as_uri()
    found = [location(uri, 0, 19, 23), location(uri, 2, 6, 10)]
    documents: list[list[dict[str, Any]]] = []
    window = editor(
        {
            "sync": lambda _: {"documents": documents.pop() if documents else []},
            "references": lambda _: told(locations=found),
        }
    )
    first = references(window, uri)
    documents.append([{"uri": uri, "open": True, "dirty": False, "digest": "x"}])
    second = references(window, uri, first["nextCursor"])
    assert (first["items"], second["items"], second["nextCursor"]) == ([found[0]], [found[1]], None)
    edited = {"uri": uri, "open": True, "dirty": True, "text": (sample / "main.py").read_text()}
    documents.append([edited])
    stale = references(window, uri, first["nextCursor"])
    assert stale["data"]["code"].endswith("CURSOR_STALE")


def test_diagnostics_that_change_without_an_edit_are_seen(editor: Start, sample: Path) -> None:
    uri = (sample / "main.py").as_uri()
    message = ["first"]

    def report(_: Any) -> Any:
        item = {"range": location(uri, 0, 0, 4)["range"], "message": message[0], "severity": 2}
        return told(diagnostics=[item])

    window = editor({"documentDiagnostics": report})
    first = window.call("diagnostics.document", uri=uri)
    again = window.call("diagnostics.document", uri=uri)
    assert first == again and len(window.said("documentDiagnostics")) == 1
    message[0] = "second"
    window.child.tell({"type": "diagnostics", "uris": [uri]})
    found = window.call("diagnostics.document", uri=uri)["diagnostics"]
    assert [item["message"] for item in found] == ["second"]


def test_other_extensions_make_remembered_answers_old(editor: Start, sample: Path) -> None:
    uri = (sample / "main.py").as_uri()
    window = editor({"documentSymbols": lambda _: told(symbols=[])})
    for _ in range(2):
        window.call("documentSymbols", uri=uri)
    assert len(window.said("documentSymbols")) == 1
    window.child.tell({"type": "restarted", "identity": "2"})
    window.call("documentSymbols", uri=uri)
    assert len(window.said("documentSymbols")) == 2


def test_a_document_behind_a_link_is_asked_about_as_the_window_spells_it(
    home: Path, sample: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(sample)
    uri = (link / "main.py").as_uri()
    here = [location(uri, 2, 6, 10)]
    script = {"definition": lambda _: told(locations=here)}
    window = ScriptedEditor.start(sample, home, script, roots=[link])
    found = window.call("definition", uri=uri, position={"line": 2, "character": 7})
    assert found["locations"][0]["uri"] == (sample / "main.py").as_uri()
    assert [question["uri"] for question in window.said("definition")] == [uri]
    window.child.stop()


def test_locations_outside_the_folders_are_dropped_and_counted(editor: Start, sample: Path) -> None:
    uri = (sample / "main.py").as_uri()
    outside = location("file:///usr/lib/secret.py", 0, 0, 1)
    elsewhere = location("untitled:Untitled-1", 0, 0, 1)
    window = editor(
        {"definition": lambda _: told(locations=[outside, elsewhere, location(uri, 0, 0, 4)])}
    )
    found = window.call("definition", uri=uri, position={"line": 2, "character": 7})
    assert [item["uri"] for item in found["locations"]] == [uri]
    assert found["summary"] == (
        "Found 1 definition. 1 outside the workspace not shown. "
        "1 in unsaved or virtual documents not shown."
    )
    assert "secret" not in json.dumps(found)


@pytest.mark.parametrize(
    ("kind", "code", "retryable"),
    [
        ("notReady", "CAP_EXCEEDED", True),
        ("unavailable", "PROVIDER_UNAVAILABLE", None),
        ("notFound", "NOT_FOUND", None),
        ("tooMany", "CAP_EXCEEDED", None),
        ("internal", "PROVIDER_UNAVAILABLE", None),
    ],
)
def test_each_failure_of_the_editor_has_its_code(
    editor: Start, sample: Path, kind: str, code: str, retryable: bool | None
) -> None:
    def fail(_: Any) -> Any:
        raise Fails(kind, "the reason")

    window = editor({"documentSymbols": fail})
    error = window.once("documentSymbols", uri=(sample / "main.py").as_uri())
    assert error["data"]["code"] == f"MCP_LSP_GATEWAY/{code}"
    assert error["data"].get("details", {}).get("retryable") == retryable


@pytest.mark.parametrize(
    "result",
    [None, [], {"locations": [{}]}, {"locations": [{"uri": 1}]}, told(locations="all of them")],
)
def test_an_answer_that_cannot_be_used_is_nobodys_answer(
    editor: Start, sample: Path, result: Any
) -> None:
    window = editor({"definition": lambda _: result})
    uri = (sample / "main.py").as_uri()
    error = window.once("definition", uri=uri, position={"line": 2, "character": 7})
    assert error["data"]["code"].endswith("PROVIDER_UNAVAILABLE")


def test_twenty_thousand_references_come_through(editor: Start, sample: Path) -> None:
    uri = (sample / "main.py").as_uri()
    many = [location(uri, line, 0, 4) for line in range(20_000)]
    window = editor({"references": lambda _: told(locations=many)})
    position = {"line": 2, "character": 7}
    page = window.call(
        "references", uri=uri, position=position, includeDeclaration=True, pageSize=200
    )
    assert page["items"] == many[:200]
    assert page["nextCursor"] is not None
