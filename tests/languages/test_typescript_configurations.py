"""What configurations of TypeScript leave out is in answers, also where they are hard to read.

A file that a project does not include is named to its server. So nothing may be taken for included
that the server's own reading leaves out.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.languages.samples import only
from tests.support.engine import engine
from tests.support.files import write_files

LATE = "src/deep/late.ts"
FILES = {
    "src/a.ts": "export const first = 1\n",
    "src/deep/b.ts": "export const second = 2\n",
    LATE: "export interface Latest { a: number }\n",
}
GARBAGE = '{"include": ["src/a.ts"]} trailing'


def base(**said: Any) -> dict[str, str]:
    return {"tsconfig.json": '{"extends": "./conf/b.json"}', "conf/b.json": json.dumps(said)}


def extending(name: str, **more: Any) -> dict[str, str]:
    """A project whose base includes one file, if it is found."""
    files = {"tsconfig.json": json.dumps({"extends": name})}
    return files | {path: json.dumps(said) for path, said in more["files"].items()}


ONE = {"files": ["../src/a.ts"]}
PACKAGED = {"files": ["../../src/a.ts"]}
CASES: dict[str, dict[str, str]] = {
    "ends in two stars": {"tsconfig.json": '{"include": ["src/a.ts", "src/**"]}'},
    "ends in two stars and a slash": {"tsconfig.json": '{"include": ["src/a.ts", "src/**/"]}'},
    "a parent after two stars": {"tsconfig.json": '{"include": ["src/a.ts", "**/../src/deep/*"]}'},
    "excludes in the own folder": base(
        exclude=["${configDir}/src/deep"], include=["${configDir}/src"]
    ),
    "builds into the own folder": base(
        compilerOptions={"outDir": "${configDir}/src/deep"}, include=["../src"]
    ),
    "builds into its folder": {"tsconfig.json": '{"compilerOptions": {"outDir": ""}}'},
    "nothing that is included": {"tsconfig.json": '{"include": ["src/a.ts", ""]}'},
    "a text where a list belongs": base(include="../src"),
    "another with a list in vain": {
        "tsconfig.json": '{"extends": ["./conf/c.json", "./conf/b.json"]}',
        "conf/b.json": '{"include": 1}',
        "conf/c.json": '{"include": ["../src"]}',
    },
    "references to nothing": {
        "tsconfig.json": '{"include": ["src/a.ts"], "references": [{"path": "./src/deep"}]}'
    },
    "references of no list": {"tsconfig.json": '{"include": ["src/a.ts"], "references": true}'},
    "builds into everything": {"tsconfig.json": '{"compilerOptions": {"declarationDir": "/"}}'},
    "options twice": {
        "tsconfig.json": '{"compilerOptions": {"outDir": "src/deep"}, "compilerOptions": {}}'
    },
    "a base with another name": extending("./conf/b", files={"conf/b": ONE}),
    "a base behind other slashes": extending(".\\conf\\b", files={"conf/b.json": ONE}),
    "a package that names its own": extending(
        "p",
        files={
            "node_modules/p/package.json": {"tsconfig": "own.json"},
            "node_modules/p/own.json": PACKAGED,
            "node_modules/p/tsconfig.json": {"include": ["../../src"]},
        },
    ),
    "a package that exports its own": extending(
        "p/strict",
        files={
            "node_modules/p/package.json": {"exports": {"./*": "./*.own.json"}},
            "node_modules/p/strict.own.json": PACKAGED,
            "node_modules/p/strict.json": {"include": ["../../src"]},
        },
    ),
    "garbage at the end": {"tsconfig.json": GARBAGE},
    "a comma is missing": {"tsconfig.json": '{"include": ["src/a.ts"] "exclude": []}'},
    "a brace is missing": {"tsconfig.json": '{"include": ["src/a.ts"]'},
    "an object in a list": {"tsconfig.json": '[{"include": ["src/a.ts"]}]'},
    "a base with garbage": {
        "tsconfig.json": '{"extends": "./conf/b.json", "exclude": ["src/deep"]}',
        "conf/b.json": '{"include": ["../src"]} x',
    },
}
UNREAD = {
    "garbage at the end": "tsconfig.json",
    "a comma is missing": "tsconfig.json",
    "a brace is missing": "tsconfig.json",
    "an object in a list": "tsconfig.json",
    "a base with garbage": "conf/b.json",
}


def note(path: str) -> str:
    one = f"1 configuration cannot be read as JSON ({path})"
    return f"{one}; what its project holds may be missing."


@pytest.mark.parametrize("server", ["tsgo", "vtsls"])
@pytest.mark.parametrize("case", list(CASES))
async def test_nothing_is_left_out(tmp_path: Path, server: str, case: str) -> None:
    root = write_files(tmp_path / "ws", FILES | CASES[case])
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        answer = await running.call("vscode.lsp.workspaceSymbols", query="Latest")
        assert running.uri(LATE) in {item["location"]["uri"] for item in answer["items"]}
        said = f"{note(UNREAD[case])}" if case in UNREAD else ""
        assert said in answer["summary"] and ("read as JSON" in answer["summary"]) == bool(said)


@pytest.mark.parametrize("server", ["tsgo", "vtsls"])
async def test_it_is_said_as_long_as_it_is_so(tmp_path: Path, server: str) -> None:
    root = write_files(tmp_path / "ws", FILES | {"tsconfig.json": '{"extends": "./b.json"}'})
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:

        async def said() -> str:
            answer = await running.call("vscode.lsp.workspaceSymbols", query="Latest")
            assert running.uri(LATE) in {item["location"]["uri"] for item in answer["items"]}
            return str(answer["summary"])

        assert "read as JSON" not in await said()
        write_files(root, {"b.json": GARBAGE})
        assert note("b.json") in await said()
        write_files(root, {"b.json": '{"include": ["src/a.ts"]}'})
        assert "read as JSON" not in await said()
        write_files(root, {"tsconfig.json": GARBAGE})
        assert note("tsconfig.json") in await said()
        (root / "tsconfig.json").unlink()
        assert "read as JSON" not in await said()


@pytest.mark.parametrize("server", ["tsgo", "vtsls"])
async def test_a_file_beside_another_that_stands_for_it(tmp_path: Path, server: str) -> None:
    """Of two files that one import may mean, a project includes one."""
    files = {
        "tsconfig.json": '{"compilerOptions": {"allowJs": true}}',
        "a.ts": "export const first = 1\n",
        "use.ts": "export const second = 2\n",
        "use.js": "export class Latest {}\n",
    }
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        answer = await running.call("vscode.lsp.workspaceSymbols", query="Latest")
        assert [item["location"]["uri"] for item in answer["items"]] == [running.uri("use.js")]


@pytest.mark.parametrize("server", ["tsgo", "vtsls"])
async def test_a_listed_file_with_an_ending_in_capitals(tmp_path: Path, server: str) -> None:
    files = {
        "tsconfig.json": '{"files": ["a.ts", "USE.TS"]}',
        "a.ts": "export class Latest {}\n",
        "USE.TS": "export const second = 2\n",
    }
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        answer = await running.call("vscode.lsp.workspaceSymbols", query="Latest")
        assert [item["location"]["uri"] for item in answer["items"]] == [running.uri("a.ts")]
