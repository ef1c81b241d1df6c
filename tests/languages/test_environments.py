"""Python environments outside of the workspace are used, and an install there is seen."""

from pathlib import Path
from typing import Any

import pytest

from sightline.lsp.python.discovery import digest_of
from tests.languages.samples import only
from tests.support.engine import Engine, engine
from tests.support.files import write_files

SITE = "lib/python3.11/site-packages"
FILES = {
    "pyproject.toml": '[tool.poetry]\nname = "app"\n[tool.poetry.dependencies]\ndep = "*"\n',
    "app.py": "import dep\n\nprint(dep.answer())\n",
}
DEP = {
    f"{SITE}/dep/__init__.py": "def answer() -> int:\n    return 42\n",
    f"{SITE}/dep/py.typed": "",
    f"{SITE}/dep-1.dist-info/RECORD": "",
}

SERVERS = pytest.mark.parametrize("server", ["ty", "pyright"])


def environment(folder: Path) -> Path:
    return write_files(folder, {"pyvenv.cfg": "home = /usr/bin\nversion = 3.11.2\n"})


def kept_by_poetry(home: Path, project: Path) -> Path:
    return home / f".cache/pypoetry/virtualenvs/app-{digest_of(str(project))}-py3.11"


async def problems(running: Engine, name: str = "app.py") -> list[Any]:
    answer = await running.call("vscode.lsp.diagnostics.document", uri=running.uri(name))
    return [item["code"] for item in answer["diagnostics"]]


@SERVERS
async def test_an_environment_that_poetry_makes_while_the_server_runs(
    tmp_path: Path, server: str
) -> None:
    root, home = write_files(tmp_path / "ws", FILES), tmp_path / "home"
    kept = kept_by_poetry(home, root)
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(home)}
    cache = tmp_path / "cache"
    async with engine(root, cache=cache, registry=only(server), environment=variables) as running:
        assert len(await problems(running)) == 1  # the import is not resolved
        kept.mkdir(parents=True)
        assert len(await problems(running)) == 1
        environment(kept)
        assert len(await problems(running)) == 1
        write_files(kept, DEP)
        assert await problems(running) == []
        for name in ("dep/__init__.py", "dep/py.typed", "dep-1.dist-info/RECORD"):
            (kept / SITE / name).unlink()
        for name in ("dep", "dep-1.dist-info"):
            (kept / SITE / name).rmdir()
        assert len(await problems(running)) == 1


@SERVERS
@pytest.mark.parametrize("kind", ["venv", "conda"])
async def test_the_active_environment_is_used_where_a_project_has_none(
    tmp_path: Path, server: str, kind: str
) -> None:
    root, active = write_files(tmp_path / "ws", FILES), tmp_path / "active"
    write_files(active, DEP)
    if kind == "conda":
        (active / "conda-meta").mkdir()
        variables = {"CONDA_PREFIX": str(active), "CONDA_DEFAULT_ENV": "app"}
    else:
        environment(active)
        variables = {"VIRTUAL_ENV": str(active)}
    async with engine(
        root,
        cache=tmp_path / "cache",
        registry=only(server),
        environment={"PATH": "/usr/bin:/bin", **variables},
    ) as running:
        assert await problems(running) == []
        write_files(active, {f"{SITE}/more-1.dist-info/RECORD": ""})  # an install starts it over
        assert await problems(running) == []
        environment(root / ".venv")
        assert len(await problems(running)) == 1


@SERVERS
async def test_a_package_with_an_environment_of_its_own_is_a_project(
    tmp_path: Path, server: str
) -> None:
    files = {f"packages/app/{name}": text for name, text in FILES.items()}
    root, home = write_files(tmp_path / "ws", files), tmp_path / "home"
    kept = kept_by_poetry(home, root / "packages/app")
    async with engine(
        root,
        cache=tmp_path / "cache",
        registry=only(server),
        environment={"PATH": "/usr/bin:/bin", "HOME": str(home)},
    ) as running:
        assert len(await problems(running, "packages/app/app.py")) == 1
        write_files(environment(kept), DEP)
        assert await problems(running, "packages/app/app.py") == []
        assert len(running.program.pool.status()) == 2


@pytest.mark.requirement("GW-6.3-nothing-leaks")
async def test_where_an_environment_lies_is_not_told(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", FILES)
    active = environment(tmp_path / "out side" / "of (it)" / "secret dir" / "venv")
    (active / SITE).mkdir(parents=True)
    async with engine(
        root,
        cache=tmp_path / "cache",
        registry=only("ty"),
        environment={"PATH": "/usr/bin:/bin", "VIRTUAL_ENV": str(active)},
    ) as running:
        answer = await running.call("vscode.lsp.diagnostics.document", uri=running.uri("app.py"))
    [problem] = answer["diagnostics"]
    assert "site-packages" in problem["message"]
    for folder in ("out side", "of (it)", "secret", "venv/"):
        assert folder not in problem["message"]


async def test_what_a_full_disk_left_of_the_empty_environment(tmp_path: Path) -> None:
    """ty is shown an environment without packages; of half of one it takes its own instead."""
    root = write_files(tmp_path / "ws", {"app.py": "import tree_sitter\n"})
    cut = write_files(tmp_path / "cut", {"empty-python-environment/pyvenv.cfg": ""})
    for cache in (tmp_path / "whole", cut):
        async with engine(root, cache=cache, registry=only("ty")) as running:
            assert await problems(running) == ["import-not-found"]
