"""A name that clangd knows nothing of leads nowhere: what is called the same is only a guess."""

from pathlib import Path
from typing import Any

import pytest

from tests.languages.samples import only
from tests.support.engine import engine
from tests.support.files import write_files

#: The place that is asked about is marked by a caret below it, the definition by its line.
SOURCE = """\
#include "lib.h"
#define LIMIT 3
struct Shape { virtual int size() const { return 1; } };
struct Round : Shape { int size() const override { return LIMIT; } };
//                                      ^override 2
template <class T> int measured(T t) { return t.size() + LIMIT; }
//                                                       ^LIMIT 1
int use(Shape &shape) {
  auto other = Round();
//^auto 3
  if (shape.size() > other.size())
//                         ^size 3
    goto end;
//       ^end 14
end:
  return area(1) + measured(other);
//       ^area lib.h:0
}
#include "more.h"
//       ^more more.h:0
#ifdef NEVER
int never(void) { return area(2); }
//                       ^area -
#endif
// how large an area is
//              ^area -
const char *text = "area";
//                  ^area -
"""
FILES = {"lib.h": "int area(int);\n", "more.h": "int more;\n", "use.cpp": SOURCE}


def places() -> list[Any]:
    found: list[Any] = []
    lines = SOURCE.splitlines()
    for number, line in enumerate(lines):
        mark = line.find("^")
        if mark >= 0:
            word, where = line[mark + 1 :].split()
            found.append(pytest.param(number - 1, mark, where, id=f"{word} in line {number - 1}"))
    return found


@pytest.mark.parametrize(("line", "character", "where"), places())
async def test_what_leads_where(tmp_path: Path, line: int, character: int, where: str) -> None:
    root = write_files(tmp_path / "ws", FILES)
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        place = {"line": line, "character": character}
        answer = await running.call(
            "vscode.lsp.definition", uri=running.uri("use.cpp"), position=place
        )
    told = [
        (each["uri"].rpartition("/")[2], each["range"]["start"]["line"])
        for each in answer["locations"]
    ]
    name, _, number = where.rpartition(":")
    assert told == ([] if where == "-" else [(name or "use.cpp", int(number))])
    assert ("cannot tell what this name is" in answer["summary"]) == (line == 21)
