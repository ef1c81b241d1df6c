"""A server that has run through edits, against one that starts in the same files: the same answers?

``python -m tests.languages.differential [SERVER ...] [--rounds N] [--seeds N]`` edits small
projects at random: sources, project files, folders that come, go and move. After every edit all
questions are put to the engine that has seen every state, and to one that has seen none but
this. A difference is an answer that is not fresh. The cold engine is trusted because it has nothing
to remember; what both get wrong is not seen here.
"""

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

from sightline.contract.failures import Failure
from tests.languages.samples import ON_PATH, offers, only
from tests.support.engine import Engine, engine
from tools.evidence import write_page

__all__ = ["PROJECTS", "Difference", "differences"]

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
        None,
    ],
    "lib.c": [
        '#include "lib.h"\nint area(void) { return 1; }\n',
        "int area(void) { return 2; }\n",
        '#include "lib.h"\nint other(void) { return 1; }\n',
        None,
    ],
    "lib2.c": [None, '#include "lib.h"\n\n\nint area(void) { return 4; }\n'],
    "lib.h": ["int area(void);\n", "#define area() 3\n", None],
    "include/lib.h": [None, "long area(void);\n"],
    "include/pkg/lib.h": [None, "int area(void);\n", "#include <lib.h>\n"],
    "compile_flags.txt": [None, "-Iinclude\n", "-DX=1\n"],
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
#: The files of each server's project.
PROJECTS: dict[str, States] = {
    "ty": _PYTHON,
    "pyright": {name: texts for name, texts in _PYTHON.items() if name != "lib.pyi"},
    "tsgo": _TYPESCRIPT,
    "vtsls": _TYPESCRIPT,
    "clangd": _C,
    "gopls": _GO,
    "rust-analyzer": _RUST,
    "bash": _BASH,
}
_RESULTS = Path(__file__).parent.parent.parent / "bench/results/differential.json"
_SYMBOL = re.compile(r"\b[Aa]rea\b")


class Difference(NamedTuple):
    server: str
    round: int
    edits: tuple[str, ...]
    question: str
    warm: str
    cold: str


async def differences(server: str, rounds: int, seed: int, folder: Path) -> list[Difference]:
    """Edits a project of a server so often, and says where an answer was not fresh."""
    found: list[Difference] = []
    # A user's own server needs the user's own toolchain.
    home = os.environ["HOME"] if server in ON_PATH else str(folder)
    environment = {"PATH": os.environ["PATH"], "HOME": home}
    chance = random.Random(seed)
    states = PROJECTS[server]
    root = folder / "ws"
    root.mkdir()
    for name, texts in states.items():
        _put(root / name, texts[0])
    async with AsyncExitStack() as stack:
        warm = await stack.enter_async_context(_engine(root, folder / "warm", server, environment))
        await _answers(warm, server)
        edits: list[str] = []
        for number in range(rounds):
            made = [
                _edit(root, folder, states, chance) for _ in range(chance.choice((1, 1, 1, 2, 4)))
            ]
            edits += made
            said = await _answers(warm, server)
            async with _engine(root, folder / f"cold{number}", server, environment) as cold:
                right = await _answers(cold, server)
            shutil.rmtree(folder / f"cold{number}")
            for question in sorted(right.keys() | said.keys()):
                pair = said.get(question, "-"), right.get(question, "-")
                if pair[0] != pair[1]:
                    found.append(Difference(server, number, tuple(made), question, *pair))
    return found


def _engine(root: Path, cache: Path, server: str, environment: dict[str, str]) -> Any:
    cache.mkdir()
    return engine(
        root,
        cache=cache,
        registry=only(server),
        environment=environment,
        trusted=lambda root: True,
    )


def _edit(root: Path, folder: Path, states: States, chance: random.Random) -> str:
    """One edit, and what it was."""
    name = chance.choice(sorted(states))
    folders = sorted({name.partition("/")[0] for name in states if "/" in name})
    if folders and chance.random() < 0.2:
        top = chance.choice(folders)
        inside, outside = root / top, folder / f"aside-{top}"
        source, target = (inside, outside) if inside.exists() else (outside, inside)
        if source.exists() and not target.exists():
            source.rename(target)
            return f"{top} {'left' if target == outside else 'came back'}"
    path = root / name
    now = path.read_text() if path.is_file() else None
    text = chance.choice([each for each in states[name] if each != now])
    if text is not None and chance.random() < 0.3:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = folder / "fresh"
        fresh.write_text(text)
        fresh.replace(path)
    else:
        _put(path, text)
    return f"{name}: {'gone' if text is None else states[name].index(text)}"


