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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sightline.cli.status_page import page
from tests.support.http import HttpServer
from tests.support.program import command, environment, run

ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"
_LIMIT_S = 30


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self._ours, theirs = pty.openpty()
        self._theirs = theirs
        self.before = termios.tcgetattr(theirs)
        termios.tcsetwinsize(theirs, (24, 100))
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
        while not re.search(pattern, self.text):
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
        self.process.wait(10)
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
    watching.until(r"ms +\d+ B +\S+ +vscode\.lsp\.definition")
    watching.press("q")
    watching.until(re.escape(LEAVE))
    assert watching.process.wait(10) == 0
    assert watching.modes() == watching.before


def test_interrupting_the_screen_leaves_the_terminal_as_it_was(
    terminal: Callable[..., Terminal],
) -> None:
    watching = terminal("status", "--watch")
    watching.until("nothing is running; start sightline serve")
    watching.process.send_signal(signal.SIGINT)
    watching.until(re.escape(LEAVE))
    assert watching.process.wait(10) == 130
    assert watching.modes() == watching.before


def test_the_page_shows_how_far_the_index_is(
    serve: Callable[..., HttpServer], home: Path, sample: Path
) -> None:
    server = serve(sample)
    server.initialize()
    server.call("index_build", {})
    shown = run(home, "status").stdout
    assert f"index    {sample}  ready, 2 files" in shown
    assert "Ok" not in shown and re.search(r"ms +\S+ \S+ +ok +index_build", shown)


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


def test_names_of_clients_cannot_write_to_the_terminal() -> None:
    program: dict[str, Any] = {
        "transport": "serve",
        "pid": 1,
        "version": "1",
        "roots": [],
        "servers": [],
        "caches": {"answers": 0, "hits": 0, "retained": 0, "bytes": 0},
        "sessions": ["\x1b]0;owned\x07", "\u202eevil"],
        "calls": {"inFlight": 0, "outcomes": {}, "recent": []},
    }
    assert "clients  ?]0;owned?, ?evil" in page([program], 0.0)
