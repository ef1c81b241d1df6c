"""Small projects whose every file may hold one of a few texts, or not be there.

What :mod:`tests.languages.differential` edits. The sources import what is there, what is not there
yet and what is gone.
"""

from pathlib import Path
from typing import NamedTuple

__all__ = ["PROJECTS", "Project", "States"]

#: What each file may hold; ``None``: it is not there.
States = dict[str, list[str | None]]

_PYTHON: States = {
    "use.py": [
        "from lib import area\n\narea()\n",
        "from pkg.lib import area\n\narea()\n",
        "import pkg.deep.lib as lib\n\nlib.area()\n",
        "from dep import area\n\narea()\nx: int = area()\n",
        None,
    ],
    "lib.py": ["def area() -> int:\n    return 1\n", "area = 1\n", None],
    "lib.pyi": [None, "def area() -> str: ...\n"],
    "pkg/__init__.py": [None, "", "from pkg.lib import area\n"],
    "pkg/lib.py": [None, "def area() -> str:\n    return ''\n", "from lib import area\n"],
    "pkg/deep/lib.py": [None, "def area() -> None: ...\n"],
    "src/lib.py": [None, "def area() -> bytes:\n    return b''\n"],
    "src/dep/__init__.py": [None, "def area() -> bool:\n    return True\n"],
    ".venv/pyvenv.cfg": [None, "home = /usr/bin\nversion = 3.11.2\n"],
    ".venv/lib/python3.11/site-packages/dep/__init__.py": [
        None,
        "def area() -> float:\n    return 1.0\n",
    ],
    ".venv/lib/python3.11/site-packages/here.pth": [None, "../../../../src\n"],
    ".gitignore": [None, "lib.py\n", "pkg/\n", "use.py\n"],
    "pyproject.toml": [
        None,
        '[tool.ty.environment]\nroot = ["src"]\n',
        '[tool.ty.src]\nexclude = ["use.py"]\n',
        '[tool.pyright]\nextraPaths = ["src"]\n',
        '[tool.pyright]\nexclude = ["use.py"]\n',
    ],
}
_TYPESCRIPT: States = {
    "use.ts": [
        'import { area } from "./lib"\nexport const a: number = area()\n',
        'import { area } from "./pkg"\nexport const a: number = area()\n',
        'import { area } from "@/lib"\nexport const a: number = area()\n',
        'import { area } from "dep"\nexport const a: number = area()\n',
        None,
    ],
    "lib.ts": [
        "export function area(): number {\n  return 1\n}\n",
        "export const area = 1\n",
        None,
    ],
    "lib.d.ts": [None, "export declare function area(): string\n"],
    "lib/index.ts": [None, "export function area(): boolean {\n  return true\n}\n"],
    "pkg/index.ts": [None, 'export { area } from "../lib"\n', 'export * from "./deep/lib"\n'],
    "pkg/deep/lib.ts": [None, "export function area(): string {\n  return ''\n}\n"],
    "src/lib.ts": [None, "export function area(): null {\n  return null\n}\n"],
    "node_modules/dep/package.json": [
        None,
        '{"name": "dep", "types": "a.d.ts"}',
        '{"name": "dep"}',
    ],
    "node_modules/dep/a.d.ts": [None, "export declare function area(): bigint\n"],
    "node_modules/dep/index.d.ts": [None, "export declare function area(): symbol\n"],
    "base.json": [
        '{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}',
        '{"compilerOptions": {"paths": {"@/*": ["./pkg/deep/*"]}}}',
        '{"compilerOptions": {"baseUrl": "./pkg", "paths": {"@/*": ["deep/*"]}}}',
        None,
    ],
    "tsconfig.json": [
        "{}",
        '{"extends": "./base.json"}',
        '{"exclude": ["use.ts"]}',
        '{"files": ["lib.ts"]}',
        '{"compilerOptions": {"strict": true}, "extends": "./base.json"}',
        None,
    ],
}
_C: States = {
    "use.c": [
        '#include "lib.h"\nint use(void) { return area(); }\n',
        "#include <pkg/lib.h>\nint use(void) { return area(); }\n",
        "int area(void);\nint use(void) { return area(); }\n",
        # Functions that are added, which a running server can take in.
        '#include "lib.h"\nint more(void) { return area(); }\nint use(void) { return more(); }\n',
        None,
    ],
    "lib.c": [
        '#include "lib.h"\nint area(void) { return 1; }\n',
        '#include "lib.h"\nint area(void) { return 1; }\n/** No. */\nint few(void) { return 0; }\n',
        '#include "lib.h"\n',
        "int area(void) { return 2; }\n",
        '#include "lib.h"\nint other(void) { return 1; }\n',
        None,
    ],
    "lib2.c": [None, '#include "lib.h"\n\n\nint area2(void) { return area() + area(); }\n'],
    "lib.h": ["int area(void);\n", "#define AREA 3\nlong area(void);\n", None],
    "include/lib.h": [None, "long area(void);\n"],
    "include/pkg/lib.h": [None, "int area(void);\n", "#include <lib.h>\n"],
    "compile_flags.txt": [None, "-Iinclude\n", "-DX=1\n"],
    "other.c": [None, '#include "lib.h"\n#ifdef X\nint other(void) { return area(); }\n#endif\n'],
    ".clangd": [None, "CompileFlags:\n  Add: [-DX=1]\n", "Index:\n  Background: Skip\n"],
    # Then nobody compiles the others, and what is known of them depends on who asked.
    "compile_commands.json": [
        None,
        '[{"directory": ".", "file": "use.c", "arguments": ["cc", "-c", "use.c"]}]',
        '[{"directory": ".", "file": "lib.c", "arguments": ["cc", "-Iinclude", "lib.c"]}]',
    ],
}
_GO: States = {
    "go.mod": ["module example.com/m\n\ngo 1.21\n", "module example.com/n\n\ngo 1.21\n"],
    "use.go": [
        "package m\n\nfunc use() int { return area() }\n",
        'package m\n\nimport "example.com/m/pkg"\n\nfunc use() int { return pkg.Area() }\n',
        'package m\n\nimport "example.com/m/pkg/deep"\n\nfunc use() int { return deep.Area() }\n',
        None,
    ],
    "lib.go": ["package m\n\nfunc area() int { return 1 }\n", "package m\n\nvar area = 1\n", None],
    "pkg/lib.go": [None, "package pkg\n\nfunc Area() int { return 1 }\n"],
    "pkg/deep/lib.go": [None, "package deep\n\nfunc Area() string { return `` }\n"],
    "pkg/go.mod": [None, "module example.com/m/pkg\n\ngo 1.21\n"],
    "lib_windows.go": [None, "package m\n\nfunc area() int { return 2 }\n"],
}
_RUST: States = {
    "Cargo.toml": [
        '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n',
        '[package]\nname = "other"\nversion = "0.1.0"\nedition = "2021"\n',
        '[package]\nname = "sample"\nversion = "0.1.0"\n[features]\ndefault = ["x"]\nx = []\n',
    ],
    "src/lib.rs": [
        "mod plane;\npub fn used() -> i32 {\n    plane::area()\n}\n",
        "mod deep;\nmod plane;\npub fn used() -> i32 {\n    deep::area() + plane::area()\n}\n",
        '#[cfg(feature = "x")]\nmod plane;\n#[cfg(feature = "x")]\nuse plane::area;\n',
    ],
    "src/plane.rs": ["pub fn area() -> i32 {\n    1\n}\n", "pub const area: i32 = 1;\n", None],
    "src/plane/mod.rs": [None, "pub fn area() -> u8 {\n    1\n}\n"],
    "src/deep/mod.rs": [None, "mod lib;\npub use lib::area;\n", "pub fn area() {}\n"],
    "src/deep/lib.rs": [None, "pub fn area() -> i32 {\n    2\n}\n"],
    "tests/use.rs": [None, "use sample::used;\n#[test]\nfn area() {\n    used();\n}\n"],
}
_BASH: States = {
    "use.sh": [". ./lib.sh\narea\n", ". ./pkg/lib.sh\narea\n", "area\n", None],
    "lib.sh": ["area() {\n  echo 1\n}\n", "area=1\n", None],
    "pkg/lib.sh": [None, "area() {\n  echo 2\n}\n"],
    "pkg/deep/more.sh": [None, ". ../../lib.sh\narea\n"],
}
#: Two roots side by side, of which one uses the other.
_TYPESCRIPT_ROOTS: States = {
    "app/use.ts": [
        'import { area } from "../shared/lib"\nexport const a: number = area()\n',
        'import { area } from "../shared/deep/lib"\nexport const a: number = area()\n',
        'import { area } from "@/lib"\nexport const a: number = area()\n',
    ],
    "app/tsconfig.json": [
        "{}",
        '{"extends": "../shared/base.json"}',
        '{"compilerOptions": {"paths": {"@/*": ["../shared/*"]}}}',
        '{"references": [{"path": "../shared"}]}',
        None,
    ],
    "shared/tsconfig.json": [None, '{"compilerOptions": {"composite": true}}'],
    "shared/base.json": [None, '{"compilerOptions": {"paths": {"@/*": ["./deep/*"]}}}'],
    "shared/lib.ts": [
        None,
        "export function area(): number {\n  return 1\n}\n",
        "export const area = 1\n",
        'export * from "./deep/lib"\n',
    ],
    "shared/lib.d.ts": [None, "export declare function area(): string\n"],
    "shared/deep/lib.ts": [None, "export function area(): string {\n  return ''\n}\n"],
    "shared/deep/index.ts": [None, "export const area = 1\n"],
}
_PYTHON_ROOTS: States = {
    "app/use.py": [
        "from lib import area\n\narea()\n",
        "from deep.lib import area\n\narea()\n",
        "from deep import area\n\nx: int = area()\n",
    ],
    "app/pyproject.toml": [
        (
            '[tool.ty.environment]\nextra-paths = ["../shared"]\n'
            '[tool.pyright]\nextraPaths = ["../shared"]\n'
        ),
        None,
    ],
    "app/lib.py": [None, "def area() -> bytes:\n    return b''\n"],
    "shared/lib.py": [None, "def area() -> int:\n    return 1\n", "from deep.lib import area\n"],
    "shared/deep/lib.py": [None, "def area() -> str:\n    return ''\n"],
    "shared/deep/__init__.py": [None, "", "from deep.lib import area\n"],
}
_C_ROOTS: States = {
    "app/use.c": [
        '#include "../shared/lib.h"\nint use(void) { return area(); }\n',
        '#include "../shared/deep/lib.h"\nint use(void) { return area(); }\n',
    ],
    "app/lib.c": [None, '#include "../shared/lib.h"\nint area(void) { return 1; }\n'],
    "shared/lib.h": ["int area(void);\n", "#define area() 3\n", '#include "deep/lib.h"\n', None],
    "shared/deep/lib.h": [None, "long area(void);\n"],
    "shared/lib.c": [None, '#include "lib.h"\nint area(void) { return 2; }\n'],
}
_USE_GO = 'package app\n\nimport "example.com/shared{}"\n\nfunc use() int {{ return {}.Area() }}\n'
_GO_ROOTS: States = {
    "app/go.mod": [
        (
            "module example.com/app\n\ngo 1.21\n\nrequire example.com/shared v0.0.0\n\n"
            "replace example.com/shared => ../shared\n"
        ),
        "module example.com/app\n\ngo 1.21\n",
    ],
    "app/use.go": [
        _USE_GO.format("", "shared"),
        _USE_GO.format("/deep", "deep"),
    ],
    "shared/go.mod": ["module example.com/shared\n\ngo 1.21\n"],
    "shared/lib.go": [
        "package shared\n\nfunc Area() int { return 1 }\n",
        "package shared\n\nvar Area = 1\n",
        None,
    ],
    "shared/deep/lib.go": [None, "package deep\n\nfunc Area() string { return `` }\n"],
}
_GO_AROUND: States = {
    "go.work": [None, "go 1.21\n\nuse (\n\t./app\n\t./shared\n)\n"],
}
_BASH_ROOTS: States = {
    "app/use.sh": [". ../shared/lib.sh\narea\n", ". ../shared/deep/lib.sh\narea\n", "area\n"],
    "shared/lib.sh": ["area() {\n  echo 1\n}\n", ". deep/lib.sh\n", None],
    "shared/deep/lib.sh": [None, "area() {\n  echo 2\n}\n"],
}


