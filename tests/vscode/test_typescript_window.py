"""A window on a TypeScript workspace, from its opening to its closing with unsaved text.

The tests share the window and stand in the order of a working day; the last one closes it.
"""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.http import Answer, HttpServer
from tests.vscode import workspaces
from tests.vscode.client import Refused, connected, one_call
from tests.vscode.host import SIGHTLINE, Editor
from tests.vscode.own_agent import INVOKE, own_tools, start_server
from tests.vscode.workspaces import Place

pytestmark = [pytest.mark.slow, pytest.mark.vscode]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return workspaces.typescript(tmp_path_factory.mktemp("typescript") / "ws")


@pytest.fixture(scope="module")
def editor(root: Path, open_editor: Callable[..., Editor]) -> Editor:
    file = workspaces.workspace_file(root.parent / "day.code-workspace", root)
    editor = open_editor(file, "typescript")
    editor.until(editor.serving)
    return editor


def edit(editor: Editor, file: Path, text: str, *, show: bool = True) -> None:
    """Puts text at the beginning of a document without saving it."""
    editor.js(
        """
        const document = await vscode.workspace.openTextDocument(vscode.Uri.file(args.file));
        if (args.show) await vscode.window.showTextDocument(document, { preview: false });
        const change = new vscode.WorkspaceEdit();
        change.insert(document.uri, new vscode.Position(0, 0), args.text);
        await vscode.workspace.applyEdit(change);
        """,
        file=str(file),
        text=text,
        show=show,
    )


def test_seven_tools_are_answered_by_an_official_client(editor: Editor, root: Path) -> None:
    use = Place(root / "main.ts", "small = ")
    defined = Place(root / "shapes.ts", "function ").location(4)
    uses = [
        Place(root / "main.ts", "import { ").location(4),
        Place(root / "main.ts", "small = ").location(4),
        Place(root / "main.ts", "large = ").location(4),
        Place(root / "other.ts", "import { ").location(4),
        Place(root / "other.ts", "third = ").location(4),
    ]

    assert not editor.is_active("vscode.typescript-language-features"), "nothing is loaded yet"

    async def ask() -> None:
        async with connected(editor.url, editor.token()) as agent:
            assert len(await agent.tools()) == 7
            # The very first answer: a loading TypeScript would name the import line here.
            found = await agent.call("definition", **use.arguments())
            assert found == {"locations": [defined], "summary": "Found 1 definition."}
            found = await agent.call("references", **use.arguments(), includeDeclaration=True)
            assert found["items"] == [*uses, defined]
            pages = await agent.call("references", **use.arguments(), pageSize=2)
            assert pages["items"] == uses[:2]
            more = {"pageSize": 9, "cursor": pages["nextCursor"]}
            rest = await agent.call("references", **use.arguments(), **more)
            assert (rest["items"], rest["nextCursor"]) == (uses[2:], None)
            hover = await agent.call("hover", **use.arguments())
            texts = "".join(content["value"] for content in hover["contents"])
            assert "width: number" in texts and "The area of a rectangle." in texts
            outline = await agent.call("documentSymbols", uri=use.uri)
            names = [(symbol["name"], symbol["kind"]) for symbol in outline["symbols"]]
            assert names == [("small", 13), ("large", 13)]
            symbols = await agent.call("workspaceSymbols", query="third")
            assert [item["name"] for item in symbols["items"]] == ["third"]
            with pytest.raises(Refused) as never_shown:
                await agent.call("diagnostics.document", uri=use.uri)
            assert never_shown.value.code == "PROVIDER_UNAVAILABLE"
            assert "does not show this document" in never_shown.value.message
            report = await agent.call("diagnostics.workspace")
            assert report["items"] == []
            assert "the 0 documents it shows" in report["summary"]

    asyncio.run(ask())
    tabs = editor.js("return vscode.window.tabGroups.all.flatMap((group) => group.tabs).length")
    assert tabs == 0, "asking opened documents but showed none"
    editor.screenshot("1-serving")
    assert editor.status() == f"Sightline :{editor.port}"


def test_unsaved_edits_are_in_the_answers_and_not_on_disk(editor: Editor, root: Path) -> None:
    main = root / "main.ts"
    before = main.read_text()
    added = "const wrong: number = 'text';\n\n"
    edit(editor, main, added)
    use = Place(main, "small = ", text=added + before)
    url, token = editor.url, editor.token()
    found = one_call(url, token, "definition", **use.arguments())
    assert found["locations"] == [Place(root / "shapes.ts", "function ").location(4)]
    references = one_call(url, token, "references", **use.arguments())
    assert use.location(4) in references["items"]
    report = one_call(url, token, "diagnostics.document", uri=use.uri)
    errors = [(d["code"], d["severity"]) for d in report["diagnostics"] if d["severity"] == 1]
    assert errors == [("2322", 1)]
    everything = one_call(url, token, "diagnostics.workspace")
    assert [item["uri"] for item in everything["items"]] == [use.uri]
    assert main.read_text() == before
    editor.screenshot("2-unsaved")
    editor.js("await vscode.commands.executeCommand('workbench.action.files.revert')")
    clean = one_call(url, token, "diagnostics.document", uri=use.uri)
    assert clean["diagnostics"] == []


