"""The official Python and TypeScript clients over both transports: what is said is understood."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.oracles.sample import write_files
from tests.oracles.visits import (
    Seen,
    Target,
    check,
    heard,
    stdio_target,
    visit_with_python,
    visit_with_typescript,
)
from tests.support.http import HttpServer
from tests.support.program import command

pytestmark = pytest.mark.slow

Visit = Callable[..., Seen]
REPORTING = (sys.executable, str(Path(__file__).with_name("reporting.py")))


CLIENTS = pytest.mark.parametrize(
    "visit", [visit_with_python, visit_with_typescript], ids=["python", "typescript"]
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_files(tmp_path / "ws")


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
