"""The tests here start the editor source wherever others start the headless one."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import place
from tests.support.editor import EditorChild, ScriptedEditor, ServersEditor, hello
from tests.support.http import HttpServer
from tests.support.leaks import OUTSIDE, ledger

__all__ = ["place"]

Script = Callable[[dict[str, Any]], Any]


@contextlib.contextmanager
def window(roots: Sequence[Path], flags: Sequence[str], home: Path) -> Iterator[HttpServer]:
    """``sightline serve --source editor`` in a window of real language servers."""
    editor = ServersEditor(roots, home / "editor-cache")
    child = EditorChild.spawn(flags, home)
    ledger.secret(child.token)
    editor.attach(child)
    try:
        child.tell(hello(roots, child.port))
        child.next("welcome")
        child.next("ready")
        yield child
    finally:
        child.stop()
        editor.close()


@pytest.fixture
def serve(home: Path) -> Iterator[Callable[..., HttpServer]]:
    """Starts the editor source as others start the headless one."""
    with contextlib.ExitStack() as started:

        def start(*arguments: str | Path) -> HttpServer:
            words = [str(argument) for argument in arguments]
            roots = [Path(word) for word in words if Path(word).is_dir()]
            flags = [word for word in words if not Path(word).is_dir()]
            return started.enter_context(window(roots, flags, home))

        yield start


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[HttpServer]:
    """One child per module, on ``place/ws``, that logs everything it would ever log."""
    home = place / f"home-{OUTSIDE}"
    with window([place / "ws"], ["--set", "debug_logging=true"], home) as started:
        yield started


Start = Callable[..., ScriptedEditor]


@pytest.fixture
def editor(home: Path, sample: Path) -> Iterator[Start]:
    """Starts a child on the sample workspace in a window that follows a script."""
    started: list[ScriptedEditor] = []

    def start(script: dict[str, Script] | None = None, **more: Any) -> ScriptedEditor:
        made = ScriptedEditor.start(sample, home, script, **more)
        started.append(made)
        return made

    yield start
    for made in started:
        made.child.stop()
