"""A window on a Python workspace, with Pyright behind the usual client of language servers.

The tests share the window. Pyright answers from open files alone until it has found the others; no
sign of that reaches another extension, so Sightline must find out by a question.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.vscode import workspaces
from tests.vscode.client import Refused, connected, one_call
from tests.vscode.host import HERE, Editor
from tests.vscode.workspaces import Place

pytestmark = [pytest.mark.slow, pytest.mark.vscode]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = workspaces.python(tmp_path_factory.mktemp("python") / "ws")
    for number in range(300):  # enough for Pyright to need a moment to find them
        use = f"def use{number}() -> int:\n    return area({number}, 1)\n"
        (root / f"use{number}.py").write_text(f"from shapes import area\n\n\n{use}")
    (root / "tool.lua").write_text("function helper() end\n")
    return root


@pytest.fixture(scope="module")
def editor(root: Path, open_editor: Callable[..., Editor]) -> Editor:
    editor = open_editor(root, "python", extensions=[HERE / "python"])
    editor.until(editor.serving)
    return editor


def test_seven_tools_are_answered_by_an_official_client(editor: Editor, root: Path) -> None:
    use = Place(root / "main.py", "small = ")
    defined = Place(root / "shapes.py", "def ").location(4)

    assert not editor.is_active("sightline-tests.python"), "nothing is loaded yet"

    async def ask() -> None:
        async with connected(editor.url, editor.token()) as agent:
            # The very first answer: a loading Pyright would find the open file's alone.
            found = await agent.call("references", **use.arguments(), includeDeclaration=True)
            first = found["items"]
            while found["nextCursor"]:
                more = {"includeDeclaration": True, "cursor": found["nextCursor"]}
                found = await agent.call("references", **use.arguments(), **more)
                first += found["items"]
            assert len(first) == 1 + 3 + 2 + 300 * 2
            found = await agent.call("definition", **use.arguments())
            assert found["locations"] == [defined]
            hover = await agent.call("hover", **use.arguments())
            assert "The area of a rectangle." in hover["contents"][0]["value"]
            outline = await agent.call("documentSymbols", uri=(root / "other.py").as_uri())
            assert [(s["name"], s["kind"]) for s in outline["symbols"]] == [("third", 12)]
            symbols = await agent.call("workspaceSymbols", query="third")
            assert [item["name"] for item in symbols["items"]] == ["third"]
            assert symbols["summary"].endswith("No language server for Lua.")
            with pytest.raises(Refused, match="PROVIDER_UNAVAILABLE"):
                await agent.call("diagnostics.document", uri=use.uri)
            report = await agent.call("diagnostics.workspace")
            assert report["items"] == []

    asyncio.run(ask())


def test_a_page_is_followed_until_something_changes_that_decides_answers(
    editor: Editor, root: Path
) -> None:
    url, token = editor.url, editor.token()
    asked = Place(root / "main.py", "small = ").arguments()
    cursor = one_call(url, token, "references", **asked)["nextCursor"]
    _set(editor, "workbench.sideBar.location", "right")
    assert one_call(url, token, "references", **asked, cursor=cursor)["items"]
    _set(editor, "python.analysis.logLevel", "Error")
    with pytest.raises(Refused) as refused:
        one_call(url, token, "references", **asked, cursor=cursor)
    assert refused.value.code == "CURSOR_STALE"


def test_nothing_found_is_told_apart_from_nobody_there(editor: Editor, root: Path) -> None:
    url, token = editor.url, editor.token()
    nothing = Place(root / "main.py", "from shapes import area\n")
    found = one_call(url, token, "definition", **nothing.arguments())
    assert found["locations"] == []
    nobody = Place(root / "tool.lua", "function ")
    with pytest.raises(Refused) as refused:
        one_call(url, token, "definition", **nobody.arguments())
    assert refused.value.code == "PROVIDER_UNAVAILABLE"


def test_shown_documents_have_diagnostics_of_their_current_text(editor: Editor, root: Path) -> None:
    main = root / "main.py"
    before = main.read_text()
    editor.js(
        """
        const document = await vscode.workspace.openTextDocument(vscode.Uri.file(args.file));
        await vscode.window.showTextDocument(document, { preview: false });
        const change = new vscode.WorkspaceEdit();
        change.insert(document.uri, new vscode.Position(0, 0), 'wrong: int = "text"\\n');
        await vscode.workspace.applyEdit(change);
        """,
        file=str(main),
    )
    url, token = editor.url, editor.token()
    report = one_call(url, token, "diagnostics.document", uri=main.as_uri())
    assert [d["code"] for d in report["diagnostics"]] == ["reportAssignmentType"]
    everything = one_call(url, token, "diagnostics.workspace")
    assert [item["uri"] for item in everything["items"]] == [main.as_uri()]
    assert "the 1 document it shows" in everything["summary"]
    assert main.read_text() == before
    use = Place(main, "small = ", text='wrong: int = "text"\n' + before)
    found = one_call(url, token, "definition", **use.arguments())
    assert found["locations"] == [Place(root / "shapes.py", "def ").location(4)]
    editor.screenshot("1-diagnostics")
    editor.js("await vscode.commands.executeCommand('workbench.action.files.revert')")


def test_a_file_made_by_others_is_in_the_next_answer(editor: Editor, root: Path) -> None:
    url, token = editor.url, editor.token()
    file = root / "fresh.py"
    file.write_text("from shapes import area\n\n\ndef fresh() -> int:\n    return area(5, 5)\n")
    found = one_call(url, token, "workspaceSymbols", query="fresh")
    assert [item["name"] for item in found["items"]] == ["fresh"]
    asked = Place(file, "return ")
    found = one_call(url, token, "definition", **asked.arguments())
    assert found["locations"] == [Place(root / "shapes.py", "def ").location(4)]


def _set(editor: Editor, name: str, value: str) -> None:
    """Changes a setting of the user and returns when every extension was told."""
    editor.js(
        """
        const told = new Promise((resolve) => {
          const heard = vscode.workspace.onDidChangeConfiguration((event) => {
            if (!event.affectsConfiguration(args.name)) return;
            heard.dispose();
            resolve();
          });
        });
        const settings = vscode.workspace.getConfiguration();
        await settings.update(args.name, args.value, vscode.ConfigurationTarget.Global);
        await told;
        """,
        name=name,
        value=value,
    )