class Project(NamedTuple):
    """What one server is tried on. The roots are folders of the project; "" is all of it."""

    server: str
    states: States
    roots: tuple[str, ...] = ("",)

    def paths(self, top: Path) -> list[Path]:
        return [top / root for root in self.roots]


_ALL: dict[str, States] = {
    "ty": _PYTHON,
    "pyright": {name: texts for name, texts in _PYTHON.items() if name != "lib.pyi"},
    "tsgo": _TYPESCRIPT,
    "vtsls": _TYPESCRIPT,
    "clangd": _C,
    "gopls": _GO,
    "rust-analyzer": _RUST,
    "bash": _BASH,
}
_TWO: dict[str, States] = {
    "ty": _PYTHON_ROOTS,
    "pyright": _PYTHON_ROOTS,
    "tsgo": _TYPESCRIPT_ROOTS,
    "vtsls": _TYPESCRIPT_ROOTS,
    "clangd": _C_ROOTS,
    "gopls": _GO_ROOTS,
    "bash": _BASH_ROOTS,
}
_SITE = ".venv/lib/python3.11/site-packages"
_PYTHON_AROUND: States = {
    ".venv/pyvenv.cfg": [None, "home = /usr/bin\nversion = 3.11.2\n"],
    f"{_SITE}/lib/__init__.py": [None, "def area() -> float:\n    return 1.0\n"],
    f"{_SITE}/here.pth": [None, "../../../../shared\n"],
}
_TYPESCRIPT_AROUND: States = {
    "app/more.ts": [None, 'import { area } from "dep"\nexport const b: number = area()\n'],
    "node_modules/dep/index.d.ts": [None, "export declare function area(): symbol\n"],
    "node_modules/dep/package.json": [None, '{"name": "dep"}'],
    "tsconfig.json": [
        None,
        "{}",
        '{"compilerOptions": {"paths": {"@/*": ["./shared/deep/*"]}}}',
        '{"compilerOptions": {"baseUrl": "shared", "paths": {"@/*": ["deep/*"]}}}',
    ],
}
_C_AROUND: States = {
    "app/use.c": [
        '#include "../shared/lib.h"\nint use(void) { return area(); }\n',
        "#include <lib.h>\nint use(void) { return area(); }\n",
        '#include "deep/lib.h"\nint use(void) { return area(); }\n',
    ],
    "compile_flags.txt": [None, "-Ishared\n", "-Ishared/deep\n"],
    "build/compile_commands.json": [
        None,
        '[{"directory": "..", "file": "app/use.c", "command": "cc -Ishared -c app/use.c"}]',
        '[{"directory": "..", "file": "app/use.c", "arguments": ["cc", "-I", "shared/deep"]}]',
    ],
}
#: What lies around the one root, besides.
_AROUND: dict[str, States] = {
    "ty": _PYTHON_AROUND,
    "pyright": _PYTHON_AROUND,
    "tsgo": _TYPESCRIPT_AROUND,
    "vtsls": _TYPESCRIPT_AROUND,
    "clangd": _C_AROUND,
    "gopls": _GO_AROUND,
}
#: Scripts that only their first line tells, and what they use.
_PYTHON_SCRIPTS: States = {
    "lib.py": ["def area() -> int:\n    return 1\n", "area = 1\n", None],
    "use.py": [None, "from lib import area\n\narea()\n"],
    "bin/run": [
        "#!/usr/bin/env python3\nfrom lib import area\n\narea()\n",
        "# of no kind\nfrom lib import area\n\narea()\n",
        "#!/bin/bash\narea\n",
        "#!/usr/bin/python3\ndef area() -> str:\n    return ''\n",
        None,
    ],
    "bin/again": [None, "#!/usr/bin/python3 -I\nfrom lib import area as other\n\nother()\n"],
    "tools/run": [None, "#!/usr/bin/env -S uv run\nimport lib\n\nx: str = lib.area()\n"],
    ".gitignore": [None, "bin/run\n", "tools/\n"],
}
_TYPESCRIPT_SCRIPTS: States = {
    "lib.ts": [
        "export function area(): number {\n  return 1\n}\n",
        "export const area = 1\n",
        None,
    ],
    "use.ts": [None, 'import { area } from "./lib"\nexport const a: number = area()\n'],
    "bin/run": [
        '#!/usr/bin/env node\nimport { area } from "../lib"\narea()\n',
        'import { area } from "../lib"\narea()\n',
        '#!/usr/bin/env tsx\nimport { area } from "../lib"\nexport const a: string = area()\n',
        "#!/bin/bash\narea\n",
        None,
    ],
    "tools/run": [None, '#!/usr/bin/node\nconst { area } = require("../lib")\narea()\n'],
    "tsconfig.json": ["{}", '{"files": ["lib.ts"]}', None],
}
_BASH_SCRIPTS: States = {
    "lib.sh": ["area() {\n  echo 1\n}\n", "area=1\n", None],
    "use.sh": [None, ". ./lib.sh\narea\n"],
    "bin/run": [
        "#!/bin/bash\n. ../lib.sh\narea\n",
        ". ../lib.sh\narea\n",
        "#!/usr/bin/env zsh\narea\n",
        "#!/bin/sh\narea() {\n  echo 2\n}\narea\n",
        "#!/bin/sh\n. ../../other.sh\narea\n",
        None,
    ],
    "bin/again": [None, "#!/usr/bin/env bash\narea() {\n  echo 3\n}\n"],
    "tools/run": [None, "#!/bin/dash\n. ../bin/again\narea\n"],
}
_SCRIPTS: dict[str, States] = {
    "ty": _PYTHON_SCRIPTS,
    "pyright": _PYTHON_SCRIPTS,
    "tsgo": _TYPESCRIPT_SCRIPTS,
    "vtsls": _TYPESCRIPT_SCRIPTS,
    "bash": _BASH_SCRIPTS,
}
#: By the name in the table.
PROJECTS = {server: Project(server, states) for server, states in _ALL.items()} | {
    f"{server}, two roots": Project(server, states, ("app", "shared"))
    for server, states in _TWO.items()
}
PROJECTS |= {
    f"{server}, a part": Project(server, states | _AROUND.get(server, {}), ("app",))
    for server, states in _TWO.items()
}
PROJECTS |= {f"{server}, scripts": Project(server, states) for server, states in _SCRIPTS.items()}
