"""A workspace that nobody has trusted: nothing runs until its user says so, and no longer."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.vscode import workspaces
from tests.vscode.client import one_call
from tests.vscode.host import HERE, Editor
from tests.vscode.workspaces import Place

pytestmark = [pytest.mark.slow, pytest.mark.vscode]

_TRUST = ".workspace-trust-editor .trusted .monaco-button"
_TRUSTED_FOLDER = ".workspace-trust-editor .trusted-uris-table .monaco-list-row"
_DELETE = "[aria-label='Delete Path']"


def test_trust_is_waited_for_granted_and_withdrawn(
    tmp_path: Path, open_editor: Callable[..., Editor]
) -> None:
    root = workspaces.python(tmp_path / "ws")
    editor = open_editor(root, "trust", trusted=False, extensions=[HERE / "python"])
    own = "const own = vscode.extensions.getExtension('sightline.sightline');"
    assert editor.js(own + "return [vscode.workspace.isTrusted, own?.isActive ?? null]") == [
        False,
        None,
    ]
    assert editor.child() is None and not editor.serving()
    editor.screenshot("1-untrusted")

    editor.command("Workspaces: Manage Workspace Trust")
    editor.page("click", selector=_TRUST)
    editor.until(editor.serving)
    assert editor.child() is not None
    use = Place(root / "main.py", "small = ")
    found = one_call(editor.url, editor.token(), "definition", **use.arguments())
    assert found["locations"] == [Place(root / "shapes.py", "def ").location(4)]
    editor.screenshot("2-trusted")

    # The trusted folder is struck off the list on the same page.
    editor.page("hover", selector=_TRUSTED_FOLDER)
    editor.page("click", selector=f"{_TRUSTED_FOLDER} {_DELETE}")
    editor.until(lambda: editor.child() is None)
    assert not editor.serving()
    editor.screenshot("3-withdrawn")
