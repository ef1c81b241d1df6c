"""Headers in folders of their own, in a project that does not say where they are looked for."""

from pathlib import Path

import pytest

from tests.languages.samples import only
from tests.languages.test_other_builds import uses
from tests.support.engine import engine
from tests.support.files import write_files

HEADER = """#ifndef UNITS_H
#define UNITS_H
#define THRICE(x) ((x) * 3)
static inline int twice(int a) { return a * 2; }
static const int most = 4;
enum { LEAST = 3 };
#endif
"""
USE = "int {}(int a) {{ return twice(a) + THRICE(a) + LEAST + most; }}\n"


@pytest.mark.parametrize("name", ["THRICE", "twice", "most", "LEAST"])
@pytest.mark.parametrize("folder", ["include", "."])
async def test_what_belongs_to_a_header_is_asked_about_in_it(
    tmp_path: Path, name: str, folder: str
) -> None:
    """And in its sources, one of which includes it by a path."""
    way = "units.h" if folder == "include" else "core/units.h"
    files = {
        f"{folder}/core/units.h" if folder == "." else f"{folder}/units.h": HEADER,
        "src/near.c": f'#include "../{folder}/{way}"\n' + USE.format("near"),
        "src/far.c": f"#include <{way}>\n" + USE.format("far"),
        "lib/other.c": f'#include "{way}"\n' + USE.format("other"),
    }
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        for asked in files:
            found, _ = await uses(running, files, asked, name, declared=False)
            assert found == {"near.c:1", "far.c:1", "other.c:1"}
