"""One running server per module, where the tests leave no state behind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.http import HttpServer
from tests.support.leaks import OUTSIDE


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a home, an empty workspace ``ws`` and something outside of it."""
    folder = tmp_path_factory.mktemp("place")
    (folder / f"home-{OUTSIDE}").mkdir()
    (folder / "ws").mkdir()
    (folder / "ws/main.py").write_text("x = 1\n", encoding="utf-8")
    (folder / f"out-{OUTSIDE}").mkdir()
    (folder / f"out-{OUTSIDE}/secret.py").write_text("y = 2\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[HttpServer]:
    """A server that logs everything it would ever log."""
    started = HttpServer.start(
        [str(place / "ws"), "--set", "debug_logging=true"], place / f"home-{OUTSIDE}"
    )
    yield started
    started.stop()
