"""A folder that the user excludes, with real servers, as a client sees it: it is not there."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sightline.contract.settings import Settings
from tests.conftest import Workspace
from tests.support.engine import engine
from tests.support.program import run
from tests.support.stdio import StdioServer


class Case(NamedTuple):
    files: dict[str, str]
    #: The file that declares ``area``, and the place of its name there.
    declared: str
    line: int
    character: int
    #: The file that imports something from the excluded folder, and where it uses it.
    imports: str
    used: tuple[int, int]


CASES = {
    "python": Case(
        {
            "shapes.py": "def area(width: int) -> int:\n    return width\n",
            "main.py": "from gen.made import PLANTED_made\nfrom shapes import area\n\n"
            'print(area("x"), PLANTED_made)\n',
            "gen/__init__.py": "",
            "gen/made.py": "from shapes import area\n\nPLANTED_made = area(1)\nwrong: int = 'x'\n",
        },
        "shapes.py",
        0,
        4,
        "main.py",
        (3, 20),
    ),
    "typescript": Case(
        {
            "tsconfig.json": '{"compilerOptions": {"strict": true}}',
            "shapes.ts": "export function area(width: number): number {\n  return width;\n}\n",
            "main.ts": 'import { PLANTED_made } from "./gen/made";\n'
            'import { area } from "./shapes";\n\n'
            'console.log(area("x"), PLANTED_made);\n',
            "gen/made.ts": 'import { area } from "../shapes";\n\n'
            'export const PLANTED_made = area(1);\nconst wrong: number = "x";\n',
        },
        "shapes.ts",
        0,
        16,
        "main.ts",
        (3, 25),
    ),
    "c": Case(
        {
            "compile_flags.txt": "-I.\n",
            "shapes.h": "int area(int width);\n",
            "shapes.c": '#include "shapes.h"\nint area(int width) { return width; }\n',
            "main.c": '#include "gen/made.h"\n#include "shapes.h"\n\n'
            "int main(void) { int *p = area(1); return PLANTED_made; }\n",
            "gen/made.h": "static int PLANTED_made = 1;\n",
            "gen/made.c": '#include "../shapes.h"\nint *q(void) { return area(2); }\n',
        },
        "shapes.c",
        1,
        4,
        "main.c",
        (3, 42),
    ),
}
SETTINGS = 'exclude = ["gen/"]\n'


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


@pytest.fixture
def root(workspace: Workspace, case: Case) -> Path:
    return workspace(case.files)


@pytest.fixture
def client(stdio: Callable[..., StdioServer], installed: Path, root: Path) -> StdioServer:
    folder = installed / ".config/sightline"
    folder.mkdir(parents=True)
    (folder / "sightline.toml").write_text(SETTINGS)
    server = stdio(root)
    server.initialize()
    return server


def answers(server: StdioServer, root: Path, case: Case) -> dict[str, Any]:
    """Everything that can be asked of the project, by what was asked."""
    uri, place = (root / case.declared).as_uri(), {"line": case.line, "character": case.character}
    using, (line, character) = (root / case.imports).as_uri(), case.used
    made = {"uri": using, "position": {"line": line, "character": character}}
    asked: list[tuple[str, dict[str, Any]]] = [
        ("vscode.lsp.references", {"uri": uri, "position": place, "includeDeclaration": True}),
        ("vscode.lsp.definition", made),
        ("vscode.lsp.workspaceSymbols", {"query": "made"}),
        ("vscode.lsp.workspaceSymbols", {"query": "area"}),
        ("vscode.lsp.diagnostics.workspace", {}),
        ("vscode.lsp.diagnostics.document", {"uri": using}),
        ("vscode.lsp.documentSymbols", {"uri": using}),
        ("index_build", {}),
        ("index_status", {}),
        ("search", {"query": "area", "mode": "literal"}),
        ("search", {"query": "PLANTED_made"}),
        ("context.resolve", {"cache": "workspace:ws", "query": "area made", "budget": 2_000}),
    ]
    found: dict[str, Any] = {}
    for tool, arguments in asked:
        answer = server.call(tool, arguments)
        assert "result" in answer, answer
        assert not answer["result"]["isError"], answer
        found[f"{tool} {json.dumps(arguments)}"] = answer["result"]["structuredContent"]
    return found


def places(payload: Any) -> list[str]:
    """Every file that an answer names."""
    if isinstance(payload, list):
        return [place for each in payload for place in places(each)]
    if not isinstance(payload, dict):
        return []
    named = [payload[key] for key in ("uri", "path", "id") if key in payload]
    return named + [place for each in payload.values() for place in places(each)]


def test_its_places_are_in_no_answer(client: StdioServer, root: Path, case: Case) -> None:
    told = answers(client, root, case)
    for asked, payload in told.items():
        assert not [place for place in places(payload) if "gen/" in place], asked
    by_tool = {asked.split(" ")[0]: payload for asked, payload in told.items()}
    references = by_tool["vscode.lsp.references"]
    assert {item["uri"].rpartition("/")[2] for item in references["items"]} >= {case.imports}
    definition = by_tool["vscode.lsp.definition"]
    assert definition["locations"] == [], "where it leads is counted, and not shown"
    assert "1 in excluded files not shown." in definition["summary"]
    diagnostics = by_tool["vscode.lsp.diagnostics.workspace"]
    assert [item["uri"] for item in diagnostics["items"]] == [(root / case.imports).as_uri()]
    files = {name for name in case.files if not name.startswith("gen/")}
    assert by_tool["index_status"]["roots"][0]["files"] == len(files)


def test_nothing_in_it_can_be_asked_about(client: StdioServer, root: Path, case: Case) -> None:
    (file,) = [name for name in case.files if "gen/made" in name][:1]
    position = {"line": 0, "character": 0}
    uri = (root / file).as_uri()
    for tool, more in (
        ("definition", {"position": position}),
        ("references", {"position": position}),
        ("hover", {"position": position}),
        ("documentSymbols", {}),
        ("diagnostics.document", {}),
    ):
        error = client.call(f"vscode.lsp.{tool}", {"uri": uri} | more)["error"]
        assert error["data"]["code"] == "MCP_LSP_GATEWAY/WORKSPACE_DENIED"
        assert "the setting exclude" in error["message"]
    for path in (file, uri, str(root / file)):
        refused = client.call("show_file", {"path": path})["result"]
        told = json.loads(refused["content"][0]["text"])
        assert (refused["isError"], told["code"]) == (True, "FORBIDDEN")


def test_an_edit_in_it_changes_nothing(client: StdioServer, root: Path, case: Case) -> None:
    before = answers(client, root, case)
    pages = {"query": "area", "pageSize": 1}
    first = client.call("search", pages)["result"]["structuredContent"]
    for name in case.files:
        if name.startswith("gen/"):
            (root / name).write_text((root / name).read_text() + "\n\n")
    ending = case.declared.rpartition(".")[2]
    (root / f"gen/more.{ending}").write_text(case.files[case.declared])
    after = answers(client, root, case)
    built = [asked for asked in before if asked.startswith("index_build")]
    assert {k: v for k, v in after.items() if k not in built} == {
        k: v for k, v in before.items() if k not in built
    }
    again = client.call("search", pages | {"cursor": first["nextCursor"]})
    assert "result" in again and not again["result"]["isError"], "no cursor went stale"


def test_the_same_without_the_setting(
    stdio: Callable[..., StdioServer], installed: Path, root: Path, case: Case
) -> None:
    """What the tests above do not find is there to be found."""
    server = stdio(root)
    server.initialize()
    told = answers(server, root, case)
    for tool in (
        "vscode.lsp.references",
        "vscode.lsp.definition",
        "vscode.lsp.workspaceSymbols",
        "vscode.lsp.diagnostics.workspace",
        "search",
        "context.resolve",
    ):
        own = [payload for asked, payload in told.items() if asked.startswith(f"{tool} ")]
        assert [place for place in places(own) if "gen/" in place], tool


def test_what_git_ignores_is_indexed_where_it_is_wanted(
    stdio: Callable[..., StdioServer], workspace: Workspace, installed: Path
) -> None:
    root = workspace(
        {
            ".gitignore": "build/\n*.secret\n",
            "a.py": "wanted = 1\n",
            "build/api/b.py": "wanted = 2\n",
            "build/other/c.py": "wanted = 3\n",
            "d.secret": "wanted = 4\n",
            "node_modules/lib/e.js": "var wanted = 5\n",
            "node_modules/other/f.js": "var wanted = 6\n",
        }
    )
    folder = installed / ".config/sightline"
    folder.mkdir(parents=True)
    (folder / "sightline.toml").write_text(
        'exclude = ["/a.py"]\n'
        f'[roots."{root}"]\n'
        'include_ignored = ["/build/api/**", "*.secret", "/node_modules/lib/"]\n'
        '[roots."/elsewhere"]\nexclude = ["unwanted/"]\n'
    )
    server = stdio(root, "--tools", "index")
    server.initialize()
    server.call("index_build", {})

    def found() -> set[str]:
        answer = server.call("search", {"query": "wanted", "mode": "literal"})
        return {item["path"] for item in answer["result"]["structuredContent"]["items"]}

    wanted = {"build/api/b.py", "d.secret", "node_modules/lib/e.js"}
    assert found() == wanted
    (root / "build/api/g.py").write_text("wanted = 7\n")
    (root / "build/other/h.py").write_text("wanted = 8\n")
    (root / "build/api/b.py").unlink()
    assert found() == wanted - {"build/api/b.py"} | {"build/api/g.py"}
    report = json.loads(run(installed, "doctor", "--json", root).stdout)["findings"]
    told = {each["subject"]: each["detail"] for each in report}
    assert told[f"exclude in {root}"] == "/a.py"
    assert told[f"include_ignored in {root}"] == "/build/api/**, *.secret, /node_modules/lib/"
    assert "unwanted" not in json.dumps(told)


@pytest.mark.parametrize("glob", ["gen/", "/gen", "*made.py", "**/gen/**", "g*"])
@pytest.mark.parametrize("below", ["", "inner/"])
async def test_ty_is_told_what_is_excluded(
    workspace: Workspace, tmp_path: Path, glob: str, below: str
) -> None:
    """It does not look there, so that there is nothing to count; what a project leaves out itself
    is still left out."""
    own = {
        "pyproject.toml": '[project]\nname = "x"\n[tool.ty.src]\nexclude = ["tests"]\n',
        "tests/t.py": "wrong: int = 'x'\n",
    }
    files = {f"{below}{name}": text for name, text in CASES["python"].files.items()}
    root = workspace(files if below else files | own)
    anchored = f"/{below}{glob[1:]}" if glob.startswith("/") else glob
    settings = Settings(exclude=(anchored,))
    async with engine(root, cache=tmp_path / "cache", settings=settings) as running:
        found = await running.call("vscode.lsp.diagnostics.workspace")
        assert [item["uri"] for item in found["items"]] == [running.uri(f"{below}main.py")]
        assert found["summary"] == "Returned diagnostics for 1 file. In all: 1 error."
        place = {"line": 0, "character": 4}
        uri = running.uri(f"{below}shapes.py")
        uses = await running.call("vscode.lsp.references", uri=uri, position=place)
        assert len(uses["items"]) == 2 and "excluded" not in uses["summary"]


def test_servers_that_exclude_differently_share_an_index(
    stdio: Callable[..., StdioServer], workspace: Workspace
) -> None:
    """Each answers by its own settings, whoever of them wrote last."""
    root = workspace({"a.py": "wanted = 1\n", "gen/b.py": "wanted = 2\n"})
    whole = stdio(root, "--tools", "index")
    partly = stdio(root, "--tools", "index", "--set", "exclude=gen/")

    def found(server: StdioServer) -> list[str]:
        answer = server.call("search", {"query": "wanted", "mode": "literal"})["result"]
        return sorted(item["path"] for item in answer["structuredContent"]["items"])

    for server in (whole, partly):
        server.initialize()
        server.call("index_build", {})
    for number in range(3):
        assert found(partly) == ["a.py"]
        assert found(whole) == ["a.py", "gen/b.py"]
        (root / "a.py").write_text(f"wanted = {number + 2}\n")
        (root / "gen/b.py").write_text(f"wanted = {number + 3}\n")
        for server in (whole, partly) if number % 2 else (partly, whole):
            server.call("index_build", {})


def test_a_cache_of_code_has_nothing_of_it(
    installed: Path, workspace: Workspace, tmp_path: Path
) -> None:
    root = workspace({"a.py": "def wanted():\n    pass\n", "gen/b.py": "def made():\n    pass\n"})
    folder = installed / ".config/sightline"
    folder.mkdir(parents=True)
    (folder / "sightline.toml").write_text(SETTINGS)
    cache = tmp_path / "made"
    build = ("context", "build", "--profile", "code", "--sources", root, "--cache", cache)
    assert run(installed, *build).returncode == 0
    for source in (str(cache), f"workspace:{root}"):
        asked = ("--query", "wanted made", "--budget", "900")
        done = run(installed, "context", "resolve", "--cache", source, *asked)
        assert "a.py::wanted" in done.stdout and "gen/b.py" not in done.stdout
