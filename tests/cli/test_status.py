"""``sightline status``: a page, a line for programs, and a live screen on a real terminal."""

import contextlib
import json
import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sightline.cli.screen import fitted
from sightline.cli.status_page import page
from tests.support.http import HttpServer
from tests.support.program import command, environment, run
from tests.support.watching import HANG_S

ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"
_LIMIT_S = HANG_S


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self._ours, theirs = pty.openpty()
        self._theirs = theirs
        self.before = termios.tcgetattr(theirs)
        termios.tcsetwinsize(theirs, (24, 160))
        self.process = subprocess.Popen(
            command(*arguments),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment(home, {"TERM": "xterm"}),
            cwd=home,
            start_new_session=True,
        )
        self.text = ""

    def until(self, pattern: str) -> str:
        """Reads on until the pattern came."""
        deadline = time.monotonic() + _LIMIT_S
        while not re.search(pattern, self.text):
            assert time.monotonic() < deadline, f"{pattern} did not come:\n{self.text[-4000:]}"
            ready, _, _ = select.select([self._ours], [], [], _LIMIT_S)
            assert ready, f"{pattern} did not come:\n{self.text}"
            self.text += os.read(self._ours, 65536).decode()
        return self.text

    def press(self, key: str) -> None:
        os.write(self._ours, key.encode())

    def modes(self) -> list[Any]:
        return termios.tcgetattr(self._theirs)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(HANG_S)
        os.close(self._ours)
        os.close(self._theirs)


@pytest.fixture
def terminal(home: Path) -> Iterator[Callable[..., Terminal]]:
    with contextlib.ExitStack() as stack:

        def start(*arguments: str) -> Terminal:
            made = Terminal(home, *arguments)
            stack.callback(made.close)
            return made

        yield start


def test_the_screen_shows_calls_as_they_come_and_leaves_the_terminal_as_it_was(
    serve: Callable[..., HttpServer], terminal: Callable[..., Terminal], sample: Path
) -> None:
    server = serve(sample)
    server.initialize()
    watching = terminal("status", "--watch")
    seen = watching.until("none yet")
    assert ENTER in seen and str(sample) in seen and "(q ends)" in seen
    server.call("vscode.lsp.definition", {"uri": "file:///elsewhere", "position": {}})
    watching.until(r"m?s +\d+ B +vscode\.lsp\.definition +\w+")
    watching.press("q")
    watching.until(re.escape(LEAVE))
    assert watching.process.wait(HANG_S) == 0
    assert watching.modes() == watching.before


def test_interrupting_the_screen_leaves_the_terminal_as_it_was(
    terminal: Callable[..., Terminal],
) -> None:
    watching = terminal("status", "--watch")
    watching.until("nothing is running; start sightline serve")
    watching.process.send_signal(signal.SIGINT)
    watching.until(re.escape(LEAVE))
    assert watching.process.wait(HANG_S) == 130
    assert watching.modes() == watching.before


def test_the_page_shows_how_far_the_index_is(
    serve: Callable[..., HttpServer], home: Path, sample: Path
) -> None:
    server = serve(sample)
    server.initialize()
    server.call("index_build", {})
    shown = run(home, "status").stdout
    assert f"index    {sample}  ready, 2 files" in shown
    assert "Ok" not in shown and re.search(r"m?s +\S+ \S+ +index_build +ok", shown)


def test_the_page_tells_servers_apart(
    serve: Callable[..., HttpServer], terminal: Callable[..., Terminal], tmp_path: Path
) -> None:
    """Each with its folder, its process and what that takes."""
    roots = [tmp_path / "one", tmp_path / "two"]
    for root in roots:
        root.mkdir()
        (root / "a.py").write_text("x = 1\n")
    server = serve(*roots)
    server.initialize()
    watching = terminal("status", "--watch")
    for root in roots:
        server.call("vscode.lsp.documentSymbols", {"uri": (root / "a.py").as_uri()})
        watching.until(rf"server   ty \S+  ready  pid \d+, \d+\.\d MiB  \S+/{root.name}\b")


