"""The tests here start the editor source wherever others start the headless one."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor import EditorChild, ScriptedEditor, ServersEditor, hello
from tests.support.http import HttpServer

Script = Callable[[dict[str, Any]], Any]


@pytest.fixture
def serve(home: Path, tmp_path: Path) -> Iterator[Callable[..., HttpServer]]:
    """Starts ``sightline serve --source editor`` in a window of real language servers."""
    started: list[tuple[EditorChild, ServersEditor]] = []

    def start(*arguments: str | Path) -> HttpServer:
        words = [str(argument) for argument in arguments]
        roots = [Path(word) for word in words if Path(word).is_dir()]
        flags = [word for word in words if not Path(word).is_dir()]
        editor = ServersEditor(roots, tmp_path / "editor-cache")
        child = EditorChild.spawn(flags, home)
        editor.attach(child)
        started.append((child, editor))
        child.tell(hello(roots, child.port))
        child.next("welcome")
        child.next("ready")
        return child

    yield start
    for child, editor in started:
        child.stop()
        editor.close()


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
