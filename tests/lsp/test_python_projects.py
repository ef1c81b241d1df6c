"""Python projects of every layout get the same whole answers."""

from pathlib import Path

from tests.support.engine import engine

CORE = "def target() -> int:\n    return 1\n"
USE = "from core import target\n\ntarget()\n"


async def references(root: Path, cache: Path) -> set[str]:
    async with engine(root, cache=cache) as running:
        answer = await running.call(
            "vscode.lsp.references",
            uri=running.uri("core.py"),
            position={"line": 0, "character": 5},
            includeDeclaration=True,
        )
    return {Path(item["uri"]).name for item in answer["items"]}


async def test_a_workspace_without_a_single_problem_says_so(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "core.py").write_text(CORE)
    async with engine(root, cache=tmp_path) as running:
        answer = await running.call("vscode.lsp.diagnostics.workspace")
        assert answer["items"] == []
        (root / "bad.py").write_text('x: int = ""\n')
        answer = await running.call("vscode.lsp.diagnostics.workspace")
        assert [item["uri"] for item in answer["items"]] == [running.uri("bad.py")]
        (root / "bad.py").unlink()
        answer = await running.call("vscode.lsp.diagnostics.workspace")
        assert answer["items"] == []


async def test_a_project_above_the_root_does_not_take_over(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "outer"\nversion = "1"\n')
    (tmp_path / ".gitignore").write_text("sub/\n")
    (tmp_path / "outer.py").write_text("from sub.core import target\n")
    root = tmp_path / "sub"
    root.mkdir()
    (root / "core.py").write_text(CORE)
    (root / "use.py").write_text(USE)
    assert await references(root, tmp_path) == {"core.py", "use.py"}


async def test_a_damaged_environment_does_not_hide_the_project(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    (root / ".venv").mkdir(parents=True)
    (root / ".venv" / "pyvenv.cfg").write_text("")
    (root / "core.py").write_text(CORE)
    (root / "use.py").write_text(USE)
    assert await references(root, tmp_path) == {"core.py", "use.py"}
