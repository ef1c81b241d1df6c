"""Packages of one workspace that need each other and are not installed."""

import json
from pathlib import Path
from typing import Any

import pytest

from sightline.lsp.links import unlinked
from sightline.workspace.tree import scan


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
