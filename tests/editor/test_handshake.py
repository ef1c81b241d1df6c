"""The first message decides what is served; anything wrong with it is refused with a code."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor import TOKEN, EditorChild, ScriptedEditor, hello
from tests.support.http import free_port
from tests.support.program import run
from tests.support.watching import HANG_S


def refused(home: Path, first: bytes | dict[str, Any]) -> tuple[dict[str, Any], int]:
    """What a child says to a first message, and its exit code."""
    child = EditorChild.spawn([], home)
    child.tell(first)
    assert child.next("welcome") == {"type": "welcome", "bridge": 1, "version": "0.1.0"}
    said = child.next("refused", "end")
    code = child.process.wait(HANG_S)
    child.stop()
    return said, code


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"bridge": 2}, "bridge"),
        ({"trusted": False}, "trust"),
        ({"tokens": []}, "tokens"),
        ({"tokens": ["  "]}, "tokens"),
        ({"tokens": ["t" * 5000]}, "tokens"),
        ({"tokens": [f"t{i}" for i in range(33)]}, "tokens"),
        ({"roots": []}, "roots"),
        ({"roots": ["relative"]}, "roots"),
        ({"roots": ["/"]}, "roots"),
        ({"settings": {"port": 80}}, "settings"),
        ({"settings": {"bind_address": "0.0.0.0"}}, "settings"),
        ({"settings": {"endpoint_path": "/other"}}, "settings"),
        ({"settings": {"request_timeout_ms": "soon"}}, "settings"),
        ({"settings": {"no_such_setting": 1}}, "settings"),
    ],
    ids=lambda value: json.dumps(value)[:40],
)
def test_a_bad_hello_is_refused(
    home: Path, sample: Path, change: dict[str, Any], code: str
) -> None:
    said, status = refused(home, hello([sample], free_port(), **change))
    assert (said["type"], said["code"], status) == ("refused", code, 3)
    assert TOKEN not in json.dumps(said)


@pytest.mark.parametrize("first", [b"junk\n", b"{}\n", b'{"type":"text","uri":"x"}\n', b"\xff\n"])
def test_something_else_than_hello_is_refused(home: Path, first: bytes) -> None:
    said, status = refused(home, first)
    assert (said["code"], status) == ("hello", 3)


def test_an_editor_that_leaves_without_a_word_ends_the_child(home: Path) -> None:
    child = EditorChild.spawn([], home)
    child.next("welcome")
    assert child.ended() == 0
    child.stop()


def test_a_taken_port_is_told(home: Path, sample: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        said, status = refused(home, hello([sample], taken.getsockname()[1]))
    assert (said["code"], status) == ("port", 3)


def test_settings_above_a_maximum_are_clamped_and_told(home: Path, sample: Path) -> None:
    child = EditorChild.spawn([], home)
    child.tell(hello([sample], child.port, settings={"request_timeout_ms": 60_000}))
    child.next("welcome")
    ready = child.next("ready")
    assert ready["warnings"] == ["request_timeout_ms was lowered from 60000 to its maximum, 2000"]
    child.stop()


def test_exactly_the_seven_tools_unless_a_setting_says_otherwise(home: Path, sample: Path) -> None:
    editor = ScriptedEditor.start(sample, home)
    session = editor.child.initialize()
    listed = editor.child.say({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, session).json
    assert [tool["name"] for tool in listed["result"]["tools"]] == [
        "vscode.lsp.definition",
        "vscode.lsp.references",
        "vscode.lsp.hover",
        "vscode.lsp.documentSymbols",
        "vscode.lsp.workspaceSymbols",
        "vscode.lsp.diagnostics.document",
        "vscode.lsp.diagnostics.workspace",
    ]
    editor.child.stop()


def test_the_token_is_nowhere_but_in_the_message(home: Path, sample: Path) -> None:
    editor = ScriptedEditor.start(sample, home)
    pid = editor.child.process.pid
    for place in ("cmdline", "environ"):
        assert TOKEN.encode() not in Path(f"/proc/{pid}/{place}").read_bytes()
    editor.child.request(b"{}", headers={"authorization": f"Bearer {TOKEN}"})
    editor.child.stop()
    for file in home.rglob("*"):
        assert not file.is_file() or TOKEN.encode() not in file.read_bytes()
    assert TOKEN not in editor.child.log.whole()


def test_people_are_not_told_of_the_source(home: Path) -> None:
    assert "--source" not in run(home, "serve", "--help").stdout
