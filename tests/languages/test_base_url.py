"""Names that a TypeScript project finds by ``baseUrl``: TypeScript 7 has none, its users have."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.languages.samples import only
from tests.support.engine import Engine, engine
from tests.support.files import write_files

SHAPE = "export function area(x: number) {\n  return x * x\n}\n"


def options(**given: Any) -> str:
    return json.dumps({"compilerOptions": given})


def use(name: str) -> str:
    return f'import {{ area }} from "{name}"\nconsole.log(area(2))\n'


#: What is there besides ``src/lib/shape.ts``, and how ``src/main.ts`` names it.
PROJECTS: dict[str, tuple[dict[str, str], str]] = {
    "in a folder": ({"tsconfig.json": options(baseUrl="src")}, "lib/shape"),
    "in its own": ({"tsconfig.json": options(baseUrl=".")}, "src/lib/shape"),
    "for patterns": (
        {"tsconfig.json": options(baseUrl="src", paths={"@/*": ["*"], "~x": ["gone"]})},
        "@/lib/shape",
    ),
    "beside patterns": (
        {"tsconfig.json": options(baseUrl="src", paths={"other/*": ["gone/*"]})},
        "lib/shape",
    ),
    "with a pattern for all": (
        {"tsconfig.json": options(baseUrl=".", paths={"*": ["gone/*", "src/*"]})},
        "lib/shape",
    ),
    "with comments": (
        {"tsconfig.json": '{ // why\n  "compilerOptions": { "baseUrl": "src", } /* so */ }'},
        "lib/shape",
    ),
    "of another": (
        {
            "conf/base.json": options(baseUrl="../src"),
            "tsconfig.json": '{"extends": "./conf/base.json"}',
        },
        "lib/shape",
    ),
    "of another, patterns of its own": (
        {
            "conf/base.json": options(baseUrl=".."),
            "tsconfig.json": json.dumps(
                {
                    "extends": "./conf/base.json",
                    "compilerOptions": {"paths": {"@/*": ["src/*"]}},
                }
            ),
        },
        "@/lib/shape",
    ),
    "of another, for whoever extends it": (
        {
            "conf/base.json": options(baseUrl="${configDir}/src"),
            "tsconfig.json": '{"extends": "./conf/base.json"}',
        },
        "lib/shape",
    ),
    "of another, in the folder of whoever extends it": (
        {
            "conf/base.json": options(baseUrl="${configDir}"),
            "tsconfig.json": '{"extends": "./conf/base.json"}',
        },
        "src/lib/shape",
    ),
    "of another, that of its own first": (
        {
            "conf/base.json": options(baseUrl=".", paths={"@/*": ["gone/*"]}),
            "tsconfig.json": json.dumps(
                {
                    "extends": "./conf/base.json",
                    "compilerOptions": {"baseUrl": "src", "paths": {"@/*": ["lib/*"]}},
                }
            ),
        },
        "@/shape",
    ),
    "of a project it refers to": (
        {
            "tsconfig.json": '{"files": [], "references": [{"path": "./tsconfig.app.json"}]}',
            "tsconfig.app.json": json.dumps(
                {"include": ["src"], "compilerOptions": {"baseUrl": "src", "composite": True}}
            ),
        },
        "lib/shape",
    ),
}


async def users(running: Engine, shape: str = "src/lib/shape.ts") -> set[str]:
    answer = await running.call(
        "vscode.lsp.references",
        uri=running.uri(shape),
        position={"line": 0, "character": 17},
        includeDeclaration=False,
    )
    return {item["uri"].rpartition("/")[2] for item in answer["items"]}


@pytest.mark.parametrize("server", ["tsgo", "vtsls"])
@pytest.mark.parametrize("project", list(PROJECTS))
async def test_uses_are_found(tmp_path: Path, server: str, project: str) -> None:
    files, name = PROJECTS[project]
    sources = {"src/lib/shape.ts": SHAPE, "src/main.ts": use(name)}
    root = write_files(tmp_path / "ws", files | sources)
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        assert "main.ts" in await users(running)
        problems = await running.call(
            "vscode.lsp.diagnostics.document", uri=running.uri("src/main.ts")
        )
        assert "Cannot find module" not in str(problems)


@pytest.mark.parametrize("server", ["tsgo", "vtsls"])
@pytest.mark.parametrize("pattern", ["lib/*", "*"])
async def test_a_name_with_a_pattern_is_not_looked_for_there(
    tmp_path: Path, server: str, pattern: str
) -> None:
    configuration = options(baseUrl="src", paths={pattern: ["gone/*"]})
    files = {"src/lib/shape.ts": SHAPE, "src/main.ts": use("lib/shape")}
    root = write_files(tmp_path / "ws", files | {"tsconfig.json": configuration})
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        assert await users(running) == set()


async def test_a_package_comes_after_it(tmp_path: Path) -> None:
    """A name is looked for there first; what is not there is a package, as before."""
    files = {
        "tsconfig.json": options(baseUrl="src"),
        "src/lib/shape.ts": SHAPE,
        "src/main.ts": use("lib/shape"),
        "src/other.ts": use("shapes"),
        "node_modules/shapes/package.json": '{"name": "shapes", "types": "index.d.ts"}',
        "node_modules/shapes/index.d.ts": "export function area(x: number): number\n",
        "node_modules/lib/shape.d.ts": "export function area(x: number): number\n",
    }
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path / "cache", registry=only("tsgo")) as running:
        assert await users(running) == {"main.ts"}
        problems = await running.call(
            "vscode.lsp.diagnostics.document", uri=running.uri("src/other.ts")
        )
        assert problems["diagnostics"] == []


async def test_an_edit_of_it_is_seen(tmp_path: Path) -> None:
    files = {"src/lib/shape.ts": SHAPE, "src/main.ts": use("lib/shape")}
    root = write_files(tmp_path / "ws", files | {"tsconfig.json": "{}"})
    async with engine(root, cache=tmp_path / "cache", registry=only("tsgo")) as running:
        assert await users(running) == set()
        for text, found in (
            (options(baseUrl="src"), {"main.ts"}),
            (options(baseUrl="."), set()),
            ('{"extends": "./base.json"}', set()),
        ):
            write_files(root, {"tsconfig.json": text})
            assert await users(running) == found
        write_files(root, {"base.json": options(baseUrl="src")})
        assert await users(running) == {"main.ts"}
        write_files(root, {"base.json": options(baseUrl="src/lib")})
        assert await users(running) == set()


async def test_it_may_lie_above_the_root(tmp_path: Path) -> None:
    files = {
        ".git/HEAD": "",
        "tsconfig.json": options(baseUrl="app/src"),
        "app/src/lib/shape.ts": SHAPE,
        "app/src/main.ts": use("lib/shape"),
    }
    top = write_files(tmp_path / "repository", files)
    async with engine(top / "app", cache=tmp_path / "cache", registry=only("tsgo")) as running:
        assert await users(running) == {"main.ts"}
        write_files(top, {"tsconfig.json": "{}"})
        assert await users(running) == set()
