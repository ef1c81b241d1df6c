"""Git worktrees inside a root are copies of the project: no answer about one names another."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.languages.samples import only
from tests.support.engine import Engine, engine
from tests.support.files import write_files

USE = "from core import target\n\ntarget()\n"
FILES = {
    "ty": ({"core.py": "def target() -> int:\n    return 1\n", "use.py": USE}, "core.py", 4),
    "pyright": ({"core.py": "def target() -> int:\n    return 1\n", "use.py": USE}, "core.py", 4),
    "tsgo": (
        {
            "core.ts": "export function target() { return 1 }\n",
            "use.ts": "import { target } from './core'\ntarget()\n",
            "tsconfig.json": "{}",
        },
        "core.ts",
        16,
    ),
    "clangd": (
        {
            "core.c": "int target(void) { return 1; }\n",
            "use.c": "int target(void);\nint use(void) { return target(); }\n",
        },
        "core.c",
        4,
    ),
    "bash": (
        {"core.sh": "target() {\n  echo\n}\n", "use.sh": ". ./core.sh\ntarget\n"},
        "core.sh",
        0,
    ),
}


def git(folder: Path, *arguments: str) -> None:
    own = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    own += ["-c", "protocol.file.allow=always"]
    subprocess.run(["git", *own, *arguments], cwd=folder, check=True, capture_output=True)


def repository(folder: Path, files: dict[str, str]) -> Path:
    write_files(folder, files)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "one")
    return folder


async def references(running: Engine, file: Path, column: int) -> tuple[set[str], str]:
    """The files that a name is found in, by their paths from the root, and the summary."""
    answer: Any = await running.call(
        "vscode.lsp.references",
        uri=file.as_uri(),
        position={"line": 0, "character": column},
        includeDeclaration=True,
    )
    base = running.root.as_uri() + "/"
    return {item["uri"].removeprefix(base) for item in answer["items"]}, answer["summary"]


@pytest.mark.parametrize("server", FILES)
async def test_each_worktree_speaks_for_itself(tmp_path: Path, server: str) -> None:
    files, core, column = FILES[server]
    use = core.replace("core", "use")
    main = repository(tmp_path / "main", files)
    for place in (".claude/worktrees/feat", "worktrees/b2"):
        git(main, "worktree", "add", "-q", place)
    async with engine(main, cache=tmp_path, registry=only(server)) as running:
        assert (await references(running, main / core, column))[0] == {core, use}
        symbols = await running.call("vscode.lsp.workspaceSymbols", query="target")
        assert [item["location"]["uri"] for item in symbols["items"]] == [running.uri(core)]
        inner = main / "worktrees/b2"
        expected = {f"worktrees/b2/{name}" for name in (core, use)}
        assert (await references(running, inner / core, column))[0] == expected
        definition = await running.call(
            "vscode.lsp.definition",
            uri=running.uri(core),
            position={"line": 0, "character": column},
        )
        assert {each["uri"] for each in definition["locations"]} <= {running.uri(core)}
    feat = main / ".claude/worktrees/feat"
    async with engine(feat, cache=tmp_path, registry=only(server)) as running:
        assert (await references(running, feat / core, column))[0] == {core, use}


async def test_what_is_not_shown_is_counted(tmp_path: Path) -> None:
    files, core, column = FILES["ty"]
    broken = files | {"wrong.py": "import nothing_at_all\n"}
    main = repository(tmp_path / "main", broken)
    git(main, "worktree", "add", "-q", "worktrees/b2")
    async with engine(main, cache=tmp_path, registry=only("ty")) as running:
        _, summary = await references(running, main / core, column)
        assert summary == "Returned 3 references. 2 in other Git worktrees not shown."
        answer = await running.call("vscode.lsp.workspaceSymbols", query="target")
        assert "1 workspace symbol. 1 in other Git worktrees not shown." in answer["summary"]
        answer = await running.call("vscode.lsp.diagnostics.workspace")
        assert "In all: 1 error. 1 in other Git worktrees not shown." in answer["summary"]
        git(main, "worktree", "remove", "--force", "worktrees/b2")
        _, summary = await references(running, main / core, column)
        assert summary == "Returned 3 references."
        git(main, "worktree", "add", "-q", "worktrees/b3")
        found, _ = await references(running, main / core, column)
        assert found == {"core.py", "use.py"}


async def test_a_submodule_is_a_part_of_the_project(tmp_path: Path) -> None:
    other = repository(tmp_path / "other", {"inner.py": USE})
    main = repository(tmp_path / "main", {"core.py": "def target() -> int:\n    return 1\n"})
    git(main, "submodule", "add", "-q", str(other), "part")
    async with engine(main, cache=tmp_path, registry=only("ty")) as running:
        found, summary = await references(running, main / "core.py", 4)
        assert found == {"core.py", "part/inner.py"} and "worktrees" not in summary


async def test_worktrees_of_others_and_beside_a_bare_repository_are_shown(tmp_path: Path) -> None:
    main = repository(tmp_path / "main", {"core.py": "def target() -> int:\n    return 1\n"})
    other = repository(tmp_path / "other", {"inner.py": USE})
    git(other, "worktree", "add", "-q", str(main / "part"))
    async with engine(main, cache=tmp_path, registry=only("ty")) as running:
        assert (await references(running, main / "core.py", 4))[0] == {"core.py", "part/inner.py"}
    place = tmp_path / "place"
    git(tmp_path, "clone", "-q", "--bare", str(main), str(place / ".bare"))
    (place / ".git").write_text("gitdir: ./.bare\n")
    git(place, "worktree", "add", "-q", "--detach", "one")
    async with engine(place, cache=tmp_path, registry=only("ty")) as running:
        symbols = await running.call("vscode.lsp.workspaceSymbols", query="target")
        assert [item["location"]["uri"] for item in symbols["items"]] == [
            running.uri("one/core.py")
        ]


async def test_the_index_has_no_copies(tmp_path: Path) -> None:
    files, _, _ = FILES["ty"]
    main = repository(tmp_path / "main", files)
    git(main, "worktree", "add", "-q", "worktrees/b2")
    async with engine(main, cache=tmp_path, families=("lsp", "index")) as running:

        async def paths() -> list[str]:
            found = await running.call("search", query="target", mode="literal")
            return sorted({item["path"] for item in found["items"]})

        await running.call("index_build")
        assert await paths() == ["core.py", "use.py"]
        status = await running.call("index_status")
        (skipped,) = [each for each in _skipped(status) if each["reason"] == "worktree"]
        assert skipped["examples"] == ["worktrees/b2"]
        git(main, "worktree", "add", "-q", "worktrees/b3")
        (main / "more.py").write_text(USE)
        assert await paths() == ["core.py", "more.py", "use.py"]


def _skipped(status: Any) -> list[Any]:
    roots = status.get("roots", [status])
    return [each for root in roots for each in root["skipped"]]