def test_a_server_fits_a_narrow_terminal_and_one_without_a_process_is_told() -> None:
    server = {"name": "ty", "version": "1", "state": "ready", "pending": 2}
    deep = f"/home/{'you/' * 30}project"
    stopped = server | {"state": "stopped", "pending": 0, "pid": None, "root": "/p"}
    running = server | {"pid": os.getpid(), "root": deep}
    _, first, second, *_ = page([program(servers=[running, stopped])], 0.0, width=80).splitlines()
    assert len(first) <= 80 and first.endswith("/project") and "ready, 2 pending  pid " in first
    assert second == "  server   ty 1  stopped  /p"


def test_programs_get_a_line_of_json_a_second(
    serve: Callable[..., HttpServer], home: Path, sample: Path
) -> None:
    serve(sample)
    with subprocess.Popen(
        command("status", "--watch", "--json"),
        stdout=subprocess.PIPE,
        text=True,
        env=environment(home),
    ) as watching:
        assert watching.stdout is not None
        reports = [json.loads(watching.stdout.readline()) for _ in range(2)]
        watching.send_signal(signal.SIGINT)
    assert [len(report) for report in reports] == [1, 1]
    assert reports[0][0]["roots"][0]["path"] == str(sample)
    assert watching.returncode == 130


def test_nothing_runs(home: Path) -> None:
    done = run(home, "status")
    assert done.returncode == 4 and "start sightline serve" in done.stderr
    assert json.loads(run(home, "status", "--json").stdout) == []


def program(**more: Any) -> dict[str, Any]:
    """What a program that did nothing yet would tell."""
    return {
        "transport": "serve",
        "pid": 1,
        "version": "1",
        "roots": [],
        "servers": [],
        "caches": {"answers": 0, "hits": 0, "retained": 0, "bytes": 0},
        "sessions": [],
        "calls": {"inFlight": 0, "outcomes": {}, "recent": []},
    } | more


def test_the_longest_call_fits_a_terminal_of_eighty_columns_and_what_matters_fits_sixty() -> None:
    call = {
        "at": 0.0,
        "ms": 999.94,
        "bytes": 1024 * 1024 - 1,
        "tool": "vscode.lsp.diagnostics.workspace",
        "outcome": "WorkspaceDenied",
    }
    told = program(calls={"inFlight": 0, "outcomes": {}, "recent": [call]})
    wide = page([told], 99.0, width=80).splitlines()[-1]
    narrow = page([told], 99.0, width=60).splitlines()[-1]
    assert len(wide) <= 80 and len(narrow) <= 60
    for part in ("99 s", "999.9 ms", "KiB", call["tool"], "workspace denied"):
        assert str(part) in wide
    for part in ("999.9 ms", call["tool"], "workspace denied"):
        assert str(part) in narrow


def test_the_end_of_a_long_path_is_what_a_narrow_terminal_shows() -> None:
    root = {"path": f"/home/{'you/' * 30}project", "files": 3, "changes": "changes announced"}
    line = page([program(roots=[root])], 0.0, width=60).splitlines()[1]
    assert len(line) <= 60 and "/project  (3 files, changes announced)" in line


def test_the_repository_around_a_root_has_a_line() -> None:
    root = {"path": "/p", "files": 3, "changes": "changes announced"}
    around = "not watched: it has more than 100,000 files"
    before = page([program(roots=[root])], 0.0, width=80).splitlines()
    lines = page([program(roots=[root | {"around": around}])], 0.0, width=80).splitlines()
    assert lines == [*before[:2], f"           rest of its repository {around}", *before[2:]]


def test_what_there_is_no_room_for_is_told() -> None:
    lines = [f"line {number}" for number in range(10)]
    assert fitted(lines, 80, 10) == lines
    assert fitted(lines, 80, 4) == [*lines[:3], "... 7 more lines: make the window taller"]
    assert fitted(["a line"], 5, 4) == ["a li…"]


def test_names_of_clients_cannot_write_to_the_terminal() -> None:
    sessions = ["\x1b]0;owned\x07", "\u202eevil"]
    assert "clients  ?]0;owned?, ?evil" in page([program(sessions=sessions)], 0.0)
