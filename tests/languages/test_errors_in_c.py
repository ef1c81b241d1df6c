"""After an error clangd loses uses without a word: they are found all the same, or counted."""

import json
from pathlib import Path

from tests.languages.samples import only
from tests.languages.test_other_builds import said, uses
from tests.support.engine import engine
from tests.support.files import write_files

BOX = "#pragma once\ntemplate <class T> struct box { T *of; };\nstruct item { int size; };\n"
#: So many errors that a compiler would stop here.
ERRORS = "".join(f"int f{number}() {{ return unknown{number}; }}\n" for number in range(25))
MANY = {
    "box.h": BOX,
    "bad.cpp": f'#include "box.h"\n{ERRORS}int g(box<item> &all) {{ return all.of->size; }}\n',
    "good.cpp": '#include "box.h"\nint h(box<item> &all) { return all.of->size; }\n',
}


async def test_uses_after_many_errors_are_found(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", MANY)
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        both = {"bad.cpp:26", "good.cpp:1"}
        assert await uses(running, MANY, "box.h", "item", declared=False) == (both, "")
        assert await uses(running, MANY, "box.h", "size", declared=False) == (both, "")


#: Configured and not built: a header that the build makes is not there yet.
UNBUILT = {
    "conf.h": "struct conf { int level; };\nint check(struct conf *of);\n",
    "made.c": '#include "made.h"\n#include "conf.h"\n'
    "int check(struct conf *of) { return of->level + MADE; }\n",
    "use.c": '#include "conf.h"\nint use(struct conf *of) { return check(of); }\n',
}
LOST = said(1, "made.c", name="level")


def unbuilt(root: Path) -> dict[str, str]:
    entries = [
        {"directory": str(root), "file": name, "arguments": ["cc", "-c", name]}
        for name in UNBUILT
        if name.endswith(".c")
    ]
    return UNBUILT | {"compile_commands.json": json.dumps(entries)}


async def test_a_name_in_a_file_with_errors_is_counted(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    write_files(root, unbuilt(root))
    for _ in range(2):  # with no index, and with one
        async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
            asked = await uses(running, UNBUILT, "conf.h", "level", declared=False)
            assert asked == (set(), LOST)
            # Every line with this name is known.
            asked = await uses(running, UNBUILT, "conf.h", "check", declared=False)
            assert asked == ({"use.c:1"}, "")


async def test_errors_that_come_and_go_in_a_function(tmp_path: Path) -> None:
    """Which a server takes in without starting over."""
    root = tmp_path / "ws"
    files = unbuilt(root) | {"made.h": "#define MADE 1\n"}
    write_files(root, files)
    wrong = files["use.c"].replace("check(of)", "check(of) + of->level + lost")
    mended = wrong.replace(" + lost", "")
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        for text, found, note in [
            (files["use.c"], {"made.c:2"}, ""),
            (wrong, {"made.c:2"}, said(1, "use.c", name="level")),
            (mended, {"made.c:2", "use.c:1"}, ""),
        ]:
            write_files(root, {"use.c": text})
            asked = await uses(running, files, "conf.h", "level", declared=False)
            assert asked == (found, note)
        (root / "made.h").unlink()
        asked = await uses(running, files, "conf.h", "level", declared=False)
        assert asked == ({"use.c:1"}, LOST)
