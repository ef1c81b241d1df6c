"""C and C++ projects that do not say how they are compiled: their headers, found or named."""

import json
from pathlib import Path
from typing import Any

import pytest

from sightline.process.child import Child
from sightline.process.keepers import Keepers
from tests.languages.samples import only, unaccounted
from tests.support.engine import Engine, engine
from tests.support.files import write_files

FILES = {
    "include/shapes/area.h": "#pragma once\nint area(int side);\n",
    "src/area.cpp": "#include <shapes/area.h>\n\nint area(int side) { return side * side; }\n",
    "src/use.cpp": '#include "shapes/area.h"\n\nint use() { return area(2); }\n',
    "tests/check.cpp": "#include <shapes/area.h>\n\nint check() { return area(3); }\n",
}


async def uses(running: Engine) -> tuple[set[str], str]:
    answer: Any = await running.call(
        "vscode.lsp.references",
        uri=running.uri("include/shapes/area.h"),
        position={"line": 1, "character": 4},
    )
    base = running.root.as_uri() + "/"
    found = {item["uri"].removeprefix(base) for item in answer["items"]}
    return found - {"src/area.cpp"}, answer["summary"]


async def test_headers_are_found_without_a_compilation_database(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    write_files(root, FILES)
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        found, summary = await uses(running)
        assert found == {"src/use.cpp", "tests/check.cpp"}
        assert "not found" not in summary
        write_files(root, {"more/extra/twice.h": "inline int twice(int x) { return 2 * x; }\n"})
        assert (await uses(running))[0] == {"src/use.cpp", "tests/check.cpp"}
        # A new include needs another folder, although only a source changed.
        text = '#include "shapes/area.h"\n#include <extra/twice.h>\n\nint a = twice(area(1));\n'
        write_files(root, {"src/use.cpp": text})
        assert (await uses(running))[0] == {"src/use.cpp", "tests/check.cpp"}
        answer = await running.call(
            "vscode.lsp.references",
            uri=running.uri("more/extra/twice.h"),
            position={"line": 0, "character": 11},
        )
        assert [item["range"]["start"]["line"] for item in answer["items"]] == [3]


async def test_what_was_not_found_is_said(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    late = '#include "made_later.h"\nint late() { return make().area; }\n'
    write_files(root, FILES | {"src/late.cpp": late})
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        note = "Headers not found: made_later.h; what needs them may be missing."
        said = unaccounted("area", 1, "in code that this build leaves out", "src/late.cpp")
        assert (await uses(running))[1] == f"Returned 2 references. {said}"
        symbols = await running.call("vscode.lsp.workspaceSymbols", query="late")
        assert symbols["summary"] == f"Returned 1 workspace symbol. {note}"
        write_files(root, {"build/made_later.h": "struct S { int area; };\nS make();\n"})
        assert (await uses(running))[1] == "Returned 2 references."
        symbols = await running.call("vscode.lsp.workspaceSymbols", query="late")
        assert symbols["summary"] == "Returned 1 workspace symbol."


async def test_two_that_start_over_do_not_read_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One for headers that is being ended may still write what a file was before."""
    root = write_files(tmp_path / "ws", FILES)
    started: list[Child] = []
    overlaps: list[int] = []
    spawn = Keepers.spawn

    async def counted(keepers: Keepers, *args: Any, **given: Any) -> Child:
        overlaps.append(sum(not child.ended for child in started))
        child = await spawn(keepers, *args, **given)
        started.append(child)
        return child

    monkeypatch.setattr(Keepers, "spawn", counted)
    header = {"shapes/only.h": "#pragma once\nint only(int);\n"}
    write_files(root, header)
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        asked = {"uri": running.uri("shapes/only.h")}
        assert (await running.call("vscode.lsp.documentSymbols", **asked))["symbols"]
        before = len(started)
        for number in range(3):
            edit = {"include/shapes/area.h": FILES["include/shapes/area.h"] + f"int a{number};\n"}
            write_files(root, edit)
            assert (await running.call("vscode.lsp.documentSymbols", **asked))["symbols"]
    # The first one starts when nobody is left, the one for headers beside it.
    assert overlaps[before:] == [0, 1] * 3


async def test_flags_that_change_are_believed(tmp_path: Path) -> None:
    """What the server made of a file with other flags is not kept, in this process or the next."""
    root = tmp_path / "ws"
    text = '#include "shapes/area.h"\n#ifdef TWICE\nint use() { return area(2); }\n#endif\n'
    write_files(root, FILES | {"src/use.cpp": text})
    commands = [
        {"directory": str(root), "file": name, "arguments": ["c++", "-Iinclude", "-DTWICE", name]}
        for name in FILES
        if name.endswith(".cpp")
    ]
    with_use, without = {"src/use.cpp", "tests/check.cpp"}, {"tests/check.cpp"}
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        assert (await uses(running))[0] == without
        write_files(root, {"compile_commands.json": json.dumps(commands)})
        assert (await uses(running))[0] == with_use
        write_files(root, {"src/later.cpp": "int later;\n"})
        note = "1 source is not in compile_commands.json and not read."
        symbols = await running.call("vscode.lsp.workspaceSymbols", query="use")
        assert symbols["summary"] == f"Returned 1 workspace symbol. {note}"
        assert "later" not in (await uses(running))[1]
        write_files(root, {"src/later.cpp": "int later = area(1);\n"})
        said = unaccounted("area", 1, "in files that the server does not read", "src/later.cpp")
        assert (await uses(running))[1] == f"Returned 2 references. {said}"
        (root / "src/later.cpp").unlink()
        assert (await uses(running))[1] == "Returned 2 references."
        symbols = await running.call("vscode.lsp.workspaceSymbols", query="use")
        assert symbols["summary"] == "Returned 1 workspace symbol."
    (root / "compile_commands.json").unlink()
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        assert (await uses(running))[0] == without


async def test_a_source_that_another_includes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Having read such a project clangd lost a source in four of eight starts, but not on disk."""
    root = tmp_path / "ws"
    write_files(root, FILES | {"tests/mock.cpp": '#define MOCK 1\n#include "../src/use.cpp"\n'})
    starts: list[str] = []
    spawn = Keepers.spawn

    async def counted(keepers: Keepers, command: Any, **rest: Any) -> Child:
        starts.append(command[0])
        return await spawn(keepers, command, **rest)

    monkeypatch.setattr(Keepers, "spawn", counted)
    # First without what includes another, then with it, then from what it kept, which is enough.
    for expected in (3, 4):
        async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
            assert (await uses(running))[0] == {"src/use.cpp", "tests/check.cpp"}
        assert len(starts) == expected


PLAIN = {
    "use.c": '#include "lib.h"\nint use(void) { return area(); }\n',
    "lib.c": '#include "lib.h"\nint area(void) { return 1; }\n',
    "lib.h": "int area(void);\n",
}


@pytest.mark.parametrize(
    ("edits", "line", "expected"),
    [
        # What was kept of the header is read in a source that no longer includes it, or by nobody.
        ({"use.c": "#include <pkg/lib.h>\nint use(void) { return area(); }\n"}, 1, 2),
        ({"lib.c": "int area(void) { return 2; }\n", "lib.h": None}, 0, 1),
    ],
    ids=["dropped", "gone"],
)
async def test_a_header_that_fewer_include(
    tmp_path: Path, edits: dict[str, str | None], line: int, expected: int
) -> None:
    root = write_files(tmp_path / "ws", PLAIN)

    async def declared(running: Engine, line: int) -> str:
        answer: Any = await running.call(
            "vscode.lsp.references",
            uri=running.uri("lib.c"),
            position={"line": line, "character": 4},
            includeDeclaration=True,
        )
        return str(answer["summary"])

    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        assert await declared(running, 1) == "Returned 3 references."
        for name, text in edits.items():
            if text is None:
                (root / name).unlink()
            else:
                write_files(root, {name: text})
        # The call in what was read with errors.
        left = unaccounted("area", 1, "in code that this build leaves out", "use.c")
        references = "1 reference" if expected == 1 else f"{expected} references"
        assert await declared(running, line) == f"Returned {references}. {left}"
