"""Many roots: several at once, nested projects, worktrees, links, roots that come and go."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from sightline.contract.failures import CursorStale, Unavailable, WorkspaceDenied
from sightline.workspace.roots import open_root
from tests.languages.samples import only
from tests.support.engine import Engine, engine
from tests.support.files import write_files

DEFINITION = "def target() -> int:\n    return 1\n"


def project(root: Path, name: str, text: str = DEFINITION) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    (root / f"{name}.py").write_text(text)
    return root


async def found(running: Engine, query: str) -> list[str]:
    answer = await running.call("vscode.lsp.workspaceSymbols", query=query)
    return [item["location"]["uri"].rpartition("/")[2] for item in answer["items"]]


async def references(running: Engine, file: Path, **extra: Any) -> set[str]:
    answer = await running.call(
        "vscode.lsp.references",
        uri=file.as_uri(),
        position={"line": 0, "character": 5},
        includeDeclaration=True,
        **extra,
    )
    return {item["uri"] for item in answer["items"]}


async def test_roots_come_and_go_while_running(tmp_path: Path) -> None:
    one, two = project(tmp_path / "one", "first"), project(tmp_path / "two", "second")
    async with engine(one, cache=tmp_path) as running:
        workspace = running.program.workspace
        assert await found(running, "target") == ["first.py"]
        page = await running.call("vscode.lsp.workspaceSymbols", query="target", pageSize=1)
        with pytest.raises(WorkspaceDenied):
            await running.call("vscode.lsp.documentSymbols", uri=(two / "second.py").as_uri())
        both = [open_root(str(root), home=None) for root in (one, two)]
        before = (await workspace.begin()).epochs
        await workspace.set_roots(both)
        assert (await workspace.begin()).epochs.roots == before.roots + 1
        assert await found(running, "target") == ["first.py", "second.py"]
        assert page["nextCursor"] is None
        paged = await running.call("vscode.lsp.workspaceSymbols", query="target", pageSize=1)
        await workspace.set_roots(both[1:])
        with pytest.raises(CursorStale):
            await running.call(
                "vscode.lsp.workspaceSymbols", query="target", cursor=paged["nextCursor"]
            )
        assert await found(running, "target") == ["second.py"]
        with pytest.raises(WorkspaceDenied):
            await running.call("vscode.lsp.documentSymbols", uri=(one / "first.py").as_uri())
        project(two, "third")
        assert await found(running, "target") == ["second.py", "third.py"]
    assert {Path(row.root).name for row in running.program.pool.status()} == set()


async def test_the_server_of_a_removed_root_is_ended(tmp_path: Path) -> None:
    one, two = project(tmp_path / "one", "first"), project(tmp_path / "two", "second")
    async with engine(one, two, cache=tmp_path) as running:
        await found(running, "target")
        await running.program.workspace.set_roots([open_root(str(two), home=None)])
        await found(running, "target")
        assert [Path(row.root).name for row in running.program.pool.status()] == ["two"]


SIDE = {
    "a/a.c": '#include "../b/b.h"\nint f(void) { return twice(1); }\n',
    "b/b.h": "int twice(int x);\n",
}


async def both_answers(running: Engine, root: Path) -> tuple[Any, Any]:
    place: dict[str, Any] = {"uri": (root / "a.c").as_uri()}
    place["position"] = {"line": 1, "character": 22}
    try:
        used = await running.call("vscode.lsp.references", includeDeclaration=True, **place)
    except Unavailable as refused:
        used = str(refused)
    defined = await running.call("vscode.lsp.definition", **place)
    return used, defined


async def test_what_a_project_includes_of_another_root_is_read_while_that_is_one(
    tmp_path: Path,
) -> None:
    """Also by a server that had started before, and with what one kept that had."""
    write_files(tmp_path, SIDE)
    one, two = tmp_path / "a", tmp_path / "b"
    clangd = only("clangd")

    async def fresh(*roots: Path, cache: str) -> tuple[Any, Any]:
        (tmp_path / cache).mkdir(exist_ok=True)
        async with engine(*roots, cache=tmp_path / cache, registry=clangd) as running:
            return await both_answers(running, one)

    alone, together = await fresh(one, cache="1"), await fresh(one, two, cache="2")
    assert alone[0].startswith("clangd cannot tell what `twice` is here (other build)")
    assert {item["uri"] for item in together[0]["items"]} == {
        (one / "a.c").as_uri(),
        (two / "b.h").as_uri(),
    }
    (tmp_path / "3").mkdir()
    both = [open_root(str(root), home=None) for root in (one, two)]
    async with engine(one, cache=tmp_path / "3", registry=clangd) as running:
        assert await both_answers(running, one) == alone
        await running.program.workspace.set_roots(both)
        assert await both_answers(running, one) == together
        await running.program.workspace.set_roots(both[:1])
        assert await both_answers(running, one) == alone
    assert await fresh(one, two, cache="1") == together
    assert await fresh(one, cache="2") == alone


async def test_two_worktrees_of_one_repository_are_two_worlds(tmp_path: Path) -> None:
    main = project(tmp_path / "main", "core")
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"]):
        subprocess.run(["git", *identity, *command], cwd=main, check=True)
    tree = tmp_path / "tree"
    subprocess.run(["git", "worktree", "add", "-q", str(tree)], cwd=main, check=True)
    (tree / "use.py").write_text("from core import target\n\ntarget()\n")
    async with engine(main, tree, cache=tmp_path) as running:
        assert await references(running, main / "core.py") == {(main / "core.py").as_uri()}
        expected = {(tree / name).as_uri() for name in ("core.py", "use.py")}
        assert await references(running, tree / "core.py") == expected


async def test_a_root_behind_a_link_is_the_folder_itself(tmp_path: Path) -> None:
    real = project(tmp_path / "real", "core")
    (real / "use.py").write_text("from core import target\n\ntarget()\n")
    link = tmp_path / "link"
    link.symlink_to(real)
    async with engine(link, cache=tmp_path) as running:
        expected = {(real / name).as_uri() for name in ("core.py", "use.py")}
        assert await references(running, link / "core.py") == expected
        assert await references(running, real / "core.py") == expected
        (link / "more.py").write_text("from core import target\n\ntarget()\n")
        assert len(await references(running, link / "core.py")) == 3


async def test_a_project_with_an_environment_of_its_own_has_a_server_of_its_own(
    tmp_path: Path,
) -> None:
    root = project(tmp_path / "ws", "core")
    inner = project(root / "services/api", "core", "def target() -> str:\n    return ''\n")
    (inner / "pyproject.toml").write_text('[project]\nname = "api"\nversion = "1"\n')
    packages = inner / ".venv/lib/python3.13/site-packages/helper"
    packages.mkdir(parents=True)
    (packages / "__init__.py").write_text("value: int = 1\n")
    (inner / ".venv/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.13.0\n")
    (inner / "use.py").write_text("from core import target\nfrom helper import value\n\ntarget()\n")
    async with engine(root, cache=tmp_path) as running:
        expected = {(inner / name).as_uri() for name in ("core.py", "use.py")}
        assert await references(running, inner / "core.py") == expected
        assert await references(running, root / "core.py") == {(root / "core.py").as_uri()}
        answer = await running.call("vscode.lsp.diagnostics.workspace")
        assert answer["items"] == [], "each file is judged in its own environment"
        symbols = await running.call("vscode.lsp.workspaceSymbols", query="target")
        assert len(symbols["items"]) == 2, "each file speaks once"
        assert [row.root for row in running.program.pool.status()] == [str(root), str(inner)]


async def test_what_an_inner_project_uses_of_the_outer_one_is_found(tmp_path: Path) -> None:
    root = project(tmp_path / "ws", "shared")
    inner = root / "services/api"
    packages = inner / ".venv/lib/python3.13/site-packages"
    packages.mkdir(parents=True)
    (packages / "shared.pth").write_text(f"{root}\n")
    (inner / ".venv/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.13.0\n")
    (inner / "pyproject.toml").write_text('[project]\nname = "api"\nversion = "1"\n')
    (inner / "use.py").write_text("from shared import target\n\ntarget()\n")
    (root / "own.py").write_text("from shared import target\n\ntarget()\n")
    async with engine(root, cache=tmp_path) as running:
        expected = {(root / name).as_uri() for name in ("shared.py", "own.py")}
        expected.add((inner / "use.py").as_uri())
        assert await references(running, root / "shared.py") == expected


async def test_an_environment_that_appears_is_used_at_once(tmp_path: Path) -> None:
    root = project(tmp_path / "ws", "core", "from helper import value\n\nprint(value)\n")
    async with engine(root, cache=tmp_path) as running:
        answer = await running.call("vscode.lsp.diagnostics.document", uri=running.uri("core.py"))
        assert "helper" in str(answer["diagnostics"])
        packages = root / ".venv/lib/python3.13/site-packages/helper"
        packages.mkdir(parents=True)
        (packages / "__init__.py").write_text("value: int = 1\n")
        (root / ".venv/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.13.0\n")
        answer = await running.call("vscode.lsp.diagnostics.document", uri=running.uri("core.py"))
        assert answer["diagnostics"] == []


async def test_a_change_in_another_root_costs_nothing_until_somebody_asks(tmp_path: Path) -> None:
    roots = [tmp_path / "one", tmp_path / "two"]
    for root in roots:
        root.mkdir()
        (root / "a.sh").write_text("area() {\n  echo\n}\n")
    files = [root / "a.sh" for root in roots]
    async with engine(*roots, cache=tmp_path, registry=only("bash")) as running:

        async def processes() -> list[int | None]:
            await running.program.workspace.begin()
            return [row.pid for row in running.program.pool.status()]

        for file in files:
            await running.call("vscode.lsp.documentSymbols", uri=file.as_uri())
        before = await processes()
        files[1].write_text("area() {\n  echo more\n}\n")
        assert await processes() == before
        await running.call("vscode.lsp.documentSymbols", uri=files[1].as_uri())
        assert await processes() == before
        await running.call("vscode.lsp.documentSymbols", uri=files[0].as_uri())
        after = await processes()
        assert after[0] != before[0] and after[1] == before[1]


async def test_a_repository_that_is_too_large_is_named_in_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project(tmp_path / "repository/.git", "x")
    project(tmp_path / "repository", "outer")
    root = project(tmp_path / "repository/app", "first")
    for limit, said in ((100, False), (0, True)):
        monkeypatch.setattr("sightline.workspace.surroundings._MAX_ANNOUNCED", limit)
        async with engine(root, cache=tmp_path) as running:
            answer = await running.call("vscode.lsp.workspaceSymbols", query="target")
            assert ("rest of the repository are not watched." in answer["summary"]) == said


async def test_an_environment_above_the_root_is_the_project_s(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    packages = repository / ".venv/lib/python3.11/site-packages/dependency"
    for folder in (repository / ".git", packages, repository / "app"):
        folder.mkdir(parents=True)
    (repository / ".venv/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
    (packages / "__init__.py").write_text("def area() -> float: ...\n")
    use = repository / "app/use.py"
    use.write_text("from dependency import area\n\nprint(area())\n")
    async with engine(repository / "app", cache=tmp_path) as running:
        place = {"line": 2, "character": 7}
        answer = await running.call("vscode.lsp.hover", uri=use.as_uri(), position=place)
        assert "-> float" in answer["contents"][0]["value"]
        (packages / "__init__.py").write_text("def area() -> bytes: ...\n")
        answer = await running.call("vscode.lsp.hover", uri=use.as_uri(), position=place)
        assert "-> bytes" in answer["contents"][0]["value"]