def test_edits_by_others_on_disk_are_in_the_next_answer(editor: Editor, root: Path) -> None:
    url, token = editor.url, editor.token()
    for number in range(3):
        name = f"fresh{number}"
        file = root / f"{name}.ts"
        file.write_text(f"import {{ area }} from './shapes';\nexport const {name} = area(1, 2);\n")
        found = one_call(url, token, "references", **Place(file, f"{name} = ").arguments())
        assert Place(file, f"{name} = ").location(4) in found["items"]
        asked = Place(root / "main.ts", "small = ")
        found = one_call(url, token, "references", **asked.arguments())
        assert Place(file, f"{name} = ").location(4) in found["items"]
        file.unlink()
        found = one_call(url, token, "references", **asked.arguments())
        assert not any(name in item["uri"] for item in found["items"])


def ping(editor: Editor, token: str) -> int:
    class Door(HttpServer):
        @property
        def token(self) -> str:
            return token

    door = Door(editor.server, editor.port, editor.home)
    answer: Answer = door.request({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    return answer.status


def test_a_rotated_token_is_the_only_one(editor: Editor) -> None:
    old = editor.token()
    assert ping(editor, old) == 200
    editor.command("Sightline: Rotate Tokens")
    editor.until(lambda: ping(editor, old) == 401)
    new = editor.token()
    assert new != old
    assert (ping(editor, new), ping(editor, old)) == (200, 401)
    editor.screenshot("3-rotated")


def test_folders_of_the_window_come_and_go(
    editor: Editor, root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    more = workspaces.typescript(tmp_path_factory.mktemp("more") / "second")
    url, token = editor.url, editor.token()
    use = Place(more / "main.ts", "small = ")
    with pytest.raises(Refused, match="WORKSPACE_DENIED"):
        one_call(url, token, "definition", **use.arguments())
    editor.js(
        "vscode.workspace.updateWorkspaceFolders(1, 0, { uri: vscode.Uri.file(args.folder) });"
        "await new Promise((done) => vscode.workspace.onDidChangeWorkspaceFolders(done));",
        folder=str(more),
    )
    found = one_call(url, token, "definition", **use.arguments())
    assert found["locations"] == [Place(more / "shapes.ts", "function ").location(4)]
    editor.screenshot("4-second-folder")
    editor.js(
        "vscode.workspace.updateWorkspaceFolders(1, 1);"
        "await new Promise((done) => vscode.workspace.onDidChangeWorkspaceFolders(done));"
    )
    with pytest.raises(Refused, match="WORKSPACE_DENIED"):
        one_call(url, token, "definition", **use.arguments())
    one_call(url, token, "definition", **Place(root / "main.ts", "small = ").arguments())


def test_the_child_sees_little_of_the_editor(editor: Editor) -> None:
    child = editor.child()
    assert child is not None
    environment = Path(f"/proc/{child.pid}/environ").read_bytes().decode().split("\0")
    names = [entry.partition("=")[0] for entry in environment]
    assert "HOME" in names
    plain = {"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "TEMP", "TMP", ""}
    prefixes = ("XDG_", "LC_", "SIGHTLINE_")
    assert not [n for n in names if n not in plain and not n.startswith(prefixes)]
    command = Path(f"/proc/{child.pid}/cmdline").read_bytes().decode().split("\0")
    assert command[1:-1] == [str(SIGHTLINE), "serve", "--source", "editor"]
    assert editor.token() not in " ".join(environment + command)


def test_the_editors_own_agent_uses_the_server(editor: Editor, root: Path) -> None:
    start_server(editor, "Sightline")

    def is_a_client() -> bool:
        return any("code-server" in name or "Code" in name for name in clients(editor))

    editor.until(is_a_client)
    editor.until(lambda: len(own_tools(editor)) == 7)
    use = Place(root / "main.ts", "small = ")
    said = editor.js(INVOKE, tool=own_tools(editor)[0], input=use.arguments())
    found = json.loads(said[0])
    assert found["locations"] == [Place(root / "shapes.ts", "function ").location(4)]
    editor.screenshot("5-own-agent")


def clients(editor: Editor) -> list[str]:
    """Who has a session, as the running program itself reports."""
    import socket

    (path,) = (editor.home / ".local/share/sightline/run").glob("*.sock")
    with socket.socket(socket.AF_UNIX) as status:
        status.connect(str(path))
        with status.makefile("rb") as stream:
            report: dict[str, Any] = json.loads(stream.readline())
    names: list[str] = report["sessions"]
    return names


def test_stop_and_start_are_commands(editor: Editor) -> None:
    editor.command("Sightline: Stop")
    editor.until(lambda: editor.child() is None)
    assert not editor.serving()
    editor.command("Sightline: Start")
    editor.until(editor.serving)
    editor.command("Sightline: Show Status")
    editor.page("wait", selector=".quick-input-list [aria-label*='Rotate tokens']")
    editor.screenshot("6-status")
    editor.page("press", keys="Escape")


def test_a_window_closed_with_unsaved_text_leaves_no_process(editor: Editor, root: Path) -> None:
    before = (root / "main.ts").read_text()
    edit(editor, root / "main.ts", "// unsaved\n")
    assert editor.child() is not None
    editor.page("close", dirty=True)
    assert editor.left_after(60) == []
    assert not editor.serving()
    assert (root / "main.ts").read_text() == before
