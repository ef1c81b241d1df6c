"""What a server does not read, and what is found there all the same."""

from pathlib import Path

import pytest

from sightline.contract.failures import Unavailable
from tests.languages.samples import only, unaccounted
from tests.support.engine import engine
from tests.support.files import write_files

NOT_READ = "in files that the server does not read"
_PYTHON = "from lib import area\n\narea()\n"
_C = """int area(void) { return 1; }
int used(void) { return area(); }
#ifdef NOWHERE
int unused(void) { return area(); }
#endif
"""

#: Per server: the files, where the name is defined, and where its other uses are found.
CASES: dict[str, tuple[dict[str, str], str, int, set[str]]] = {
    "ty": (
        {
            "lib.py": "def area() -> int:\n    return 1\n",
            "use.py": _PYTHON,
            "ignored.py": _PYTHON,
            "dist/use.py": _PYTHON,
            "other/use.py": _PYTHON,
            ".gitignore": "ignored.py\n",
            ".ignore": "other/\n",
            ".git/HEAD": "ref: refs/heads/main\n",
        },
        "lib.py",
        4,
        {
            f"{name}.py:{line}"
            for name in ("use", "ignored", "dist/use", "other/use")
            for line in (0, 2)
        },
    ),
    "pyright": (
        {
            "lib.py": "def area() -> int:\n    return 1\n",
            "use.py": _PYTHON,
            "node_modules/use.py": _PYTHON,
            ".hidden/use.py": _PYTHON,
        },
        "lib.py",
        4,
        {"use.py:0", "use.py:2"},
    ),
    "clangd": ({"area.c": _C}, "area.c", 4, {"area.c:1"}),
    "bash": (
        {
            "lib.sh": "area() {\n  echo 1\n}\n",
            "use.sh": ". ./lib.sh\narea\n",
            "deploy": "#!/bin/zsh\n. ./lib.sh\narea\n",
            "run.bats": '@test "it" {\n  run area\n}\n',
        },
        "lib.sh",
        0,
        {"use.sh:1"},
    ),
}


@pytest.mark.parametrize("server", CASES)
async def test_what_is_found_in_files_that_a_server_leaves_out(tmp_path: Path, server: str) -> None:
    files, defined, column, expected = CASES[server]
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only(server)) as running:
        answer = await running.call(
            "vscode.lsp.references",
            uri=running.uri(defined),
            position={"line": 0, "character": column},
        )
    base = root.as_uri() + "/"
    found = {(item["uri"], item["range"]["start"]["line"]) for item in answer["items"]}
    assert {f"{uri.removeprefix(base)}:{line}" for uri, line in found} == expected


async def test_a_server_without_diagnostics_is_not_called_none(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", {"a.py": "x = 1\n", "a.sh": "echo 1\n"})
    async with engine(root, cache=tmp_path, registry=only("ty", "bash")) as running:
        answer = await running.call("vscode.lsp.diagnostics.workspace")
        assert answer["summary"].endswith("Not checked: Bash.")


async def test_languages_without_a_server_are_named(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", {"a.ts": "const x = 1;\n", "a.sh": "echo 1\n"})
    none = tmp_path / "servers"
    async with engine(root, cache=tmp_path, servers=none) as running:
        with pytest.raises(Unavailable, match="no language server answers for Bash, TypeScript;"):
            await running.once("vscode.lsp.workspaceSymbols", query="x")
    (root / "a.ts").unlink()
    (root / "a.sh").rename(root / "a.txt")
    async with engine(root, cache=tmp_path) as running:
        with pytest.raises(Unavailable, match="is known for the files here; search the text"):
            await running.once("vscode.lsp.workspaceSymbols", query="x")


async def test_grammars_that_use_c(tmp_path: Path) -> None:
    files = {"a.c": "int area(void) { return 1; }\n", "a.y": "%%\narea()\n", "a.l": "%%\n"}
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        place = {"line": 0, "character": 4}
        answer = await running.call("vscode.lsp.references", uri=running.uri("a.c"), position=place)
        said = unaccounted("area", 1, "in files of other languages", "a.y")
        assert answer["summary"] == f"Returned 0 references. {said}"


async def test_scripts_that_no_server_reads(tmp_path: Path) -> None:
    files = {
        "lib/common.bash": "area() {\n  echo 1\n}\nother() {\n  echo 2\n}\n",
        "libexec/run": "#!/usr/bin/env zsh\n. ../lib/common.bash\narea\n",
        "libexec/more": "#!/bin/awk -f\narea\n",
        "test/run.bats": '@test "it" {\n  run area\n}\n',
        "LICENSE": "area\n",
    }
    root = write_files(tmp_path / "ws", files)

    async def summary(file: str, line: int, column: int) -> str:
        place = {"line": line, "character": column}
        uri = running.uri(file)
        answer = await running.call("vscode.lsp.references", uri=uri, position=place)
        return str(answer["summary"]).removeprefix("Returned 0 references.").strip()

    async with engine(root, cache=tmp_path, registry=only("bash")) as running:
        said = unaccounted("area", 2, NOT_READ, "libexec/run, test/run.bats")
        assert await summary("lib/common.bash", 0, 0) == said
        assert await summary("lib/common.bash", 3, 0) == ""
        write_files(root, {"libexec/more": "#!/bin/zsh\nother\n"})
        said = unaccounted("other", 1, NOT_READ, "libexec/more")
        assert await summary("lib/common.bash", 3, 0) == said
        (root / "libexec/more").unlink()
        assert await summary("lib/common.bash", 3, 0) == ""


async def test_functions_of_the_shell_with_hyphens_in_their_names(tmp_path: Path) -> None:
    """Only the whole name is looked for: a part of it is in every other script."""
    files = {
        "lib.sh": "log-fail() {\n  echo 1\n}\nfunction log-info {\n  echo 2\n}\nlog-info\n",
        "run": "#!/bin/zsh\n. lib.sh\nlog-fail\nlog info\n",
        "other": "#!/bin/zsh\nlog-fail-soft\nmy-log-info\nfail log\n",
    }
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only("bash")) as running:
        summaries = []
        for line, column in ((0, 0), (0, 6), (3, 9), (6, 1)):
            answer = await running.call(
                "vscode.lsp.references",
                uri=running.uri("lib.sh"),
                position={"line": line, "character": column},
            )
            summaries.append(answer["summary"])
    said = "Returned 0 references. " + unaccounted("log-fail", 1, NOT_READ, "run")
    assert summaries == [said, said, "Returned 1 reference.", "Returned 1 reference."]
