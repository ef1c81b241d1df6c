"""VS Code with an entry that ``sightline config vscode`` wrote, and without the extension's server.

The editor is told nothing else: it reads the entry, starts Sightline in the open folder, and its
own agent calls tools of every family. Only the file's place differs from a desktop's.
"""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.http import HttpServer, free_port
from tests.support.program import command, environment, run
from tests.vscode.host import Editor
from tests.vscode.own_agent import INVOKE, own_tools, start_server
from tests.vscode.workspaces import Place, python

pytestmark = [pytest.mark.slow, pytest.mark.vscode]

#: What a server lists where nothing narrows it: every family.
TOOLS = 20


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return python(tmp_path / "ws")


@pytest.fixture
def editor(root: Path, open_editor: Callable[..., Editor]) -> Editor:
    """The extension is there, as it is for many, but its server is off."""
    return open_editor(root, "configured", settings={"mcpLspGateway.enabled": False})


def configure(editor: Editor, root: Path, file: Path, *flags: str) -> None:
    """What a user types while the editor is open."""
    words = ["config", "vscode", "--file", str(file), "--write", *flags]
    done = subprocess.run(
        command(*words),
        env=environment(editor.home),
        cwd=root,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def ask_one_of_each_family(editor: Editor, root: Path) -> None:
    use = Place(root / "main.py", "small = ")
    names = own_tools(editor)
    definition, search, caches = (
        next(name for name in names if name.endswith(tool))
        for tool in ("vscode_lsp_definition", "search", "context_list_caches")
    )
    found = json.loads(editor.js(INVOKE, tool=definition, input=use.arguments())[0])
    assert [location["uri"] for location in found["locations"]] == [(root / "shapes.py").as_uri()]
    hits = json.loads(editor.js(INVOKE, tool=search, input={"query": "area"})[0])
    assert hits["items"][0]["path"] == "shapes.py"
    assert editor.js(INVOKE, tool=caches, input={})


def test_over_stdio(editor: Editor, root: Path) -> None:
    assert run(editor.home, "index", "build", cwd=root).returncode == 0
    configure(editor, root, editor.home / "data/User/mcp.json")
    start_server(editor, "sightline")
    editor.until(lambda: len(own_tools(editor)) == TOOLS)
    ask_one_of_each_family(editor, root)
    editor.screenshot("1-stdio")


def test_over_http_the_token_is_asked_for_once(editor: Editor, root: Path) -> None:
    port = str(free_port())
    assert run(editor.home, "index", "build", cwd=root).returncode == 0
    # In the file of a user VS Code reads no inputs when it runs on a server, as it does here.
    file = root / ".vscode/mcp.json"
    configure(editor, root, file, "--http", "--port", port)
    # Its settings go by the name it gives itself, and this build of it has another one.
    settings = editor.home / ".config/sightline/sightline.toml"
    text = settings.read_text(encoding="utf-8").replace("Visual Studio Code", "code-server")
    settings.write_text(text, encoding="utf-8")
    with HttpServer.start([str(root), "--port", port], editor.home) as server:
        assert server.token not in file.read_text(encoding="utf-8")
        start_server(editor, "sightline")
        editor.page("wait", selector=".quick-input-widget input[type=password]")
        editor.screenshot("2-asked-for-the-token")
        editor.page("type", text=server.token)
        editor.page("press", keys="Enter")
        editor.until(lambda: len(own_tools(editor)) == TOOLS)
        ask_one_of_each_family(editor, root)
