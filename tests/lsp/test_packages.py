"""Packages of one workspace that need each other and are not installed."""

import json
from pathlib import Path
from typing import Any

import pytest

from sightline.lsp.coverage.packages import not_installed, unlinked
from sightline.workspace.tree import scan
from tests.support.files import write_files


def found(root: Path, language: str) -> dict[str, str]:
    tree, _ = scan(str(root))
    packages = unlinked(
        language, str(root), lambda name: [folder for folder in tree if name in tree[folder]]
    )
    return {Path(folder).name: name for folder, name in packages.items()}


def node(root: Path, **packages: dict[str, Any]) -> Path:
    for folder, manifest in packages.items():
        (root / "packages" / folder).mkdir(parents=True)
        (root / "packages" / folder / "package.json").write_text(json.dumps(manifest))
    return root


def two(root: Path) -> Path:
    return node(root, a={"name": "@s/a"}, b={"name": "@s/b", "dependencies": {"@s/a": "1"}})


def test_a_package_that_another_needs_and_does_not_find(tmp_path: Path) -> None:
    root = two(tmp_path)
    assert found(root, "typescript") == {"a": "@s/a", "b": ""}
    assert found(root, "javascript") == {"a": "@s/a", "b": ""}
    assert found(root, "c") == {}


def test_an_install_links_it(tmp_path: Path) -> None:
    root = two(tmp_path)
    (root / "packages/b/node_modules/@s").mkdir(parents=True)
    (root / "packages/b/node_modules/@s/a").symlink_to("../../../a")
    assert found(root, "typescript") == {"a": "", "b": ""}


@pytest.mark.parametrize(
    "paths", [{"@s/a": ["x"]}, {"@s/*": ["packages/*"]}, {"*": ["packages/*"]}]
)
def test_paths_of_a_configuration_link_it(tmp_path: Path, paths: dict[str, Any]) -> None:
    root = two(tmp_path)
    (root / "base.json").write_text(json.dumps({"compilerOptions": {"paths": paths}}))
    (root / "tsconfig.json").write_text('{"extends": "./base", // why\n}')
    assert found(root, "typescript") == {"a": "", "b": ""}


@pytest.mark.parametrize(
    "text", ["", "[]", '{"name": 1}', '{"name": "a\\u001b[1m"}', '{"name": "a", "dependencies": 1}']
)
def test_what_is_no_manifest_says_nothing(tmp_path: Path, text: str) -> None:
    root = two(tmp_path)
    (root / "packages/a/package.json").write_text(text)
    assert found(root, "typescript").get("a", "") == ""


def test_configurations_that_extend_each_other(tmp_path: Path) -> None:
    root = two(tmp_path)
    again = [f"./{name}.json" for name in ("tsconfig", "one", "two")] * 8
    for name in ("tsconfig", "one", "two"):
        (root / f"{name}.json").write_text(json.dumps({"extends": [*again, "./none", "outside"]}))
    assert found(root, "typescript") == {"a": "@s/a", "b": ""}


PROJECTS = {
    "core": '[project]\nname = "The.Core"\n',
    "app": '[project]\nname = "app"\ndependencies = ["the_core>=1; python_version>\'3\'"]\n',
    "old": '[tool.poetry]\nname = "old"\n[tool.poetry.dependencies]\napp = "*"\n',
    "new": '[project]\nname = "new"\n[dependency-groups]\ndev = ["old", {include-group = "x"}]\n',
    "bad": "[project\n",
}


def test_python_projects_without_an_environment(tmp_path: Path) -> None:
    for folder, text in PROJECTS.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "pyproject.toml").write_text(text)
    expected = {"core": "the-core", "app": "app", "old": "old", "new": ""}
    assert found(tmp_path, "python") == expected
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv/pyvenv.cfg").write_text("home = /usr/bin\n")
    assert found(tmp_path, "python") == expected, "what is not in the environment is not found"
    for name in ("The_Core-1.0", "app-0.1", "old-2"):
        (tmp_path / f".venv/lib/python3.11/site-packages/{name}.dist-info").mkdir(parents=True)
    assert found(tmp_path, "python") == dict.fromkeys(expected, "")


