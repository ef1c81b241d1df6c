"""Uses that TypeScript's servers miss: names that a configuration has for other files only, and
modules that are taken in by ``require``. It is said where a use is missing, and nowhere else.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from sightline.lsp.coverage.typescript_aliases import REQUIRED, imported
from tests.languages.samples import only
from tests.support.engine import engine
from tests.support.files import write_files

CART = "export function total() { return 1 }\n"
COMMONJS = "Uses in CommonJS may be missing; search the text for the name too."
MODERN = {"module": "esnext", "moduleResolution": "bundler"}
PATHS = {**MODERN, "paths": {"@/*": ["./src/*"]}}
COMPOSITE = {**PATHS, "composite": True}


def conf(options: dict[str, Any] = PATHS, **more: Any) -> str:
    return json.dumps({"compilerOptions": options, **more})


def use(name: str = "@/cart") -> str:
    return f'import {{ total }} from "{name}"\ntotal()\n'


def refers(*names: str) -> str:
    return json.dumps({"files": [], "references": [{"path": f"./{name}"} for name in names]})


async def asked(tmp_path: Path, server: str, files: dict[str, str], name: str) -> tuple[bool, str]:
    """Whether uses in a file are found, and what is said."""
    # Elsewhere the name is something else. Where it stood nowhere, nothing would be said.
    root = write_files(tmp_path / "ws", files | {"src/noise.ts": "{ const total = 2 }\n"})
    cart = next(file for file, text in files.items() if text == CART)
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        answer = await running.call(
            "vscode.lsp.references",
            uri=running.uri(cart),
            position={"line": 0, "character": 16},
            includeDeclaration=True,
        )
    found = {item["uri"] for item in answer["items"]}
    return running.uri(name) in found, answer["summary"]


#: What is there besides ``src/cart.ts``, the file whose uses are missed, and what is said of it.
MISSED: dict[str, tuple[dict[str, str], str, str]] = {
    "not included": (
        {"tsconfig.json": conf(include=["src"]), "src/main.ts": use(), "tests/a.ts": use()},
        "tests/a.ts",
        "@/*",
    ),
    "excluded": (
        {"tsconfig.json": conf(exclude=["**/*.test.ts"]), "src/a.test.ts": use()},
        "src/a.test.ts",
        "@/*",
    ),
    "JavaScript": ({"tsconfig.json": conf(), "src/a.js": use()}, "src/a.js", "@/*"),
    "a base": (
        {
            "tsconfig.json": conf({**MODERN, "baseUrl": "."}, include=["src"]),
            "a.ts": use("src/cart"),
        },
        "a.ts",
        "src/*",
    ),
    "a base without a slash": (
        {"tsconfig.json": conf({**MODERN, "baseUrl": "src"}, include=["src"]), "a.ts": use("cart")},
        "a.ts",
        "cart",
    ),
    "a project that is referred to": (
        {
            "tsconfig.json": refers("tsconfig.app.json"),
            "tsconfig.app.json": conf(COMPOSITE, include=["src"]),
            "tests/a.ts": use(),
        },
        "tests/a.ts",
        "@/*",
    ),
    "a project that nobody refers to": (
        {
            "tsconfig.json": conf(include=["src"]),
            "tsconfig.test.json": conf(include=["tests"]),
            "tests/a.ts": use(),
        },
        "tests/a.ts",
        "@/*",
    ),
    "two projects that are referred to, one without": (
        {
            "tsconfig.json": refers("tsconfig.app.json", "tsconfig.test.json"),
            "tsconfig.app.json": conf(COMPOSITE, include=["src"]),
            "tsconfig.test.json": conf({"composite": True}, include=["tests"]),
            "tests/a.ts": use(),
        },
        "tests/a.ts",
        "@/*",
    ),
    "one name": (
        {
            "tsconfig.json": conf({**MODERN, "paths": {"@cart": ["./src/cart"]}}, include=["src"]),
            "tests/a.ts": use("@cart"),
        },
        "tests/a.ts",
        "@cart",
    ),
    "one name of a project elsewhere": (
        {
            "src/tsconfig.json": conf({**MODERN, "paths": {"cart": ["./cart"]}}),
            "tests/a.ts": use("cart"),
        },
        "tests/a.ts",
        "cart",
    ),
}
#: What is there besides ``src/cart.ts``, and the file whose uses are found.
FOUND: dict[str, tuple[dict[str, str], str]] = {
    "included": ({"tsconfig.json": conf(), "tests/a.ts": use()}, "tests/a.ts"),
    "its place": (
        {"tsconfig.json": conf(include=["src"]), "tests/a.ts": use("../src/cart")},
        "tests/a.ts",
    ),
    "imported": (
        {
            "tsconfig.json": conf(include=["src"]),
            "src/b.ts": 'import "../tests/a"\n',
            "tests/a.ts": use(),
        },
        "tests/a.ts",
    ),
    "imported by a pattern": (
        {
            "tsconfig.json": conf(files=["src/main.ts"]),
            "src/main.ts": 'import "@/b/index.js"\n',
            "src/b/index.ts": 'export * from "../a.js"\n',
            "src/a.ts": use(),
        },
        "src/a.ts",
    ),
    "referred to": (
        {
            "tsconfig.json": conf(include=["src"]),
            "src/b.ts": '/// <reference path="../tests/a.ts" />\n',
            "tests/a.ts": use(),
        },
        "tests/a.ts",
    ),
    "JavaScript that is checked": (
        {"tsconfig.json": conf({**PATHS, "checkJs": True}), "tests/a.js": use()},
        "tests/a.js",
    ),
    "a project above": (
        {"tsconfig.json": conf(), "tests/tsconfig.json": conf({}, files=[]), "tests/a.ts": use()},
        "tests/a.ts",
    ),
    "a project above besides its own": (
        {"tsconfig.json": conf(), "tests/tsconfig.json": conf({}), "tests/a.ts": use()},
        "tests/a.ts",
    ),
    "a project that extends another": (
        {
            "tsconfig.json": conf(include=["src"]),
            "tests/tsconfig.json": '{"extends": "../tsconfig.json", "include": ["."]}',
            "tests/a.ts": use(),
        },
        "tests/a.ts",
    ),
    "projects that are referred to": (
        {
            "tsconfig.json": refers("tsconfig.app.json", "tsconfig.test.json"),
            "tsconfig.app.json": conf(COMPOSITE, include=["src"]),
            "tsconfig.test.json": conf(
                COMPOSITE, include=["tests"], references=[{"path": "./tsconfig.app.json"}]
            ),
            "tests/a.ts": use(),
        },
        "tests/a.ts",
    ),
    "one name": (
        {
            "tsconfig.json": conf({**MODERN, "paths": {"@cart": ["./src/cart"]}}),
            "tests/a.ts": use("@cart"),
        },
        "tests/a.ts",
    ),
}


@pytest.mark.parametrize("server", ["tsgo", "vtsls"])
@pytest.mark.parametrize("case", list(MISSED))
async def test_a_pattern_counts_in_the_files_of_its_project(
    tmp_path: Path, server: str, case: str
) -> None:
    files, name, said = MISSED[case]
    found, summary = await asked(tmp_path, server, {"src/cart.ts": CART} | files, name)
    assert not found
    assert f"Imports of {said} are not resolved in 1 file; uses there may be missing." in summary


@pytest.mark.parametrize("server", ["tsgo", "vtsls"])
@pytest.mark.parametrize("case", list(FOUND))
async def test_nothing_is_said_where_uses_are_found(tmp_path: Path, server: str, case: str) -> None:
    files, name = FOUND[case]
    found, summary = await asked(tmp_path, server, {"src/cart.ts": CART} | files, name)
    assert found
    assert "not resolved" not in summary and "CommonJS" not in summary


#: The file with the function, and one that takes it in.
REQUIRING = {
    "parts": ("cart.ts", "b.js", 'const { total } = require("./cart")\ntotal()\n'),
    "all": ("cart.ts", "b.js", 'const c = require("./cart")\nc.total()\n'),
    "in TypeScript": ("cart.ts", "b.ts", 'const c = require("./cart")\nc.total()\n'),
    "in a test": ("cart.ts", "b.ts", 'const c = jest.requireActual("./cart")\nc.total()\n'),
    "in another test": ("cart.ts", "b.ts", 'vi.importActual("./cart").then((c) => c.total())\n'),
    "a module": ("cart.js", "b.cjs", 'const { total } = require("./cart")\ntotal()\n'),
}


@pytest.mark.parametrize("server", ["tsgo", "vtsls"])
@pytest.mark.parametrize("case", list(REQUIRING))
async def test_what_is_taken_in_by_require(tmp_path: Path, server: str, case: str) -> None:
    cart, user, text = REQUIRING[case]
    files = {"tsconfig.json": conf({"allowJs": True}), cart: CART, user: text}
    found, summary = await asked(tmp_path, server, files, user)
    assert not found
    assert summary.endswith(f". {COMMONJS}")


@pytest.mark.parametrize("server", ["tsgo", "vtsls"])
async def test_nothing_is_said_of_others_that_require(tmp_path: Path, server: str) -> None:
    files = {
        "tsconfig.json": conf({"module": "commonjs", "allowJs": True}),
        "src/cart.ts": CART,
        "src/b.ts": 'import c = require("./cart")\nc.total()\n',
        "src/c.js": 'const d = require("./d")\nd.sum()\n',
        "src/d.js": 'const fs = require("fs")\nconst total = 1\n',
    }
    found, summary = await asked(tmp_path, server, files, "src/b.ts")
    assert found and "CommonJS" not in summary


@pytest.mark.parametrize("server", ["tsgo", "vtsls"])
async def test_require_gives_other_names(tmp_path: Path, server: str) -> None:
    files = {
        "tsconfig.json": conf({"allowJs": True}),
        "a.ts": "function total() {}\nexport default total\n",
        "b.js": 'const sum = require("./a").default\nsum()\n',
        "src/c.ts": "export {}\n",
    }
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        place = {"line": 0, "character": 9}
        answer = await running.call(
            "vscode.lsp.references", uri=running.uri("a.ts"), position=place
        )
        assert COMMONJS in answer["summary"]
        # An edit is seen.
        write_files(root, {"b.js": 'import sum from "./a"\nsum()\n'})
        answer = await running.call(
            "vscode.lsp.references", uri=running.uri("a.ts"), position=place
        )
        assert "CommonJS" not in answer["summary"]


@pytest.mark.parametrize(
    ("text", "requires"),
    [
        ('require("./a")', True),
        ("require( name )", True),
        ('jest.requireActual<typeof import("./a")>("./a")', True),
        ('import a = require("./a")', False),
        ('require("node:fs")', False),
        ('require("fs/promises")', False),
        ('require("./package.json")', False),
        ('import("./a")', False),
        ("required(1)", False),
        ('// longer than require("./a")\nimport "./b"', False),
        ("/** As by\n * require(name). */", False),
        ("const said = 'call require(\"./a\")'", False),
        ("/** jest.requireActual */", False),
        ('// require("./a")\nrequire("./b")', True),
        ('const é = "é" // é\nrequire("./b")', True),
        ('`${require("./a")}`', True),
        ("const url = 'http://a'; require(url)", True),
    ],
)
def test_what_requires(text: str, requires: bool) -> None:
    assert (REQUIRED in imported(text)) == requires


async def test_thousands_of_patterns_and_names(tmp_path: Path) -> None:
    """Were every name held against every pattern, it would take minutes."""
    paths = {f"p{number}/*": [f"./src{number}/*"] for number in range(20_000)}
    files = {
        "tsconfig.json": json.dumps({"compilerOptions": {"paths": paths}}),
        "a.ts": "export function target() {}\n",
        "b.ts": 'import { target } from "./a"\n\ntarget()\n',
        "c.ts": "".join(f'import "q{number}"\n' for number in range(40_000)),
    }
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only("tsgo")) as running:
        answer = await running.call(
            "vscode.lsp.references",
            uri=running.uri("a.ts"),
            position={"line": 0, "character": 16},
        )
    assert len(answer["items"]) == 2
