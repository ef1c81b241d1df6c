"""A real editor for the tests of this folder, where one can be installed."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.vscode.host import Editor
from tools import vscode
from tools.vscode import Host, Missing

SCREENSHOTS = Path(__file__).parents[2] / ".cache/screenshots"


@pytest.fixture(scope="session")
def host() -> Host:
    try:
        found = vscode.host()
        for old in (vscode.EXTENSION / "dist").glob("*.vsix"):
            old.unlink()
        built = vscode.npm("package:vsix")
    except Missing as missing:
        pytest.skip(f"no real editor here: {missing}")
    assert built.returncode == 0, built.stdout
    return found


@pytest.fixture(scope="module")
def open_editor(
    host: Host, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Editor]]:
    """Opens windows of new editors; all are gone at the end of the module."""
    opened: list[Editor] = []

    def open_one(place: Path, name: str, **more: Any) -> Editor:
        home = tmp_path_factory.mktemp("editor", numbered=True)
        editor = Editor.start(host, place, home, SCREENSHOTS / name, **more)
        opened.append(editor)
        return editor

    yield open_one
    for editor in opened:
        editor.stop()