GROUPS = {
    "core": '[tool.poetry]\nname = "core"\n',
    "more": '[tool.poetry]\nname = "more"\n[tool.poetry.group.dev.dependencies]\ncore = "*"\n',
    "late": '[tool.poetry]\nname = "late"\n[tool.poetry.group.x]\noptional = true\n'
    '[tool.poetry.group.x.dependencies]\nmore = {path = "../more"}\n',
    "old": '[tool.poetry]\nname = "old"\n[tool.poetry.dev-dependencies]\nlate = "*"\n',
    "odd": '[tool.poetry]\nname = "odd"\ngroup = {a = 1, b = {dependencies = ["old"]}}\n',
}


def test_groups_of_poetry(tmp_path: Path) -> None:
    files = {f"{folder}/pyproject.toml": text for folder, text in GROUPS.items()}
    root = write_files(tmp_path, files)
    expected = {"core": "core", "more": "more", "late": "late", "old": "", "odd": ""}
    assert found(root, "python") == expected
    needed = {name: not_installed("python", str(root / name), str(root)) for name in GROUPS}
    # Nobody installs an optional group who is not asked to.
    assert needed == {"core": [], "more": ["core"], "late": [], "old": ["late"], "odd": []}


def modules(root: Path, replacement: str = "../lib") -> Path:
    app = f"module example.com/app\n\nreplace example.com/lib => {replacement}\n"
    return write_files(root, {"lib/go.mod": "module example.com/lib\n", "app/go.mod": app})


def test_a_module_that_another_takes_from_its_folder(tmp_path: Path) -> None:
    root = modules(tmp_path)
    assert found(root, "go") == {"lib": "example.com/lib", "app": ""}
    (root / "go.work").write_text("go 1.24\n\nuse (\n\t./app\n\t./lib\n)\n")
    assert found(root, "go") == {"lib": "", "app": ""}
    (root / "go.work").write_text("go 1.24\n\nuse ./lib\n")
    assert found(root, "go") == {"lib": "example.com/lib", "app": ""}


def test_a_module_that_another_takes_from_elsewhere(tmp_path: Path) -> None:
    assert found(modules(tmp_path, "example.com/fork v1.0.0"), "go") == {"lib": "", "app": ""}


def test_packages_of_others_that_are_not_installed(tmp_path: Path) -> None:
    manifest = {
        "dependencies": {"@s/a": "1", "b": "npm:c@1"},
        "devDependencies": {"d": "1"},
        "peerDependencies": {"e": "1"},
        "optionalDependencies": {"f": "1"},
    }
    root = node(tmp_path, app=manifest)
    app = str(root / "packages/app")
    assert not_installed("typescript", app, str(root)) == ["@s/a", "b", "d"]
    for name in ("@s/a", "b"):
        (root / "node_modules" / name).mkdir(parents=True)
    assert not_installed("javascript", app, str(root)) == ["d"]


_PROJECT = """[project]
name = "app"
dependencies = ["One_Two>=1", "three[x] == 3", "four; sys_platform == 'win32'", "app[all]", "-x", 1]
[project.optional-dependencies]
all = ["five"]
[tool.poetry.dependencies]
python = "^3.11"
six = "1"
seven = {version = "1", optional = true}
"""


def test_distributions_of_others_that_are_not_installed(tmp_path: Path) -> None:
    lines = "eight==1 # why\n-r more.txt\n-e .\ngit+ssh://x/nine\n\nten @ file:///x\n# no\n"
    root = write_files(tmp_path, {"pyproject.toml": _PROJECT, "requirements.txt": lines})
    missing = ["eight", "one-two", "six", "ten", "three"]
    assert not_installed("python", str(root), str(root)) == missing
    files = {".venv/pyvenv.cfg": "home = /usr/bin\n"}
    for name in ("one_two", "Six", "eight", "ten"):
        files[f".venv/lib/python3.11/site-packages/{name}-1.dist-info/METADATA"] = ""
    write_files(root, files)
    assert not_installed("python", str(root), str(root)) == ["three"]
