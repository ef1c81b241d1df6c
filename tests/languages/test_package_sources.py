"""Own packages that others find by their build: said where a server misses uses, nowhere else."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.languages.samples import only
from tests.support.engine import INSTALLED, Engine, engine
from tests.support.files import write_files
from tests.support.program import run

NOTE = (
    "Imports of @here/shapes in other packages do not lead to its source; "
    "uses there may be missing."
)
SOURCE = "packages/shapes/src/index.ts"
USE = "packages/app/src/main.ts"
BUILT = {
    "packages/shapes/dist/index.d.ts": "export declare function area(): number;\n",
    "packages/shapes/dist/index.js": "export function area() { return 1 }\n",
}
MAP = {
    "version": 3,
    "file": "index.d.ts",
    "sourceRoot": "",
    "sources": ["../src/index.ts"],
    "names": [],
    "mappings": "AAAA,wBAAgB,IAAI,IAAI,MAAM,CAE7B",
}
MAPPED = {
    **BUILT,
    "packages/shapes/dist/index.d.ts": "export declare function area(): number;\n"
    "//# sourceMappingURL=index.d.ts.map\n",
    "packages/shapes/dist/index.d.ts.map": json.dumps(MAP),
}
DIST = {"main": "./dist/index.js", "types": "./dist/index.d.ts"}
MADE = {"rootDir": "src", "outDir": "dist", "composite": True}
PATHS = {"@here/shapes": ["./packages/shapes/src/index.ts"]}


def configuration(**options: Any) -> str:
    usual = {"module": "esnext", "moduleResolution": "bundler"}
    return json.dumps({"compilerOptions": usual | options, "include": ["src"]})


def at(**conditions: str) -> dict[str, Any]:
    return {"exports": {".": conditions}}


REFERS = json.dumps(json.loads(configuration()) | {"references": [{"path": "../shapes"}]})
OWN, OTHER = "packages/app/tsconfig.json", "packages/shapes/tsconfig.json"
TOP = {"tsconfig.json": json.dumps({"compilerOptions": {"paths": PATHS}, "files": []})}

#: What the manifest names, what else there is, and whether a use elsewhere is found.
LAYOUTS: dict[str, tuple[dict[str, Any], dict[str, str], bool]] = {
    "types in the source": ({"types": "src/index.ts"}, {}, True),
    "main in the source": ({"main": "src/index.js"}, {}, True),
    "a folder": ({"main": "./src"}, {}, True),
    "nothing": ({}, {"packages/shapes/index.ts": 'export * from "./src/index"\n'}, True),
    "not built": (DIST, {}, False),
    "built": (DIST, BUILT, False),
    "built with maps": (DIST, MAPPED | {OTHER: configuration(**MADE)}, True),
    "maps that nobody makes": (DIST, MAPPED, False),
    "a project that is referred to": (DIST, {OWN: REFERS, OTHER: configuration(**MADE)}, True),
    "one that makes something else": (DIST, {OWN: REFERS}, False),
    "what is not there is passed over": (
        at(types="./dist/index.d.ts", default="./src/index.ts"),
        {},
        True,
    ),
    "what is there is not": (
        at(types="./dist/index.d.ts", default="./src/index.ts"),
        BUILT,
        False,
    ),
    "a condition": (at(development="./src/index.ts", default="./dist/index.js"), {}, False),
    "a condition that holds": (
        at(development="./src/index.ts", default="./dist/index.js"),
        {OWN: configuration(customConditions=["development"])},
        True,
    ),
    "for Node": (at(node="./src/index.ts"), {}, False),
    "for Node in Node": (
        at(node="./src/index.ts"),
        {OWN: '{"compilerOptions": {"module": "nodenext"}, "include": ["src"]}'},
        True,
    ),
    "exports before types": (
        {"exports": {".": "./dist/index.js"}, "types": "src/index.ts"},
        {},
        False,
    ),
    "paths": (DIST, {OWN: configuration(paths={"@here/*": ["../*/src"]})}, True),
    "paths to nothing": (DIST, {OWN: configuration(paths={"@here/*": ["../x/*"]})}, False),
    "paths of another project": (DIST, TOP, False),
    "paths of one that is extended": (
        DIST,
        {OWN: '{"extends": "../../tsconfig.json", "include": ["src"]}'} | TOP,
        True,
    ),
    "a copy": (
        {"types": "src/index.ts"},
        {
            "packages/app/node_modules/@here/shapes/package.json": '{"types": "index.d.ts"}',
            "packages/app/node_modules/@here/shapes/index.d.ts": "export function area(): 1\n",
        },
        False,
    ),
}


def write(root: Path, manifest: dict[str, Any], more: dict[str, str]) -> Path:
    files = {
        "packages/shapes/package.json": json.dumps({"name": "@here/shapes", **manifest}),
        SOURCE: "export function area(): number {\n  return 1\n}\n",
        OTHER: configuration(),
        "packages/app/package.json": '{"name": "app", "dependencies": {"@here/shapes": "1"}}',
        USE: 'import { area } from "@here/shapes"\nexport const x = area()\n',
        OWN: configuration(),
    }
    write_files(root, files | more)
    (root / "node_modules/@here").mkdir(parents=True)
    (root / "node_modules/@here/shapes").symlink_to("../../packages/shapes")
    return root


async def asked(running: Engine, file: str = SOURCE, column: int = 16) -> tuple[set[str], str]:
    answer: Any = await running.call(
        "vscode.lsp.references",
        uri=running.uri(file),
        position={"line": 0, "character": column},
    )
    return {item["uri"] for item in answer["items"]}, answer["summary"]


#: Both servers were seen to follow the same rules; one is asked about each of them.
BOTH = [
    "not built",
    "built",
    "built with maps",
    "a condition that holds",
    "paths of another project",
]


@pytest.mark.parametrize(
    ("server", "layout"),
    [*(("tsgo", each) for each in LAYOUTS), *(("vtsls", each) for each in BOTH)],
)
async def test_it_is_said_where_uses_are_missed_and_nowhere_else(
    tmp_path: Path, server: str, layout: str
) -> None:
    manifest, more, is_found = LAYOUTS[layout]
    root = write(tmp_path / "ws", manifest, more)
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        found, summary = await asked(running)
        assert (running.uri(USE) in found, NOTE in summary) == (is_found, not is_found)


@pytest.mark.parametrize("server", ["tsgo", "vtsls"])
async def test_it_is_said_until_it_is_mended(tmp_path: Path, server: str) -> None:
    root = write(tmp_path / "ws", DIST, {})
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        assert NOTE in (await asked(running))[1]
        write_files(root, BUILT)
        assert NOTE in (await asked(running))[1]
        # Who asks about what was built gets its uses.
        built = "packages/shapes/dist/index.d.ts"
        found, summary = await asked(running, built, 24)
        assert running.uri(USE) in found and NOTE not in summary
        manifest = {"name": "@here/shapes", "types": "src/index.ts"}
        write_files(root, {"packages/shapes/package.json": json.dumps(manifest)})
        found, summary = await asked(running)
        assert running.uri(USE) in found and NOTE not in summary


def test_doctor_says_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    root = write(tmp_path / "ws", DIST, {})
    installed = {"XDG_DATA_HOME": str(INSTALLED.parent.parent)}
    said = run(home, "doctor", root, extra=installed).stdout
    assert "; packages whose source others here do not reach: @here/shapes\n" in said
