"""An answer belongs to the state its call began in, on disk and in the window."""

import asyncio
import threading
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pytest

from sightline.editor.announcements import ASK_AFTER_S, GIVE_UP_AFTER_S, Announcements
from sightline.editor.window import text_digest
from sightline.workspace.changes import Change, Kind
from tests.editor.test_believing import announce
from tests.editor.test_window import location, told
from tests.support.editor import ScriptedEditor
from tests.support.watching import HANG_S

Start = Callable[..., ScriptedEditor]


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def nobody(paths: list[str]) -> Collection[str]:
    return []


def written_ms(file: Path) -> int:
    return file.stat().st_ctime_ns // 1_000_000


async def test_a_change_is_expected_until_somebody_was_told_after_it(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    announcements = Announcements(Clock())
    announcements.expect([Change(str(file), Kind.CHANGED)])
    announcements.told(str(file), Kind.CHANGED, written_ms(file) - 1)
    assert len(announcements) == 1, "they were told before it was written"
    announcements.told(str(file), Kind.CHANGED, written_ms(file))
    await announcements.settled(nobody)


async def test_an_announcement_that_came_first_covers_the_change(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    announcements = Announcements(Clock())
    announcements.told(str(file), Kind.CREATED, written_ms(file) + 5)
    announcements.expect([Change(str(file), Kind.CREATED)])
    assert len(announcements) == 0


@pytest.mark.parametrize(("told", "left"), [(Kind.DELETED, 0), (Kind.CHANGED, 1)])
async def test_a_deleted_file_waits_for_its_deletion(tmp_path: Path, told: int, left: int) -> None:
    announcements = Announcements(Clock())
    announcements.expect([Change(str(tmp_path / "gone.py"), Kind.DELETED)])
    announcements.told(str(tmp_path / "gone.py"), told, 1)
    assert len(announcements) == left


async def test_a_folder_stands_for_what_is_in_it(tmp_path: Path) -> None:
    file = tmp_path / "new" / "a.py"
    file.parent.mkdir()
    file.write_text("x = 1\n")
    announcements = Announcements(Clock())
    announcements.expect([Change(str(file), Kind.CREATED)])
    announcements.told(str(file.parent), Kind.CHANGED, written_ms(file) + 5)
    assert len(announcements) == 1
    announcements.told(str(file.parent), Kind.CREATED, written_ms(file) + 5)
    assert len(announcements) == 0


async def test_files_that_are_not_watched_are_not_waited_for(tmp_path: Path) -> None:
    clock = Clock()
    paths = [str(tmp_path / name) for name in ("kept.py", "left.py")]
    announcements = Announcements(clock)
    announcements.expect([Change(path, Kind.DELETED) for path in paths])
    clock.now += ASK_AFTER_S

    async def unwatched(asked: list[str]) -> Collection[str]:
        announcements.told(paths[0], Kind.DELETED, 1)
        assert asked == paths
        return [paths[1]]

    async with asyncio.timeout(HANG_S):
        await announcements.settled(unwatched)
    assert announcements.given_up == 0


async def test_what_is_never_announced_is_given_up_and_counted(tmp_path: Path) -> None:
    clock = Clock()
    announcements = Announcements(clock)
    announcements.expect([Change(str(tmp_path / "never.py"), Kind.DELETED)])
    clock.now += GIVE_UP_AFTER_S
    await announcements.settled(nobody)
    assert announcements.given_up == 1


def test_a_change_on_disk_holds_answers_back_until_it_is_announced(
    editor: Start, sample: Path
) -> None:
    uri = (sample / "main.py").as_uri()
    here = [location(uri, 0, 0, 4)]
    window = editor({"definition": lambda _: told(locations=here)})
    position = {"line": 0, "character": 20}
    assert window.once("definition", uri=uri, position=position)["locations"] == here
    changed = sample / "shapes.py"
    changed.write_text(changed.read_text() + "\n")
    error = window.once("definition", uri=uri, position=position)
    assert error["data"]["details"]["waitingFor"] == "the editor to notice changes on disk"
    assert len(window.said("definition")) == 1, "nothing was asked while it would be stale"
    announce(window, changed, 2)
    assert window.call("definition", uri=uri, position=position)["locations"] == here


def test_a_saved_document_must_be_loaded_again_by_the_window(editor: Start, sample: Path) -> None:
    main = sample / "main.py"
    uri = main.as_uri()
    document = {"uri": uri, "open": True, "dirty": False, "digest": text_digest(main.read_text())}
    window = editor(
        {
            "sync": lambda _: {"documents": [document]},
            "documentSymbols": lambda _: told(symbols=[]),
        }
    )
    assert window.once("documentSymbols", uri=uri)["symbols"] == []
    main.write_text("x = 1\n" + main.read_text())
    announce(window, main, 2)
    error = window.once("documentSymbols", uri=uri)
    assert (
        error["data"]["details"]["waitingFor"] == "the editor to load a file that changed on disk"
    )
    document["digest"] = text_digest(main.read_text())
    window.child.tell({"type": "text", "uri": uri})
    assert window.call("documentSymbols", uri=uri)["symbols"] == []


def test_line_ends_and_a_byte_order_mark_are_no_difference() -> None:
    assert text_digest("\ufeffa\r\nb\rc\n") == text_digest("a\nb\nc\n")


def test_an_answer_from_another_state_is_asked_for_again(editor: Start, sample: Path) -> None:
    uri, other = (sample / "main.py").as_uri(), (sample / "shapes.py").as_uri()
    answers = [location(uri, 0, 0, 1), location(uri, 0, 0, 4)]

    def define(_: Any) -> Any:
        if len(answers) > 1:
            window.child.tell({"type": "text", "uri": other})
        return told(locations=[answers.pop(0)])

    window = editor({"definition": define})
    found = window.once("definition", uri=uri, position={"line": 2, "character": 7})
    assert found["locations"] == [location(uri, 0, 0, 4)]


def test_a_document_edited_during_its_question_is_refused(editor: Start, sample: Path) -> None:
    uri = (sample / "main.py").as_uri()
    edits: list[dict[str, Any]] = []

    def define(_: Any) -> Any:
        edits.append({"uri": uri, "open": True, "dirty": True, "text": "\n" + text})
        window.child.tell({"type": "text", "uri": uri})
        return told(locations=[location(uri, 0, 0, 4)])

    text = (sample / "main.py").read_text()
    window = editor({"definition": define, "sync": lambda _: {"documents": edits[-1:]}})
    error = window.once("definition", uri=uri, position={"line": 2, "character": 7})
    assert error["data"]["details"]["waitingFor"].startswith("the workspace to stay unchanged")


def test_a_cancelled_question_is_cancelled_in_the_window_and_its_answer_dropped(
    editor: Start, sample: Path
) -> None:
    uri = (sample / "main.py").as_uri()
    window = editor({"hover": lambda _: NotImplemented})
    child = window.child
    session = child.initialize()
    arguments = {"uri": uri, "position": {"line": 2, "character": 7}}
    params = {"name": "vscode.lsp.hover", "arguments": arguments}
    answers: list[Any] = []
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    asking = threading.Thread(target=lambda: answers.append(child.say(call, session).json))
    asking.start()
    question = window.until_said("hover")["id"]
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
    child.say(cancel, session)
    assert window.cancelled.get(timeout=HANG_S) == question
    asking.join(HANG_S)
    assert answers[0]["error"]["data"]["code"].endswith("CANCELLED")
    late = told(contents=[{"kind": "markdown", "value": "late"}])
    child.tell({"type": "answer", "id": question, "result": late})
    window.script["hover"] = lambda _: told(contents=[{"kind": "markdown", "value": "new"}])
    found = window.once("hover", **arguments)
    assert found["contents"] == [{"kind": "markdown", "value": "new"}]
