"""What was taken out of a file is named by no answer, as if the server had just started.

Every edit is made while a server runs that has answered about the text before it. Then the same
questions are put to one that knows the new text only.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.languages.samples import offers, only
from tests.support.engine import Engine, engine
from tests.support.files import write_files

INCLUDE = '#include "lib.h"\n'
OTHER = "int other(void) {\n  return 1;\n}\n"
AREA = "int area(void) {\n  return 2;\n}\n"
DOCUMENTED = f"{INCLUDE}/** How large it is. */\n{AREA}{OTHER}"
C = {"lib.h": "int area(void);\n", "use.c": f"{INCLUDE}int use(void) {{\n  return area();\n}}\n"}
#: What a source says first, and then. ``other.c`` is there from the beginning.
C_EDITS = {
    "the function": (DOCUMENTED, INCLUDE + OTHER),
    "everything": (DOCUMENTED, ""),
    "its comment": (DOCUMENTED, INCLUDE + AREA + OTHER),
    "its name": (DOCUMENTED, DOCUMENTED.replace("area", "volume")),
    "its reach": (f"int area(void);\n{AREA}", f"static int area(void);\nstatic {AREA}"),
    "by a condition": (DOCUMENTED, f"{INCLUDE}#if 0\n{AREA}#endif\n{OTHER}"),
    "by a comment": (DOCUMENTED, f"{INCLUDE}/*\n{AREA}*/\n{OTHER}"),
    "by a macro": (DOCUMENTED, f"{INCLUDE}#define area volume\n{AREA}{OTHER}"),
    "a declaration in a body": (
        f"{INCLUDE}int other(void) {{\n  int volume(void);\n  return volume();\n}}\n",
        f"{INCLUDE}int other(void) {{\n  return 1;\n}}\n",
    ),
    "a member": (
        "struct shape { int volume; };\nint other(struct shape *s) { return s->volume; }\n",
        "struct shape { int depth; };\nint other(struct shape *s) { return s->depth; }\n",
    ),
    "nothing": (DOCUMENTED, DOCUMENTED.replace("return 2", "int more = 1;\n  return more + 2")),
}

OTHERS = {
    "ty": (
        {"use.py": "from lib import area\n\narea()\n"},
        ("lib.py", "def area() -> int:\n    return 1\n\n\ndef other() -> int: ...\n"),
        "def other() -> int: ...\n",
        ("use.py", 2, 0),
    ),
    "tsgo": (
        {"use.ts": 'import { area } from "./lib"\narea()\n', "tsconfig.json": "{}"},
        ("lib.ts", "export function area() {\n  return 1\n}\nexport function other() {}\n"),
        "export function other() {}\n",
        ("use.ts", 1, 0),
    ),
    "bash": (
        {"use.sh": "#!/bin/bash\nsource ./lib.sh\narea\n"},
        ("lib.sh", "#!/bin/bash\n# How large.\narea() {\n  echo 1\n}\nother() {\n  echo 2\n}\n"),
        "#!/bin/bash\nother() {\n  echo 2\n}\n",
        ("use.sh", 2, 0),
    ),
}
OTHERS["pyright"], OTHERS["vtsls"] = OTHERS["ty"], OTHERS["tsgo"]


HEADER = "/** How large it is. */\nint area(void);\n"
HEADER_EDITS = {
    "its comment": (HEADER, C["lib.h"]),
    "a part of its comment": (HEADER, HEADER.replace("large", "small")),
    "a declaration": (HEADER, "int other(void);\n"),
    "a macro": (f"#define volume 1\n{HEADER}", HEADER),
}


async def everything(server: str, running: Engine, place: tuple[str, int, int]) -> list[Any]:
    """What is said of a place, and of every name that is in one of the texts."""
    name, line, character = place
    at = {"uri": running.uri(name), "position": {"line": line, "character": character}}
    questions: list[tuple[Any, dict[str, Any]]] = [("definition", at), ("references", at)]
    questions += [("hover", at)] if offers(server, "hover") else []
    queries = ("area", "other", "volume", "depth")
    questions += [("workspaceSymbols", {"query": query}) for query in queries]
    return [await running.call(f"vscode.lsp.{tool}", **asked) for tool, asked in questions]


async def answers_after(
    server: str, root: Path, tmp_path: Path, edit: dict[str, str], place: tuple[str, int, int]
) -> tuple[list[Any], list[Any]]:
    """Those of a server that saw an edit, and of one that starts after it."""
    told: list[list[Any]] = []
    for number in range(2):
        cache = tmp_path / f"cache{number}"
        cache.mkdir()
        async with engine(root, cache=cache, registry=only(server)) as running:
            if not number:
                await everything(server, running, place)
                write_files(root, edit)
            told.append(await everything(server, running, place))
    return told[0], told[1]


@pytest.mark.parametrize("edit", C_EDITS)
async def test_of_a_source_in_c(tmp_path: Path, edit: str) -> None:
    before, after = C_EDITS[edit]
    root = write_files(tmp_path / "ws", C | {"lib.c": before})
    warm, cold = await answers_after("clangd", root, tmp_path, {"lib.c": after}, ("use.c", 2, 9))
    assert warm == cold


@pytest.mark.parametrize("edit", HEADER_EDITS)
async def test_of_a_header_in_c(tmp_path: Path, edit: str) -> None:
    before, after = HEADER_EDITS[edit]
    root = write_files(tmp_path / "ws", C | {"lib.c": INCLUDE + AREA, "lib.h": before})
    warm, cold = await answers_after("clangd", root, tmp_path, {"lib.h": after}, ("use.c", 2, 9))
    assert warm == cold


@pytest.mark.parametrize("server", sorted(OTHERS))
async def test_of_a_file(tmp_path: Path, server: str) -> None:
    files, (name, before), after, place = OTHERS[server]
    root = write_files(tmp_path / "ws", files | {name: before})
    warm, cold = await answers_after(server, root, tmp_path, {name: after}, place)
    assert warm == cold
