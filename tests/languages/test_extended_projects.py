"""TypeScript: a new file of a project whose configuration another project extends is in answers."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.languages.samples import only
from tests.support.engine import engine
from tests.support.files import write_files

MODERN = {"module": "esnext", "moduleResolution": "bundler"}
OWN_PATHS = {**MODERN, "paths": {"q": ["./x"]}}
NEW = "export interface Latest { a: number }\n"
FIRST = "packages/b/src/new.ts"
SECOND = "packages/b/src/newer.ts"


def projects(options: dict[str, Any], *, base_first: bool) -> dict[str, str]:
    outer = {
        "include": ["packages/*/src"],
        "exclude": ["packages/a"],
        "compilerOptions": {**MODERN, **options},
    }
    inner = {
        "extends": "../../tsconfig.json",
        "include": ["src"],
        "exclude": [],
        "compilerOptions": OWN_PATHS,
    }
    files = {
        "tsconfig.json": json.dumps(outer),
        "packages/a/tsconfig.json": json.dumps(inner),
        "packages/a/src/one.ts": "export const one = 1\n",
    }
    return files | ({"packages/b/src/two.ts": "export const two = 2\n"} if base_first else {})


@pytest.mark.parametrize("server", ["tsgo", "vtsls"])
@pytest.mark.parametrize("base_first", [True, False])
@pytest.mark.parametrize("options", [{}, {"baseUrl": "."}])
async def test_it_is_found(
    tmp_path: Path, server: str, options: dict[str, Any], base_first: bool
) -> None:
    root = write_files(tmp_path / "ws", projects(options, base_first=base_first))
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:

        async def found() -> list[str]:
            answer = await running.call("vscode.lsp.workspaceSymbols", query="Latest")
            uris = {item["location"]["uri"] for item in answer["items"]}
            return [name for name in (FIRST, SECOND) if running.uri(name) in uris]

        assert await found() == []
        write_files(root, {FIRST: NEW})
        assert await found() == [FIRST]
        write_files(root, {SECOND: NEW})
        assert await found() == [FIRST, SECOND]
        (root / FIRST).unlink()
        assert await found() == [SECOND]


async def test_a_package_that_its_own_base_leaves_out(tmp_path: Path) -> None:
    files = projects({"baseUrl": "."}, base_first=True)
    inner = {"extends": "../../tsconfig.json", "compilerOptions": OWN_PATHS}
    files["packages/a/tsconfig.json"] = json.dumps(inner)
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path / "cache", registry=only("tsgo")) as running:
        await running.call("vscode.lsp.workspaceSymbols", query="Latest")
        for number, name in enumerate(["packages/b/src/z1.ts", "packages/b/src/z2.ts"], 1):
            write_files(root, {name: NEW})
            answer = await running.call("vscode.lsp.workspaceSymbols", query="Latest")
            assert len(answer["items"]) == number
