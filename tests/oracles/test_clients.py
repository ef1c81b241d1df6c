"""The official Python and TypeScript clients over both transports: what is said is understood."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.contract.settings import Settings
from sightline.server.compose import catalogue_for
from tests.oracles.sample import write_files
from tests.oracles.visits import Seen, Target, heard, visit_with_python, visit_with_typescript
from tests.support.http import HttpServer
from tests.support.program import command, environment

pytestmark = pytest.mark.slow

Visit = Callable[..., Seen]
REPORTING = (sys.executable, str(Path(__file__).with_name("reporting.py")))


def with_python(target: Target, root: Path, *, probe: bool = False) -> Seen:
    return asyncio.run(visit_with_python(target, root, probe=probe))


CLIENTS = pytest.mark.parametrize(
    "visit", [with_python, visit_with_typescript], ids=["python", "typescript"]
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_files(tmp_path / "ws")


def location(root: Path, name: str, line: int, start: int) -> dict[str, Any]:
    span = {
        "start": {"line": line, "character": start},
        "end": {"line": line, "character": start + 4},
    }
    return {"uri": (root / name).as_uri(), "range": span}


def check(seen: Seen, root: Path) -> None:
    assert (seen.server, seen.revision, seen.instructed) == ("sightline", "2025-11-25", True)
    assert seen.tools == [tool.info.name for tool in catalogue_for(Settings())]
    found = {
        "locations": [location(root, "shapes.py", 0, 4)],
        "summary": "Found 1 definition.",
    }
    assert (seen.definition, seen.content) == (found, [])
    references = [
        location(root, "main.py", 0, 19),
        location(root, "main.py", 2, 6),
        location(root, "main.py", 2, 18),
        location(root, "other.py", 0, 19),
        location(root, "other.py", 2, 6),
        location(root, "shapes.py", 0, 4),
    ]
    assert seen.pages == [references[0:2], references[2:4], references[4:6]]
    assert seen.error["code"] == -32602
    assert seen.error["data"]["code"] == "MCP_LSP_GATEWAY/WORKSPACE_DENIED"
    assert "[MCP_LSP_GATEWAY/WORKSPACE_DENIED]" in seen.error["message"]
    assert seen.after_progress == found


@CLIENTS
@pytest.mark.parametrize("probe", [False, True], ids=["handshake", "probe"])
def test_over_http(
    visit: Visit, serve: Callable[..., HttpServer], root: Path, *, probe: bool
) -> None:
    server = serve(root)
    check(visit(Target.of(server), root, probe=probe), root)
    assert server.process.poll() is None


@CLIENTS
@pytest.mark.parametrize("probe", [False, True], ids=["handshake", "probe"])
def test_over_stdio(visit: Visit, home: Path, root: Path, *, probe: bool) -> None:
    target, status = stdio_target(home, *command("stdio", root))
    check(visit(target, root, probe=probe), root)
    assert status.read_text() == "0\n", "the server ended by itself when the client closed"


@CLIENTS
def test_progress_over_http(visit: Visit, home: Path, root: Path) -> None:
    server = HttpServer.start([str(root)], home, program=(*REPORTING, str(heard(root))))
    try:
        check_progress(visit(Target.of(server), root))
    finally:
        server.stop()


@CLIENTS
def test_progress_over_stdio(visit: Visit, home: Path, root: Path) -> None:
    target, status = stdio_target(home, *REPORTING, str(heard(root)), "stdio", str(root))
    check_progress(visit(target, root))
    assert status.read_text() == "0\n"


def check_progress(seen: Seen) -> None:
    told = [(each["progress"], each["total"], each["message"]) for each in seen.progress]
    assert told == [(1, 2, "asking the language server")]
    assert seen.after_progress == seen.definition


def stdio_target(home: Path, *server: str) -> tuple[Target, Path]:
    """A target whose server leaves its exit status in a file when it ends by itself."""
    status = home / "status"
    wrapped = ("/bin/sh", "-c", '"$@"; echo $? > "$STATUS"', "sh", *server)
    env = environment(home) | {"STATUS": str(status)}
    return Target(command=wrapped, env=env, cwd=home), status
