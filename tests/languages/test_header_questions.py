"""Headers that need what stands before their include: asked about, or only looked at.

clangd reads a header by itself when it is shown it. Uses in it that only a source brings about are
nothing to it then, for every question, until it starts over.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.languages.samples import only, unaccounted
from tests.support.engine import Engine, engine
from tests.support.files import write_files

FILES = {
    "types.h": "#pragma once\ntypedef int length;\nlength area(length side);\n",
    # It does not say where `length` and `area` come from.
    "part.h": "static inline length twice(length a) { return area(a) + area(a); }\n",
    # Nor when it is meant.
    "some.h": "#ifdef SOME\nstatic int some(void) { return area(3); }\n#endif\n",
    "lib.c": '#include "types.h"\nlength area(length side) { return side; }\n',
    "use.c": '#include "types.h"\n#include "part.h"\nint use(void) { return twice(1); }\n',
    "with.c": '#include "types.h"\n#define SOME 1\n#include "some.h"\n',
}
USES = {"types.h:2", "lib.c:1", "part.h:0", "some.h:1"}


async def uses(
    running: Engine, file: str, name: str, files: dict[str, str] = FILES
) -> tuple[set[str], str]:
    text = files[file]
    at = text.index(name)
    place = {"line": text.count("\n", 0, at), "character": at - (text.rfind("\n", 0, at) + 1)}
    answer: Any = await running.call(
        "vscode.lsp.references", uri=running.uri(file), position=place, includeDeclaration=True
    )
    base = running.root.as_uri() + "/"
    found = {
        f"{item['uri'].removeprefix(base)}:{item['range']['start']['line']}"
        for item in answer["items"]
    }
    return found, answer["summary"]


@pytest.mark.parametrize("header", ["part.h", "some.h", "types.h"])
@pytest.mark.parametrize("tool", ["documentSymbols", "diagnostics.document", "hover"])
async def test_a_header_that_was_looked_at_keeps_its_uses(
    tmp_path: Path, header: str, tool: str
) -> None:
    root = write_files(tmp_path / "ws", FILES)
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        more = {"position": {"line": 0, "character": 3}} if tool == "hover" else {}
        await running.call(f"vscode.lsp.{tool}", uri=running.uri(header), **more)
        assert (await uses(running, "lib.c", "area"))[0] == USES


@pytest.mark.parametrize("header", ["part.h", "some.h", "types.h"])
async def test_a_name_in_a_header_is_asked_about_in_a_source(tmp_path: Path, header: str) -> None:
    root = write_files(tmp_path / "ws", FILES)
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        found, summary = await uses(running, header, "area")
        assert found == USES
        assert summary == "Returned 5 references."  # two of them in one line


async def test_a_name_that_only_a_header_has(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", FILES)
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        found, summary = await uses(running, "part.h", "twice")
        assert found == {"part.h:0", "use.c:2"}
        assert summary == (
            "Returned 2 references. "
            "This file does not compile by itself; uses in it may be missing."
        )
        found, summary = await uses(running, "types.h", "length")
        assert "types.h:2" in found and "by itself" not in summary


#: All of them say the same by themselves, and one of them something about another build.
ALIKE = {
    "box.h": "#pragma once\nstruct box;\nint side(struct box *of);\n"
    "#ifdef _WIN32\nint depth(struct box *of);\n#endif\n",
    "box.c": '#include "box.h"\nstruct box { int a; };\n'
    "int side(struct box *of) { return of->a; }\n",
    "use.c": '#include "box.h"\nint use(struct box *of) { return side(of); }\n',
}
OTHER_BUILD = " " + unaccounted("box", 1, "in code that this build leaves out", "box.h")


@pytest.mark.parametrize(
    ("name", "defined", "note"), [("side", "side(", ""), ("box", "box {", OTHER_BUILD)]
)
async def test_a_header_is_answered_the_same_however_it_is_asked(
    tmp_path: Path, name: str, defined: str, note: str
) -> None:
    """Whether a source is read for it, or the header itself, which was shown before."""
    root = write_files(tmp_path / "ws", ALIKE)
    answers = []
    for shown in ([], ["box.h"], ["box.h", "box.c"]):
        async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
            for file in shown:
                await running.call("vscode.lsp.diagnostics.document", uri=running.uri(file))
            answers.append(await uses(running, "box.h", name, ALIKE))
            assert await uses(running, "box.c", defined, ALIKE) == answers[-1]
    assert answers[1:] == answers[:1] * 2
    assert answers[0][1].partition(".")[2] == note


#: In C a type that is first named in a parameter is a new one: a warning, and no error.
TYPES = {
    "shape.h": "#pragma once\nstruct shape { int side; };\n",
    "draw.h": "#pragma once\nvoid draw(struct shape *drawn);\n",
    "draw.c": '#include "shape.h"\n#include "draw.h"\nvoid draw(struct shape *drawn) {}\n',
}


@pytest.mark.parametrize("tool", ["documentSymbols", "diagnostics.document", ""])
async def test_a_header_that_names_a_type_without_declaring_it(tmp_path: Path, tool: str) -> None:
    root = write_files(tmp_path / "ws", TYPES)
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        if tool:
            await running.call(f"vscode.lsp.{tool}", uri=running.uri("draw.h"))
        found, summary = await uses(running, "shape.h", "shape", TYPES)
        assert found == {"shape.h:1", "draw.h:1", "draw.c:2"}
        assert summary == "Returned 3 references."
        found, summary = await uses(running, "draw.h", "shape", TYPES)
        assert summary == (
            "Returned 1 reference. This file names types that it does not declare or include; "
            "uses in it may be missing."
        )


async def test_headers_are_shown_to_a_process_of_their_own(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", FILES)

    def processes(running: Engine) -> dict[str, int | None]:
        return {each.name: each.pid for each in running.program.pool.status()}

    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        await uses(running, "lib.c", "area")
        first = processes(running)
        assert list(first) == ["clangd"]
        await running.call("vscode.lsp.documentSymbols", uri=running.uri("part.h"))
        await running.call("vscode.lsp.workspaceSymbols", query="area")
        assert list(processes(running)) == ["clangd", "clangd (headers)"]
        assert processes(running)["clangd"] == first["clangd"], "it did not start over"
