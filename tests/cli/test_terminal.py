"""Whatever a project's files are called and hold, a terminal shows text of it and obeys nothing.

Every command that prints something about a project runs on a terminal, in a project made for harm.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.http import free_port
from tests.support.program import command, environment, run
from tests.support.watching import HANG_S

HARM = "\x1b]0;PWN\x07\x9b31m\u202e\u2066\x7f\x85"
#: A line end in a name must not make a line of ours.
FORGED = "x\nforged"
NAMED = f"needle{HARM}{FORGED}"
SOURCE = f"def needle(): pass  # {HARM}\n# needle\r# forged\n"
#: What we write ourselves: to the beginning of the line, and what is there is gone.
OUR_OWN = "\r\x1b[K"
UNSEEN = re.compile("[^\n\r -~\u00a1-\u167f\u2010-\u2027\u2030-\u205e\u2100-\ud7ff]")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    root = tmp_path / f"root{HARM}{FORGED}"
    root.mkdir()
    for name in (f"{NAMED}.py", f"{NAMED}.md"):
        (root / name).write_text(SOURCE, encoding="utf-8", newline="")
    (root / f"{NAMED}.bin").write_bytes(b"\0" * 64)
    (root / "node_modules").mkdir()
    (root / f".venv{HARM}").mkdir()
    (root / f".venv{HARM}" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    return root


def on_a_terminal(home: Path, folder: Path, *arguments: str) -> Iterator[str]:
    """What a command shows, without what Sightline itself does to the cursor."""
    ours, theirs = os.openpty()
    variables = environment(home, {"TERM": "xterm", "COLUMNS": "120"})
    process = subprocess.Popen(
        [*command(), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=variables,
        cwd=folder,
    )
    os.close(theirs)
    seen = b""
    with suppress(OSError):  # how the end of a terminal is told
        while chunk := os.read(ours, 65_536):
            seen += chunk
    os.close(ours)
    assert process.wait(60) != 7, seen
    yield from seen.decode("utf-8").replace(OUR_OWN, "").replace("\r\n", "\n").split("\n")


LIVE = ["--cache", "workspace:.", "--query", "needle", "--budget", "500"]
QUERY = '{"query": "needle"}'
COMMANDS = {
    "index build": ["index", "build"],
    "index build json": ["index", "build", "--json"],
    "index search": ["index", "search", "needle", "--explain"],
    "index search text": ["index", "search", "needle", "--mode", "literal"],
    "index search json": ["index", "search", "needle", "--json"],
    "index status": ["index", "status"],
    "call": ["call", "search", QUERY],
    "call lines": ["call", "vscode.lsp.workspaceSymbols", QUERY, "--lines"],
    "doctor": ["doctor"],
    "doctor json": ["doctor", "--json"],
    "trust": ["trust", "."],
    "untrust": ["untrust", "."],
    "untrust again": ["untrust", "."],
    "status": ["status"],
    "roots": ["roots"],
    "context resolve": ["context", "resolve", *LIVE],
    "context explain": ["context", "explain", *LIVE],
    "context build": ["context", "build", "--sources", ".", "--cache", f"../cache{HARM}"],
    "context inspect": ["context", "inspect", "--cache", f"../cache{HARM}"],
    "context missing": ["context", "inspect", "--cache", f"../{NAMED}"],
    "no such root": ["index", "build", NAMED],
    "no such argument": ["doctor", "--x", NAMED],
    "no such command": [NAMED],
    "bad setting": ["index", "status", "--set", f"{NAMED}=1"],
    "settings": ["settings"],
}  # fmt: skip


@pytest.mark.slow
def test_every_command_in_a_hostile_project(home: Path, hostile: Path) -> None:
    wrong = {}
    for name, arguments in COMMANDS.items():
        lines = list(on_a_terminal(home, hostile, *arguments))
        bad = [line for line in lines if UNSEEN.search(line) or "\r" in line]
        bad += [line for line in lines if line.startswith("forged")]
        assert any(lines), name
        if bad:
            wrong[name] = bad
    assert wrong == {}


def test_a_running_server_and_its_status(home: Path, hostile: Path) -> None:
    ours, theirs = os.openpty()
    variables = environment(home, {"TERM": "xterm"})
    process = subprocess.Popen(
        [*command(), "serve", "--port", str(free_port()), "."],
        stderr=theirs,
        env=variables,
        cwd=hostile,
    )
    try:
        banner = os.read(ours, 4096).decode()
        shown = [*banner.replace("\r\n", "\n").split("\n")]
        for arguments in (["status"], ["status", "--json"], ["roots"], ["roots", "add", NAMED]):
            shown += on_a_terminal(home, hostile, *arguments)
    finally:
        process.terminate()
        process.wait(HANG_S)
        os.close(ours)
        os.close(theirs)
    assert any("root" in line for line in shown)
    assert [line for line in shown if UNSEEN.search(line) or line.startswith("forged")] == []


def test_a_person_is_told_how_to_replace_a_cache(home: Path, tmp_path: Path) -> None:
    """Programs get the words of the command it stands in for, and nothing else."""
    (tmp_path / "docs").mkdir()
    words = ["context", "build", "--sources", "docs", "--cache", "made"]
    list(on_a_terminal(home, tmp_path, *words))
    said = list(on_a_terminal(home, tmp_path, *words))
    there = "error: I/O error: Output directory already exists: made"
    assert said == [there, "--force replaces a cache that is there", ""]
    assert run(home, *words, cwd=tmp_path).stderr == f"{there}\n"