def _put(path: Path, text: str | None) -> None:
    if text is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return
    path.unlink(missing_ok=True)
    for parent in path.parents:
        if parent.name == "ws" or not parent.is_dir() or any(parent.iterdir()):
            break
        parent.rmdir()


async def _answers(running: Engine, server: str) -> dict[str, str]:
    """Every question's answer: about every file, and about every place the name is at."""
    answers: dict[str, str] = {}
    for tool, arguments in _questions(running.root, server):
        try:
            answer = await running.call(f"vscode.lsp.{tool}", **arguments)
        except Failure as failure:
            answer = f"{type(failure).__name__}: {failure}"
        key = f"{tool} {arguments.get('uri', '').removeprefix(running.root.as_uri())}"
        place = arguments.get("position")
        answers[f"{key} {place['line']}:{place['character']}" if place else key] = _plain(answer)
    return answers


def _plain(answer: Any) -> str:
    """An answer without the cursor, which holds the epochs of its engine."""
    if isinstance(answer, dict):
        answer.pop("nextCursor", None)
    return json.dumps(answer, sort_keys=True)


def _questions(root: Path, server: str) -> Iterator[tuple[str, dict[str, Any]]]:
    sources = [
        name for name in PROJECTS[server] if name.startswith(("use.", "lib", "pkg", "src", "tests"))
    ]
    for name in sorted(sources):
        path = root / name
        if not path.is_file() or path.suffix in (".mod", ".txt"):
            continue
        uri = path.as_uri()
        if offers(server, "documentSymbols"):
            yield "documentSymbols", {"uri": uri}
        if offers(server, "documentDiagnostics"):
            yield "diagnostics.document", {"uri": uri}
        for line, text in enumerate(path.read_text().splitlines()):
            for match in _SYMBOL.finditer(text):
                place = {"line": line, "character": match.start()}
                for tool in ("definition", "references", "hover"):
                    if offers(server, tool):
                        yield tool, {"uri": uri, "position": place}
    if offers(server, "workspaceSymbols"):
        yield "workspaceSymbols", {"query": "area"}
    if offers(server, "workspaceDiagnostics"):
        yield "diagnostics.workspace", {}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("servers", nargs="*", default=[s for s in PROJECTS if s not in ON_PATH])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write docs/evidence/differential.md")
    chosen = parser.parse_args()
    stale = 0
    for server in chosen.servers:
        found: list[Difference] = []
        for seed in range(1, chosen.seeds + 1):
            with tempfile.TemporaryDirectory() as folder:
                found += asyncio.run(differences(server, chosen.rounds, seed, Path(folder)))
        for each in found:
            print(f"{each.server} {each.round} {each.edits}\n  {each.question}")
            print(f"    warm {each.warm}\n    cold {each.cold}")
        rounds = chosen.rounds * chosen.seeds
        print(f"{server}: {rounds} rounds, {len(found)} answers were not fresh", flush=True)
        stale += len(found)
        if chosen.write:
            _record(server, {"sequences": chosen.seeds, "rounds": rounds, "stale": len(found)})
    return 1 if stale else 0


def _record(server: str, row: dict[str, int]) -> None:
    known = json.loads(_RESULTS.read_text()) if _RESULTS.exists() else {}
    rows = known | {server: row}
    rows = {name: rows[name] for name in PROJECTS if name in rows}
    _RESULTS.write_text(json.dumps(rows, indent=1) + "\n")
    lines = [
        f"| {name} | {each['sequences']} | {each['rounds']} | {each['stale']} |"
        for name, each in rows.items()
    ]
    write_page("differential.md", "python -m tests.languages.differential --write", _page(lines))


def _page(lines: list[str]) -> str:
    return f"""# A server that has run through edits, beside one that starts in the same files

Small projects are edited at random: sources that import what is there, what is not there yet and
what is gone, project files, ignore files, environments, headers, folders that come, go and move.
After every round of one to four edits all questions about every file are put to the engine that has
seen every state, and to one that has seen none but this. An answer that differs is not fresh, or
depends on what was asked before.

| server | sequences of edits | rounds | answers that differ |
|---|---|---|---|
{chr(10).join(lines)}

## Weak points

- The projects are small and the edits are made by a program. What both engines get wrong is not
  seen here; [cold-starts.md](cold-starts.md) looks at that.
- Servers that know one document only are left out. gopls was Debian's 0.16.1, whose diagnostics
  cannot be asked for.
- A stub beside a source of the same name, with a third in `src`, is left out for pyright: it finds
  one definition more after a start than after the edits that lead there.
"""


if __name__ == "__main__":
    sys.exit(main())
