"""Nothing is reached but this machine, as the kernel sees it and not as the source reads.

Real calls of every tool and every command, with everything that they start, run where a network
socket ends the process that makes it. A server over HTTP listens, so it is watched from within.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sightline.cli.main import COMMANDS
from sightline.tools.catalogue import CATALOGUE
from tests.support import loopback, walled
from tests.support.files import write_files
from tests.support.http import HttpServer
from tests.support.program import command, environment
from tests.support.stdio import StdioServer
from tests.support.watching import HANG_S

WALL = (sys.executable, walled.__file__)
AROUND = {
    "lib.ts": "export function helper(): number {\n  return 1;\n}\n",
    "use.ts": 'import { helper } from "./lib";\nhelper();\n',
    "part.c": "int part(void) { return 1; }\nint whole(void) { return part(); }\n",
    "compile_flags.txt": "-Wall\n",
}
#: Commands that go on until they are ended, and one that speaks to them: the other tests have them.
SERVING = {"serve", "stdio", "roots"}


@pytest.fixture
def project(sample: Path) -> Path:
    """Three languages, so that three language servers start."""
    return write_files(sample, AROUND)


def place(file: Path, line: int, character: int) -> dict[str, Any]:
    return {"uri": file.as_uri(), "position": {"line": line, "character": character}}


def calls(project: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every tool, and those that ask a language server once for each."""
    named = {"main.py": (2, 7), "use.ts": (1, 1), "part.c": (1, 26)}
    for name, where in named.items():
        for tool in ("definition", "references", "hover"):
            yield f"vscode.lsp.{tool}", place(project / name, *where)
        for tool in ("documentSymbols", "diagnostics.document"):
            yield f"vscode.lsp.{tool}", {"uri": (project / name).as_uri()}
    yield "vscode.lsp.workspaceSymbols", {"query": "area"}
    yield "vscode.lsp.diagnostics.workspace", {}
    yield "index_build", {}
    yield "index_status", {}
    yield "search", {"query": "where is the area of a rectangle"}
    yield "search", {"query": "ar.a", "mode": "regex"}
    yield "show_file", {"path": "shapes.py"}
    yield "check_status", {}
    yield "workspace_status", {}
    yield "context.list_caches", {}
    yield "context.inspect_cache", {"cache": "notes"}
    yield "context.resolve", {"cache": "notes", "query": "area", "budget": 100}
    for name in ("area", "helper", "part"):
        yield "uses", {"of": [name]}
        yield "read", {"of": [name]}
        yield "find", {"query": name}
    yield "check", {}


def ask_everything(server: StdioServer | HttpServer, project: Path) -> None:
    asked = set()
    for tool, arguments in calls(project):
        answer = server.call(tool, arguments)
        assert answer.get("result", {}).get("isError") is False, (tool, answer)
        asked.add(tool)
    assert asked == {tool.info.name for tool in CATALOGUE}


def behind_the_wall(
    home: Path, *arguments: str | Path, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*WALL, *command(*arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
        env=environment(home),
        cwd=cwd or home,
    )


@pytest.fixture
def caches(home: Path) -> Path:
    """A context cache that servers offer by the name ``notes``."""
    sources = write_files(home / "notes-sources", {"a.md": "# The area of a rectangle\n"})
    cache = home / ".local/share/sightline/context/notes"
    cache.parent.mkdir(parents=True, mode=0o700)
    done = behind_the_wall(home, "context", "build", "--sources", sources, "--cache", cache)
    assert done.returncode == 0, done.stderr
    return cache


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_PACKET"])
def test_the_wall_ends_who_makes_a_network_socket(family: str) -> None:
    """Also where the error would be passed over."""
    code = f"import socket\ntry: socket.socket(socket.{family})\nexcept OSError: pass"
    assert subprocess.run([*WALL, sys.executable, "-c", code], check=False).returncode == (
        walled.ENDED
    )
    here = "import socket; socket.socketpair(); socket.socket(socket.AF_UNIX)"
    assert subprocess.run([*WALL, sys.executable, "-c", here], check=False).returncode == 0


@pytest.mark.requirement("GA-no-network")
def test_every_tool_behind_the_wall(installed: Path, project: Path, caches: Path) -> None:
    program = (*WALL, *command())
    server = StdioServer.start([str(project)], installed, program=program)
    try:
        server.initialize()
        ask_everything(server, project)
    finally:
        server.stop()
    assert server.process.returncode == 0


@pytest.mark.requirement("GA-no-network")
def test_every_command_behind_the_wall(installed: Path, project: Path, caches: Path) -> None:
    defined = json.dumps(place(project / "main.py", 2, 7))
    asked: list[tuple[str | Path, ...]] = [
        ("call", "vscode.lsp.definition", defined, "--root", project),
        ("find", "area"),
        ("uses", "area"),
        ("read", "area"),
        ("check",),
        ("config", "claude-code"),
        ("tools",),
        ("settings",),
        ("doctor", project),
        ("status", "--json"),
        ("servers", "list"),
        ("token", "rotate"),
        ("trust", project),
        ("untrust", project),
        ("completion", "bash"),
        ("index", "build", project),
        ("index", "search", "area"),
        ("context", "resolve", "--cache", caches, "--query", "area", "--budget", "100"),
        ("context", "inspect", "--cache", caches),
    ]
    for arguments in asked:
        done = behind_the_wall(installed, *arguments, cwd=project)
        assert done.returncode == 0, (arguments, done)
    assert {arguments[0] for arguments in asked} == COMMANDS.keys() - SERVING


@pytest.mark.requirement("GA-no-network")
def test_every_tool_over_http_under_a_watch(installed: Path, project: Path, caches: Path) -> None:
    program = (sys.executable, loopback.__file__)
    with HttpServer.start([str(project)], installed, program=program) as server:
        ask_everything(server, project)
        assert behind_the_wall(installed, "roots", "list").returncode == 0
        assert server.stop() == 0


def test_the_watch_ends_who_reaches_out() -> None:
    code = (
        "import socket, sys; sys.path.insert(0, {folder!r}); import loopback\n"
        "loopback.watch(lambda what: sys.exit(9))\n"
        "try: {reaching}\n"
        "except ConnectionRefusedError: pass"
    )
    folder = str(Path(loopback.__file__).parent)
    cases = {
        "socket.socket().connect(('192.0.2.1', 9))": 9,
        "socket.create_connection(('example.com', 9))": 9,
        "socket.create_connection(('127.0.0.1', 9))": 0,
    }
    for reaching, status in cases.items():
        made = code.format(folder=folder, reaching=reaching)
        done = subprocess.run([sys.executable, "-c", made], check=False, capture_output=True)
        assert done.returncode == status, (reaching, done)


@pytest.mark.requirement("GA-no-network")
def test_the_tests_themselves_are_watched() -> None:
    """So that no module may reach out in whatever any test of the suite calls."""
    import socket

    with pytest.raises(PermissionError), socket.socket() as made:
        made.connect(("192.0.2.1", 9))
    assert loopback.reached == ["socket.connect '192.0.2.1'"]
    loopback.reached.clear()
