"""A header that changes is read again wherever it is included, however the include is spelled.

Of the sources that include a header clangd itself reads one again, so there are two.
"""

import json
from pathlib import Path

import pytest

from tests.languages.samples import only
from tests.support.engine import Engine, engine
from tests.support.files import write_files

LIB = {
    "lib.h": "int area(void);\nint other(void);\n",
    "lib.c": '#include "lib.h"\nint area(void) { return 1; }\nint other(void) { return 2; }\n',
}
LONG = "x" * 150 + ".h"
#: The name of a header, and what includes it.
SPELLINGS = {
    "a macro": ("calls.h", '#define HEADER "calls.h"\n#include HEADER\n'),
    "a macro, of any name": ("calls.def", '#define HEADER "calls.def"\n#include HEADER\n'),
    "a macro of another header": ("calls.h", '#include "names.h"\n#include CALLS_H\n'),
    "a macro that takes something": (
        "calls.h",
        "#define TEXT(x) #x\n#define HEADER(x) TEXT(x.h)\n#include HEADER(calls)\n",
    ),
    "a blank in the name": ("my calls.h", '#include "my calls.h"\n'),
    "marks in the name": ("calls@2~.h", '#include "calls@2~.h"\n'),
    "other letters": ("größe.h", '#include "größe.h"\n'),
    "a comment before": ("calls.h", '/* */ #include "calls.h"\n'),
    "a long comment before": ("calls.h", '/*\n */ #include "calls.h"\n'),
    "comments within": ("calls.h", '# /* a */ include /* b */ "calls.h"\n'),
    "a line that goes on": ("calls.h", '#include \\\n  "calls.h"\n'),
    "a word that goes on": ("calls.h", '#inc\\\nlude "calls.h"\n'),
    "another spelling of the mark": ("calls.h", '%:include "calls.h"\n'),
    "a roundabout way": ("sub/calls.h", '#include "sub//./calls.h"\n'),
    "a way up and down": ("calls.h", '#include "sub/../calls.h"\n'),
    "a long name": (LONG, f'#include "{LONG}"\n'),
}
MORE = {"names.h": '#define CALLS_H "calls.h"\n', "sub/x.h": ""}
USE = '#include "lib.h"\n{include}int use_{name}(void) {{ return CALL(); }}\n'
BOTH = {"one.c", "two.c"}


async def uses_of_other(running: Engine) -> set[str]:
    place = {"uri": running.uri("lib.c"), "position": {"line": 2, "character": 4}}
    found = await running.call("vscode.lsp.references", **place)
    return {item["uri"].rpartition("/")[2] for item in found["items"]}


def written(root: Path, include: str) -> Path:
    sources = {f"{name}.c": USE.format(include=include, name=name) for name in ("one", "two")}
    return write_files(root, LIB | MORE | sources)


@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_a_header_that_changes(tmp_path: Path, spelling: str) -> None:
    header, include = SPELLINGS[spelling]
    root = written(tmp_path / "ws", include)
    write_files(root, {header: "#define CALL area\n"})
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        assert await uses_of_other(running) == set()
        write_files(root, {header: "#define CALL other\n"})
        assert await uses_of_other(running) == BOTH
        write_files(root, {header: "#define CALL area\n"})
        assert await uses_of_other(running) == set()


@pytest.mark.parametrize("header", ["calls.h", "calls.def", "sub/calls.h"])
@pytest.mark.parametrize("way", ["-include", "-imacros", "-D"])
async def test_a_header_that_flags_include(tmp_path: Path, way: str, header: str) -> None:
    include, flags = ("", [way, header])
    if way == "-D":
        include, flags = "#include HEADER\n", [f'-DHEADER="{header}"', "-I."]
    root = written(tmp_path / "ws", include)
    entries = [
        {"directory": str(root), "file": name, "arguments": ["cc", *flags, "-c", name]}
        for name in ("lib.c", "one.c", "two.c")
    ]
    write_files(root, {"compile_commands.json": json.dumps(entries)})
    write_files(root, {header: "#define CALL area\n"})
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        assert await uses_of_other(running) == set()
        write_files(root, {header: "#define CALL other\n"})
        assert await uses_of_other(running) == BOTH


@pytest.mark.parametrize("spelling", ["a macro", "a macro that takes something"])
async def test_a_header_that_comes(tmp_path: Path, spelling: str) -> None:
    header, include = SPELLINGS[spelling]
    root = written(tmp_path / "ws", include)
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        assert await uses_of_other(running) == set()
        write_files(root, {header: "#define CALL other\n"})
        assert await uses_of_other(running) == BOTH


async def test_a_file_that_a_text_names_and_nobody_includes(tmp_path: Path) -> None:
    """A server that started over for it would never come to rest."""
    names = '#define LOG "app.log"\nconst char *log_name(void) { return LOG; }\n'
    root = write_files(tmp_path / "ws", LIB | {"log.c": names, "app.log": ""})
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        assert await uses_of_other(running) == set()
        (server,) = running.program.pool._fleet.servers.values()
        first = server.pid
        write_files(root, {"app.log": "something\n"})
        assert await uses_of_other(running) == set()
        assert server.pid == first


async def test_a_header_in_which_only_the_ends_of_lines_move(tmp_path: Path) -> None:
    """The same words, some of them in a comment."""
    root = written(tmp_path / "ws", '#include "calls.h"\n')
    lines = ["#define CALL area //", "#undef CALL", "#define CALL other", ""]
    write_files(root, {"calls.h": " ".join(lines) + "\n"})
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        assert await uses_of_other(running) == set()
        write_files(root, {"calls.h": "\n".join(lines)})
        assert await uses_of_other(running) == BOTH


@pytest.mark.parametrize("moved", ["\n\n{}", " {}"], ids=["lines", "blanks"])
async def test_headers_in_which_places_move(tmp_path: Path, moved: str) -> None:
    """What another header declares is kept there, too, with the place where it is defined. It is
    chance which of them counts, so there are several.
    """
    names = [f"shape{n}" for n in range(8)]
    declared = {f"{name}.hpp": f"inline int {name}();\n" for name in names}
    defined = {f"{name}.inl": f"inline int {name}() {{ return 1; }}\n" for name in names}
    includes = "".join(f'#include "{file}"\n' for file in (*declared, *defined))
    sources = {f"{name}.cpp": f"{includes}int {name};\n" for name in "ab"}
    root = write_files(tmp_path / "ws", declared | defined | sources)

    async def found(running: Engine) -> set[tuple[int, int]]:
        answer = await running.call("vscode.lsp.workspaceSymbols", query="shape")
        assert {each["name"] for each in answer["items"]} == set(names)
        starts = [each["location"]["range"]["start"] for each in answer["items"]]
        return {(start["line"], start["character"]) for start in starts}

    before, after = {(0, 11)}, {(2, 11) if "\n" in moved else (0, 12)}
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        assert await found(running) == before
        write_files(root, {file: moved.format(text) for file, text in defined.items()})
        assert await found(running) == after
    async with engine(root, cache=tmp_path, registry=only("clangd")) as again:
        assert await found(again) == after
