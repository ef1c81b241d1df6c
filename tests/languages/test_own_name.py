"""A package that imports itself by its own name: said where a server misses uses, nowhere else."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.languages.samples import only
from tests.support.engine import INSTALLED, Engine, engine
from tests.support.files import write_files
from tests.support.program import run

LOST = "Imports of paykit are not resolved in 1 file; uses there may be missing."
ASTRAY = "Imports of paykit do not lead to the source in 1 file; uses there may be missing."
SOURCE, USE = "src/index.ts", "test/a.test.ts"
BUILT = {
    "dist/index.d.ts": "export declare function pay(a: number): number;\n",
    "dist/index.js": "export function pay(a) { return a }\n",
    ".gitignore": "dist\n",
}
MAP = {
    "version": 3,
    "file": "index.d.ts",
    "sourceRoot": "",
    "sources": ["../src/index.ts"],
    "names": [],
    "mappings": "AAAA,wBAAgB,GAAG,CAAC,CAAC,EAAE,MAAM,GAAG,MAAM,CAErC",
}
MAPPED = {
    **BUILT,
    "dist/index.d.ts": f"{BUILT['dist/index.d.ts']}//# sourceMappingURL=index.d.ts.map\n",
    "dist/index.d.ts.map": json.dumps(MAP),
}
DIST = {"exports": {".": {"types": "./dist/index.d.ts", "default": "./dist/index.js"}}}
BUNDLED = {"module": "esnext", "moduleResolution": "bundler"}
NODE = {"module": "nodenext"}


def use(name: str = "paykit") -> dict[str, str]:
    return {USE: f'import {{ pay }} from "{name}"\nexport const x = pay(3)\n'}


def conf(*include: str, references: str = "", **options: Any) -> str:
    value = {
        "compilerOptions": {"target": "es2022", "strict": True, **options},
        "include": include or ["src", "test"],
    }
    return json.dumps(value | ({"references": [{"path": references}]} if references else {}))


def at(target: object, path: str = ".") -> dict[str, Any]:
    return {"exports": {path: target}}


SOURCES = at("./src/index.ts")
#: What is written by no file of its own.
LINK = "node_modules/"
COPY = {
    "node_modules/paykit/package.json": '{"types": "index.d.ts"}',
    "node_modules/paykit/index.d.ts": BUILT["dist/index.d.ts"],
}
CONDITION = at({"@paykit/source": "./src/index.ts", "default": "./dist/index.js"})
BY_KIND = at({"import": "./src/index.ts", "require": "./dist/index.js"})

MADE: dict[str, Any] = NODE | {
    "outDir": "dist",
    "rootDir": "src",
    "composite": True,
    "declarationMap": True,
}
OF_SOURCE = {"tsconfig.json": conf("src", **MADE)}
#: What the manifest names, options of the compiler, what else there is, and what is said.
LAYOUTS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, str], str]] = {
    "not built": (DIST, NODE, {}, LOST),
    "built": (DIST, NODE, BUILT, ASTRAY),
    "built with an output folder": (DIST, NODE | {"outDir": "dist"}, BUILT, ASTRAY),
    "not built with an output folder": (DIST, NODE | {"outDir": "dist"}, {}, LOST),
    "built with maps": (DIST, NODE, MAPPED, ASTRAY),
    "made from the source": (DIST, NODE | {"outDir": "dist", "rootDir": "src"}, {}, ""),
    "made from all": (
        at("./dist/src/index.js"),
        NODE | {"outDir": "dist", "rootDir": "."},
        {},
        "",
    ),
    "made, and built": (DIST, NODE | {"outDir": "dist", "rootDir": "src"}, BUILT, ""),
    "made, for bundlers": (DIST, BUNDLED | {"outDir": "dist", "rootDir": "src"}, {}, ""),
    "made without a root": (at("./dist/src/index.js"), NODE | {"outDir": "dist"}, {}, ""),
    "the source": (SOURCES, NODE, {}, ""),
    "the source, for bundlers": (SOURCES, BUNDLED, {}, ""),
    "the source, built": (SOURCES, NODE, BUILT, ""),
    "the source by another ending": (at("./src/index.js"), NODE, {}, ""),
    "what is not there is passed over": (
        at({"types": "./dist/index.d.ts", "default": "./src/index.ts"}),
        NODE,
        {},
        "",
    ),
    "what is there is not": (
        at({"types": "./dist/index.d.ts", "default": "./src/index.ts"}),
        NODE,
        BUILT,
        ASTRAY,
    ),
    "no exports": ({"main": "./src/index.ts", "types": "./src/index.ts"}, NODE, {}, LOST),
    "no exports, linked": (
        {"main": "./src/index.ts", "types": "./src/index.ts"},
        NODE,
        {LINK: ""},
        "",
    ),
    "not by its paths": (SOURCES, {"module": "esnext", "moduleResolution": "node10"}, {}, LOST),
    "a path": (at("./src/index.ts", "./v4"), NODE, use("paykit/v4"), ""),
    "a path, not built": (at("./dist/v4.js", "./v4"), NODE, use("paykit/v4"), LOST),
    "a path that is not exported": (SOURCES, NODE, use("paykit/src/index.js"), LOST),
    "a pattern": (at("./src/*.ts", "./*"), NODE, use("paykit/index"), ""),
    "a pattern of the build": (at("./dist/*.js", "./*"), NODE, BUILT | use("paykit/index"), ASTRAY),
    "a condition": (CONDITION, BUNDLED, {}, LOST),
    "a condition that holds": (
        CONDITION,
        BUNDLED | {"customConditions": ["@paykit/source"]},
        {},
        "",
    ),
    "of modules": (BY_KIND | {"type": "module"}, NODE, BUILT, ""),
    "of no modules": (BY_KIND, NODE, BUILT, ASTRAY),
    "for bundlers": (BY_KIND, BUNDLED, BUILT, ""),
    "paths": (DIST, NODE | {"paths": {"paykit": ["./src/index.ts"]}}, {}, ""),
    "paths of all": (DIST, NODE | {"paths": {"paykit/*": ["./src/*"]}}, use("paykit/index"), ""),
    "paths to nothing": (DIST, NODE | {"paths": {"paykit": ["./lib/index.ts"]}}, {}, LOST),
    "paths to nothing, and the source": (
        SOURCES,
        NODE | {"paths": {"paykit": ["./lib/index.ts"]}},
        {},
        "",
    ),
    "another package within": (SOURCES, NODE, {"test/package.json": "{}"}, LOST),
    "a copy": (
        {},
        NODE,
        COPY,
        ASTRAY,
    ),
    "its own before a copy": (
        SOURCES,
        NODE,
        COPY,
        "",
    ),
    "no configuration": (SOURCES, {}, {"tsconfig.json": ""}, ""),
    "no configuration, not built": (DIST, {}, {"tsconfig.json": ""}, LOST),
    "another configuration": (
        DIST,
        {},
        OF_SOURCE | {"test/tsconfig.json": conf("*.ts", **NODE)},
        LOST,
    ),
    "another configuration, built": (
        DIST,
        {},
        BUILT | OF_SOURCE | {"test/tsconfig.json": conf("*.ts", **NODE)},
        ASTRAY,
    ),
    "another configuration, built with maps": (
        DIST,
        {},
        MAPPED | OF_SOURCE | {"test/tsconfig.json": conf("*.ts", **NODE)},
        "",
    ),
    "another configuration that leads to the source": (
        SOURCES,
        {},
        OF_SOURCE | {"test/tsconfig.json": conf("*.ts", **NODE)},
        "",
    ),
    "a project that is referred to": (
        DIST,
        {},
        OF_SOURCE | {"test/tsconfig.json": conf("*.ts", references="..", **NODE)},
        "",
    ),
    "one that is referred to, and built": (
        DIST,
        {},
        BUILT | OF_SOURCE | {"test/tsconfig.json": conf("*.ts", references="..", **NODE)},
        "",
    ),
    "not included": (DIST, {}, {"tsconfig.json": conf("src", **NODE)}, LOST),
    "not included, the source": (SOURCES, {}, {"tsconfig.json": conf("src", **NODE)}, ""),
    "not included, made": (DIST, {}, OF_SOURCE, LOST),
    "plain options": (SOURCES, {}, {}, ""),
    "plain modules": (SOURCES, {"module": "esnext"}, {}, ""),
    "older modules": (SOURCES, {"module": "commonjs"}, {}, ""),
    "preserved modules": (SOURCES, {"module": "preserve"}, {}, ""),
    "linked, built": (
        {"types": "./dist/index.d.ts"},
        NODE,
        BUILT | {LINK: ""},
        ASTRAY,
    ),
    "linked, a path": ({}, BUNDLED, use("paykit/src/index") | {LINK: ""}, ""),
    "a base": ({}, {"baseUrl": "."} | BUNDLED, {"paykit.ts": 'export * from "./src/index"\n'}, ""),
    "by require": (
        DIST,
        NODE,
        {USE: 'import kit = require("paykit")\nexport const x = kit.pay(3)\n'},
        LOST,
    ),
    "later": (DIST, NODE, {USE: 'void import("paykit").then((kit) => kit.pay(3))\n'}, LOST),
    "in a comment": (
        DIST,
        NODE,
        {USE: '// import { pay } from "paykit"\nexport const pay = 1\n'},
        "",
    ),
    "in a text": (DIST, NODE, {USE: "export const pay = \"import 'paykit'\"\n"}, ""),
}


#: Options that vtsls takes for what they were, and tsgo for what they are today.
LATER = {
    ("tsgo", "not by its paths"): "",
    ("vtsls", "plain options"): LOST,
    ("vtsls", "plain modules"): LOST,
    ("vtsls", "older modules"): LOST,
}


def write(root: Path, layout: str) -> Path:
    manifest, options, more, _ = LAYOUTS[layout]
    files = {
        "package.json": json.dumps({"name": "paykit", **manifest}),
        "tsconfig.json": conf(**options),
        SOURCE: "export function pay(a: number): number {\n  return a\n}\n",
        # Elsewhere the name is something else. Where it stood nowhere, nothing would be said.
        "src/noise.ts": "{ const pay = 2 }\n",
        **use(),
    }
    left_out = {name for name, text in more.items() if not text}
    there = {name: text for name, text in (files | more).items() if name not in left_out}
    write_files(root, there)
    if LINK in left_out:
        (root / "node_modules").mkdir()
        (root / "node_modules/paykit").symlink_to("..")
    return root


async def asked(running: Engine, file: str = SOURCE, column: int = 16) -> tuple[bool, str]:
    """Whether the use in the test is found, and what is said."""
    answer: Any = await running.call(
        "vscode.lsp.references",
        uri=running.uri(file),
        position={"line": 0, "character": column},
    )
    return running.uri(USE) in {item["uri"] for item in answer["items"]}, answer["summary"]


@pytest.mark.parametrize("server", ["tsgo", "vtsls"])
@pytest.mark.parametrize("layout", list(LAYOUTS))
async def test_it_is_said_where_uses_are_missed_and_nowhere_else(
    tmp_path: Path, server: str, layout: str
) -> None:
    said = LATER.get((server, layout), LAYOUTS[layout][-1])
    root = write(tmp_path / "ws", layout)
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        found, summary = await asked(running)
    is_used = not layout.startswith("in a ")
    assert (is_used and not found, "Imports of" in summary) == (bool(said), bool(said)), summary
    assert said in summary


@pytest.mark.parametrize("server", ["tsgo", "vtsls"])
async def test_it_is_said_until_it_is_mended(tmp_path: Path, server: str) -> None:
    root = write(tmp_path / "ws", "built")
    # The code of another package that lies within is no matter of this.
    other = {"tools/package.json": '{"name": "tools"}', "tools/a.ts": "export function pay() {}\n"}
    write_files(root, other)
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        assert ASTRAY in (await asked(running))[1]
        assert "Imports of" not in (await asked(running, "tools/a.ts"))[1]
        # Who asks about what was built gets its uses.
        found, summary = await asked(running, "dist/index.d.ts", 24)
        assert found and "Imports of" not in summary
        write_files(root, {"package.json": json.dumps({"name": "paykit", **SOURCES})})
        found, summary = await asked(running)
        assert found and "Imports of" not in summary


def test_doctor_says_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    installed = {"XDG_DATA_HOME": str(INSTALLED.parent.parent)}
    said = run(home, "doctor", write(tmp_path / "a", "not built"), extra=installed).stdout
    assert "; imports of own modules are not resolved: paykit\n" in said
    said = run(home, "doctor", write(tmp_path / "b", "built"), extra=installed).stdout
    assert "; imports of own modules do not lead to the source: paykit\n" in said
    said = run(home, "doctor", write(tmp_path / "c", "the source"), extra=installed).stdout
    assert "imports of own modules" not in said
