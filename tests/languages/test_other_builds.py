"""Uses in code that clangd does not compile: every place that is missed is counted."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from sightline.contract.failures import Unavailable
from tests.languages.samples import only, unaccounted
from tests.support.engine import Engine, engine
from tests.support.files import write_files

HEADER = "#pragma once\nint area(int side);\n"
DEFINED = '#include "shape.h"\nint area(int side) { return side; }\n'
NAMES = {"shape.h": HEADER, "shape.c": DEFINED}


def place_of(text: str, name: str) -> dict[str, int]:
    """Where a text stands first."""
    at = text.index(name)
    return {"line": text.count("\n", 0, at), "character": at - (text.rfind("\n", 0, at) + 1)}


async def uses(
    running: Engine, files: dict[str, str], file: str, name: str, *, declared: bool = True
) -> tuple[set[str], str]:
    """Where uses were found, and what is said of others."""
    answer: Any = await running.call(
        "vscode.lsp.references",
        uri=running.uri(file),
        position=place_of(files[file], name),
        includeDeclaration=declared,
    )
    found = {
        f"{item['uri'].rpartition('/')[2]}:{item['range']['start']['line']}"
        for item in answer["items"]
    }
    return found, answer["summary"].partition(". ")[2]


LEFT_OUT = "in code that this build leaves out"


def said(count: int, files: str, where: str = LEFT_OUT, name: str = "area") -> str:
    return unaccounted(name, count, where, files)


@pytest.mark.parametrize(
    ("more", "file", "name", "note"),
    [
        (
            {"use.c": '#include "shape.h"\n#if OTHER\nint use(void) { return area(1); }\n#endif\n'},
            "shape.c",
            "area",
            said(1, "use.c"),
        ),
        (
            {
                "use.c": '#include "shape.h"\n#ifndef OTHER\nint use(void) { return area(1); }\n'
                "#else\nint use(void) { return 0; }\n#endif\n"
            },
            "shape.c",
            "area",
            "",
        ),
        (
            {
                "use.c": '#include "shape.h"\n#define drop(x)\nvoid a(void) { drop(area(1)); }\n'
                "#if OTHER\nint b = area(2);\n#endif\nvoid c(void) { drop(area(3)); }\n"
            },
            "shape.c",
            "area",
            f"{said(2, 'use.c', 'in macros')} {said(1, 'use.c')}",
        ),
        (
            {"twice.h": '#include "shape.h"\n#define TWICE(x) (area(x) * 2)\n'},
            "shape.c",
            "area",
            said(1, "twice.h", "in macros"),
        ),
        (
            {
                "use.c": "#if OTHER\n// area\n/* area */\n"
                'const char *a = "area";\nint area_of; int b_area;\n#endif\n'
            },
            "shape.c",
            "area",
            "",
        ),
        # No other file can mean it.
        (
            {
                "own.c": "static int own(void) { return 1; }\nint a(void) { return own(); }\n",
                "use.c": "#if OTHER\nint own(void);\n#endif\n",
            },
            "own.c",
            "own",
            "",
        ),
        (
            {"own.c": "static int own(void) { return 1; }\n#if OTHER\nint a = own();\n#endif\n"},
            "own.c",
            "own",
            said(1, "own.c", name="own"),
        ),
        # A member of a type that no other file sees.
        (
            {
                "own.c": "struct box { int wide; };\nint a(struct box *b) { return b->wide; }\n",
                "use.c": "#if OTHER\nint wide;\n#endif\n",
            },
            "own.c",
            "wide",
            "",
        ),
        (
            {
                "box.h": "#pragma once\nstruct box { int wide; };\n",
                "own.c": '#include "box.h"\nint a(struct box *b) { return b->wide; }\n',
                "use.c": '#include "box.h"\n#if OTHER\nint c(struct box *b) { return b->wide; }\n'
                "#endif\n",
            },
            "own.c",
            "wide",
            said(1, "use.c", name="wide"),
        ),
        # A local name is meant in its own function only.
        (
            {"own.c": "int a(int n)\n{\n  return n;\n}\n#if OTHER\nint b(int n)\n{\n}\n#endif\n"},
            "own.c",
            "n)",
            "",
        ),
        (
            {"own.c": "int a(int n)\n{\n#if OTHER\n  n++;\n#endif\n  return n;\n}\n"},
            "own.c",
            "n)",
            said(1, "own.c", name="n"),
        ),
        (
            {
                "own.cpp": "struct A {};\nA operator+(A a, A b);\n"
                "#if OTHER\nA operator-(A);\n#endif\n"
            },
            "own.cpp",
            "operator",
            "",
        ),
        # Asked about by the word before it.
        (
            {"own.c": "static int own(void) { return 1; }\n#if OTHER\nint a = own();\n#endif\n"},
            "own.c",
            "static",
            said(1, "own.c", name="own"),
        ),
        (
            {
                f"use{n}.c": "#if OTHER\nint a = area(1);\nint b = area(2);\n#endif\n"
                for n in "1234"
            },
            "shape.h",
            "area",
            said(8, "use1.c, use2.c, use3.c, 1 more"),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 10 else "",
)
async def test_what_is_missed_is_counted(
    tmp_path: Path, more: dict[str, str], file: str, name: str, note: str
) -> None:
    files = NAMES | more
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        assert (await uses(running, files, file, name))[1] == note


async def test_a_name_in_code_that_is_left_out_is_refused(tmp_path: Path) -> None:
    files = {"own.c": "#if OTHER\nint gone(void);\nint a = gone();\n#endif\n"}
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        with pytest.raises(Unavailable) as refused:
            await uses(running, files, "own.c", "gone")
    assert str(refused.value) == (
        "clangd cannot tell what `gone` is here (other build); ask where it is declared, "
        "or search the text for it"
    )


async def test_a_declaration_that_was_not_asked_for_is_no_use(tmp_path: Path) -> None:
    header = "#pragma once\n#ifndef OTHER\nint area(int side);\n#endif\n"
    files = NAMES | {"shape.h": header}
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        assert await uses(running, files, "shape.c", "area", declared=False) == (set(), "")
        write_files(root, {"use.h": "#if OTHER\nint use(void) { return area(1); }\n#endif\n"})
        found, note = await uses(running, files, "shape.c", "area", declared=False)
        assert (found, note) == (set(), said(1, "use.h"))


async def test_what_is_said_follows_the_files(tmp_path: Path) -> None:
    use = '#include "shape.h"\n#if OTHER\nint use(void) { return area(1); }\n#endif\n'
    files = NAMES | {"use.c": use}
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        assert (await uses(running, files, "shape.c", "area"))[1] == said(1, "use.c")
        write_files(root, {"use.c": use.replace("#if OTHER", "#if 1")})
        found, note = await uses(running, files, "shape.c", "area")
        assert "use.c:2" in found and not note
        write_files(root, {"use.c": use, "again.c": use})
        assert (await uses(running, files, "shape.c", "area"))[1] == said(2, "again.c, use.c")
        (root / "use.c").unlink()
        assert (await uses(running, files, "shape.c", "area"))[1] == said(1, "again.c")


OUTSIDE = NAMES | {"away.c": '#include "shape.h"\nint away(void) { return area(1); }\n'}


def commands(root: Path) -> dict[str, str]:
    entry = {"directory": str(root), "file": "shape.c", "arguments": ["cc", "shape.c"]}
    return {"compile_commands.json": json.dumps([entry])}


async def test_a_source_that_nobody_compiles(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", OUTSIDE | commands(tmp_path / "ws"))
    where = "in files that the server does not read"
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        found, note = await uses(running, OUTSIDE, "shape.c", "area")
        assert found == {"shape.h:1", "shape.c:1"}
        assert note == said(1, "away.c", where)


async def test_a_source_that_nobody_compiles_changes_no_other_answer(tmp_path: Path) -> None:
    """The server would go on telling of what it was shown."""
    root = write_files(tmp_path / "ws", OUTSIDE | commands(tmp_path / "ws"))
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        symbols = {"query": "a"}
        before = await running.call("vscode.lsp.workspaceSymbols", **symbols)
        own = await uses(running, OUTSIDE, "shape.c", "area")
        for turn in range(2):
            away = await uses(running, OUTSIDE, "away.c", "away")
            assert away[0] == {"away.c:1"}
            # What was answered before an edit is not remembered.
            write_files(root, {"note.txt": f"{turn}"})
            assert await uses(running, OUTSIDE, "shape.c", "area") == own
            outline = await running.call("vscode.lsp.documentSymbols", uri=running.uri("away.c"))
            assert [symbol["name"] for symbol in outline["symbols"]] == ["away"]
            write_files(root, {"note.txt": f"{turn} again"})
            assert await running.call("vscode.lsp.workspaceSymbols", **symbols) == before


async def test_questions_at_the_same_time_get_the_same_answers(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", OUTSIDE | commands(tmp_path / "ws"))
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        own = await uses(running, OUTSIDE, "shape.c", "area")
        away = await uses(running, OUTSIDE, "away.c", "away")
    async with engine(root, cache=tmp_path / "again", registry=only("clangd")) as running:
        for turn in range(3):
            # An edit makes every question new.
            write_files(root, {"note.h": f"// {turn}\n"})
            asked = [("shape.c", "area"), ("away.c", "away")] * 4
            answers = await asyncio.gather(*(uses(running, OUTSIDE, *each) for each in asked))
            assert answers == [own, away] * 4


async def test_a_header_that_nobody_includes_brings_nothing_back(tmp_path: Path) -> None:
    """Shown one, the server told of what a source had defined before it changed."""
    lone = "int area(int side);\n"
    files = {"lib.c": "int area(int side) { return side; }\n", "include/lone.h": lone}
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        place = {"uri": running.uri("include/lone.h"), "position": {"line": 0, "character": 4}}
        found = await running.call("vscode.lsp.definition", **place)
        assert [each["uri"] for each in found["locations"]] == [running.uri("lib.c")]
        write_files(root, {"lib.c": "int other(int side) { return side; }\n"})
        await running.call("vscode.lsp.documentSymbols", uri=place["uri"])
        found = await running.call("vscode.lsp.definition", **place)
        assert [each["uri"] for each in found["locations"]] == [place["uri"]]
        symbols = await running.call("vscode.lsp.workspaceSymbols", query="area")
        assert symbols["items"] == []


async def test_where_there_is_no_name_none_is_looked_for(tmp_path: Path) -> None:
    files = NAMES | {"use.c": '#include "shape.h"\n#if OTHER\nint use(void);\n#endif\nint x = 1;\n'}
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        for text, word in (("1;", ""), ("#if", ""), ("if", "if"), ("void", "void")):
            found, note = await uses(running, files, "use.c", text)
            assert found == set() and "also occurs" not in note
            assert note.startswith(f"The word at this position (`{word}`)" if word else "There is")
