"""Includes that leave the project for what is no file: what reaches one is in no database."""

import json
import os
from pathlib import Path

import pytest

from sightline.lsp.c import compile_database
from sightline.lsp.c.compile_database import Database
from sightline.lsp.c.includes import Includes
from tests.lsp.test_includes import project
from tests.support.files import write_files

B = {"b.c": '#include "ok.h"\n', "ok.h": ""}


def written(root: Path, cache: Path) -> Database:
    cache.mkdir(exist_ok=True)
    return compile_database.write(project(root), str(cache), Includes())


def given(root: Path, cache: Path) -> set[str]:
    """The sources that a server is given, and what is said of the others."""
    database = written(root, cache)
    units = json.loads((cache / "compile_commands.json").read_text())
    assert database.units == {unit["file"] for unit in units}
    return {os.path.relpath(each, root.resolve()) for each in database.units}


WAYS = {
    "quoted": {"a.c": '#include "/dev/stdin"\n'},
    "what a process has open": {"a.c": "#include </proc/self/fd/0>\n"},
    "what never ends": {"a.c": '#include "/dev/zero"\n'},
    "climbing": {"a.c": '#include "' + "../" * 40 + 'dev/stdin"\n'},
    "a pipe outside": {"a.c": '#include "../outside/pipe"\n'},
    "a pipe outside, from a folder of headers": {
        "src/a.c": "#include <other.h>\n#include <../../outside/pipe>\n",
        "inc/other.h": "",
    },
    "over a header": {
        "a.c": '#include "x.h"\n',
        "x.h": "#include <y.h>\n",
        "y.h": '#include "/dev/stdin"\n',
    },
    "over a part": {"a.c": '#include "x.part"\n', "x.part": '#include "/dev/stdin"\n'},
    "by a flag": {
        "a.c": "",
        "own/compile_flags.txt": "",
        "compile_flags.txt": "-include/dev/stdin\n",
    },
    "by a macro": {"a.c": '#define NAME "/dev/stdin"\n#include NAME\n'},
    "under a condition": {"a.c": '#if __has_include("/dev/stdin")\n#endif\n'},
    "bytes": {"a.c": 'char a[] = {\n#embed "/dev/stdin"\n};\n'},
    "a module": {"a.cc": 'import "/dev/stdin";\n'},
    "imported": {"a.c": '#import "/dev/stdin"\n'},
}


def make(root: Path, files: dict[str, str]) -> Path:
    outside = root.parent / "outside"
    outside.mkdir()
    os.mkfifo(outside / "pipe")
    return write_files(root, files)


@pytest.mark.parametrize("way", WAYS)
def test_what_reaches_one_is_left_out_and_said(tmp_path: Path, way: str) -> None:
    files = dict(WAYS[way])
    alone = way != "by a flag"  # which is for all
    root = make(tmp_path / "ws", files | (B if alone else {}))
    assert given(root, tmp_path / "cache") == ({"b.c"} if alone else set())
    (said,) = written(root, tmp_path / "cache").shortcomings()
    assert "no file" in said.sentence


@pytest.mark.parametrize(
    "text",
    [
        *('#include "/dev/null"\n', '// #include "/dev/stdin"\n', '#include "gone"\n'),
        *('#include "d"\n', '#include "../gone"\n', '#include "/usr"\n'),
    ],
)
def test_what_ends_is_given(tmp_path: Path, text: str) -> None:
    root = make(tmp_path / "ws", B | {"a.c": text, "d/e.h": ""})
    assert given(root, tmp_path / "cache") == {"a.c", "b.c"}
    assert not written(root, tmp_path / "cache").endless


def test_a_database_of_the_project_with_folders(tmp_path: Path) -> None:
    root = make(tmp_path / "ws", B | {"a.c": "#include <pipe>\n"})
    words = ["cc", f"-I{tmp_path}/outside", "-c"]
    entries = [
        {"directory": str(root), "file": name, "arguments": [*words, name]}
        for name in ("a.c", "b.c")
    ]
    write_files(root, {"compile_commands.json": json.dumps(entries)})
    assert given(root, tmp_path / "cache") == {"b.c"}
    (said,) = written(root, tmp_path / "cache").shortcomings()
    assert (
        said.sentence == "1 file includes what is no file (pipe), such as a pipe, and is not read."
    )


def test_one_that_is_a_file_again(tmp_path: Path) -> None:
    root = make(tmp_path / "ws", B | {"a.c": '#include "../outside/pipe"\n'})
    before = written(root, tmp_path / "cache")
    assert before.lead_nowhere() == before.nowhere != ()
    (tmp_path / "outside/pipe").unlink()
    assert before.lead_nowhere() == ()
    assert given(root, tmp_path / "cache") == {"a.c", "b.c"}
