"""From a clone to the first answer, with real clients, as transcripts on a page.

    python -m tests.clients.first_answer      writes docs/evidence/first-answer.md

Everything a user types is run as it is on the page, in a home that is empty at the beginning. The
client's turn runs in a room without a network; its model is the stand-in of model.py, which asks
one question and repeats the answer.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.clients.installed import PROGRAMS, QUIET, path_with
from tests.clients.room import Room
from tests.clients.turns import CLIENTS, Turn, model
from tests.docs.console import sandbox
from tests.support.program import environment
from tools.evidence import write_page

_ROOT = Path(__file__).parent.parent.parent
_LIMIT_S = 600
_LONGEST = 30
_TAKES = 4
_PLACE = {"line": 810, "character": 8}
_KEYS = ("claude-code", "codex", "gemini")

_PAGE = """\
# From a clone to the first answer

Each transcript begins in an empty home. What stands behind `$` was typed; the time it took is beside it. The package index was near and nothing was cached. The question is who calls `Context.fail` of the library click; the
clients ran offline, and their model is a stand-in that asks `vscode.lsp.references` and repeats what it was told, so the last lines are what the model saw.

| client | version | install | connect and check | first turn | together |
|---|---|---|---|---|---|
{rows}

Seconds of wall time on two cores that others used too. Weakness: a real model thinks, and costs; one run of each, and a run in which the client asked its model before Sightline was connected, which happens when the machine is busy, was thrown away; the clients themselves were installed before.

{parts}
"""


@dataclass
class Typist:
    """Types commands and keeps what was seen."""

    home: Path
    env: Mapping[str, str]
    cwd: Path
    lines: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def type(self, shown: str, argv: list[str] | None = None, cwd: Path | None = None) -> None:
        """Runs ``argv``, or what is shown, with the clock running."""
        began = time.monotonic()
        done = subprocess.run(
            argv or ["bash", "-c", shown],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_LIMIT_S,
            check=False,
            env=self.env,
            cwd=cwd or self.cwd,
        )
        took = time.monotonic() - began
        self.seconds.append(took)
        said = done.stdout.replace(str(self.home), "/home/you").rstrip()
        shown_lines = [_short(line) for line in said.splitlines() if line.strip()]
        if len(shown_lines) > _LONGEST:
            shown_lines = [*shown_lines[:4], "...", *shown_lines[4 - _LONGEST :]]
        self.lines += [f"$ {shown}    # {took:.1f} s", *shown_lines]
        if done.returncode:
            raise SystemExit(f"{shown} ended with {done.returncode}:\n{done.stdout}")


def registry() -> dict[str, str]:
    """What leads this machine to its package index."""
    wanted = ("SSL_CERT_", "PIP_", "UV_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
    return {key: text for key, text in os.environ.items() if key.upper().startswith(wanted)}


def _short(line: str) -> str:
    line = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line)
    return line if len(line) <= 400 else line[:400] + "..."


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="sightline-first-") as folder:
        seen = {key: _patiently(key, Path(folder)) for key in (*_KEYS, "inspector")}
    rows, parts = [], []
    for key, (typist, version) in seen.items():
        install, connect, turn = typist.seconds
        title = {"inspector": "MCP Inspector"}.get(key, key)
        rows.append(
            f"| {title} | {version} | {install:.1f} | {connect:.1f} | {turn:.1f} | "
            f"{install + connect + turn:.1f} |"
        )
        parts.append(f"## {title}\n\n```text\n" + "\n".join(typist.lines) + "\n```")
    text = _PAGE.format(rows="\n".join(rows), parts="\n\n".join(parts))
    write_page("first-answer.md", "python -m tests.clients.first_answer", text)
    sys.stdout.write("\n".join(rows) + "\n")
    return 0


class TooEarly(Exception):
    """The client asked its model before Sightline's tools were there."""


def _patiently(key: str, folder: Path) -> tuple[Typist, str]:
    """On a busy machine a client may begin too early; then the whole transcript is taken again."""
    for number in range(_TAKES):
        try:
            return _first(key, folder / f"{key}-{number}")
        except TooEarly:
            sys.stderr.write(f"{key} began before Sightline was ready; once more\n")
    raise SystemExit(f"{key} began too early {_TAKES} times")


def _first(key: str, folder: Path) -> tuple[Typist, str]:
    home = sandbox(folder)
    clone = home / "sightline"
    subprocess.run(["git", "clone", "--quiet", str(_ROOT), str(clone)], check=True)
    program = "mcp-inspector" if key == "inspector" else CLIENTS[key].command
    tools = path_with(folder / "bin", program)
    uv = Path(sys.executable).with_name("uv")
    (folder / "bin" / "uv").symlink_to(uv)
    base = environment(home) | QUIET | registry() | {"PATH": f"{home}/.local/bin:{tools}"}
    typist = Typist(home, base, home / "src/click")
    with Room() as room:
        typist.type("uv tool install --quiet .", cwd=clone)
        _inspector(typist, room) if key == "inspector" else _client(typist, key, room, folder)
    return typist, PROGRAMS[program].version()


def _client(typist: Typist, key: str, room: Room, folder: Path) -> None:
    client = CLIENTS[key]
    uri = (typist.cwd / "click/core.py").as_uri()
    plan = [{"tool": "vscode.lsp.references", "arguments": {"uri": uri, "position": _PLACE}}]
    turn = Turn(client, room, typist.home, typist.cwd, folder)
    with model(room, folder / "model", plan) as stand_in:
        turn.prepare(stand_in.url)
        typist.env = {**typist.env, **client.environment(stand_in.url)}
        connect = f"sightline config {key} --write --check"
        typist.type(connect, room.inside(["bash", "-c", connect]))
        words = _plain(client.arguments(stand_in.url))
        typist.type(_shown(client.command, words), room.inside([client.command, *words]))
        heard = stand_in.heard()
        if not heard or not heard[-1]["heard"]["results"]:
            raise SystemExit(
                f"{key} asked its model before Sightline was ready; is this machine busy?"
            )


def _plain(words: list[str]) -> list[str]:
    """The turn with output for people."""
    dropped = {"--json", "--output-format", "json"}
    asked = ["Who calls Context.fail?" if w.startswith("Where is") else w for w in words]
    return [word for word in asked if word not in dropped]


def _shown(command: str, words: list[str]) -> str:
    """Without what leads to the stand-in, which a user does not type."""
    shown: list[str] = []
    for word in words:
        if "model" in word or "required" in word or word == "gemini-2.5-pro":
            if shown and shown[-1] in ("-c", "-m"):
                shown.pop()
            continue
        shown.append(word)
    return shlex.join([command, *shown])


def _inspector(typist: Typist, room: Room) -> None:
    begin = ["mcp-inspector", "--cli", "sightline", "stdio", "--method"]
    listing = [*begin, "tools/list"]
    count = f"{shlex.join(listing)} | grep -c inputSchema"
    typist.type(count, room.inside(["bash", "-c", count]))
    uri = (typist.cwd / "click/core.py").as_uri()
    asked = [*begin, "tools/call", "--tool-name", "vscode.lsp.references"]
    asked += ["--tool-arg", f"uri={uri}", "--tool-arg", f"position={json.dumps(_PLACE)}"]
    typist.type(shlex.join(asked).replace(str(typist.home), "/home/you"), room.inside(asked))


if __name__ == "__main__":
    sys.exit(main())
