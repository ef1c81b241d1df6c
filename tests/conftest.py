"""Fixtures that every test may use: a clean home, a small workspace, running servers.

Nothing here sleeps. Waiting is for an event or a state, with a bound that only a hang reaches.
"""

import os
import signal
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

from tests.support import loopback
from tests.support.engine import INSTALLED
from tests.support.http import HttpServer
from tests.support.leaks import (
    OUTSIDE,
    nothing_leaks,
    pytest_sessionfinish,
    pytest_terminal_summary,
    pytest_testnodedown,
)
from tests.support.stdio import StdioServer

__all__ = [
    "nothing_leaks",
    "pytest_sessionfinish",
    "pytest_terminal_summary",
    "pytest_testnodedown",
]

Workspace = Callable[[dict[str, str]], Path]

# A busy machine makes a single example slow; that is no failure of the rule under test.
hypothesis.settings.register_profile("sightline", deadline=None, print_blob=True, max_examples=60)
hypothesis.settings.load_profile("sightline")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home; every per-user folder of Sightline is below it."""
    folder = tmp_path / f"home-{OUTSIDE}"
    folder.mkdir()
    for variable in [name for name in os.environ if name.startswith(("XDG_", "SIGHTLINE_"))]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def installed(home: Path) -> Path:
    """The home of somebody who has installed every language server there is."""
    data = home / ".local/share/sightline"
    data.mkdir(parents=True, mode=0o700)
    (data / "servers").symlink_to(INSTALLED)
    return home


@pytest.fixture
def hangups_count() -> Iterator[None]:
    """What the tests were started with is not handed on: ``nohup`` lets nobody hear of them."""
    was = signal.signal(signal.SIGHUP, lambda number, frame: None)
    yield
    signal.signal(signal.SIGHUP, was)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Makes a workspace from file names and texts and returns its root."""

    def make(files: dict[str, str], name: str = "ws") -> Path:
        root = tmp_path / name
        for path, text in files.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        return root

    return make


@pytest.fixture
def sample(workspace: Workspace) -> Path:
    """A Python workspace: ``shapes.py`` defines ``area``, ``main.py`` uses it."""
    return workspace(
        {
            "shapes.py": """
                def area(width: int, height: int) -> int:
                    \"\"\"The area of a rectangle.\"\"\"
                    return width * height
                """,
            "main.py": """
                from shapes import area

                print(area(2, 3))
                """,
        }
    )


@pytest.fixture
def serve(home: Path, tmp_path: Path) -> Iterator[Callable[..., HttpServer]]:
    """Starts ``sightline serve`` on a free port; every server is stopped at the end."""
    started: list[HttpServer] = []

    def start(*arguments: str | Path) -> HttpServer:
        server = HttpServer.start([str(argument) for argument in arguments], home)
        started.append(server)
        return server

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def stdio(home: Path) -> Iterator[Callable[..., StdioServer]]:
    """Starts ``sightline stdio``; every server is stopped at the end."""
    started: list[StdioServer] = []

    def start(*arguments: str | Path, **variables: str) -> StdioServer:
        server = StdioServer.start([str(argument) for argument in arguments], home, variables)
        started.append(server)
        return server

    yield start
    for server in started:
        server.stop()


@pytest.fixture(autouse=True)
def nothing_is_reached() -> Iterator[None]:
    """No code that a test runs in this process speaks to another machine."""
    yield
    reached = loopback.reached.copy()
    loopback.reached.clear()
    assert not reached


def pytest_configure() -> None:
    """A shell that runs the tests in the background ignores Ctrl-C for them and all below."""
    loopback.watch()
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-markers", action="store_true", help="write marker answers anew")
    parser.addoption("--update-pins", action="store_true", help="renew pinned tool descriptions")
    parser.addoption("--update-docs", action="store_true", help="write outputs in the docs anew")
