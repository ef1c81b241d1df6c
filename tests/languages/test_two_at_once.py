"""Two Sightlines that work on one root at the same time, as two editors have it."""

import json
from pathlib import Path

from tests.languages.samples import only
from tests.support.engine import Engine, engine
from tests.support.files import write_files

FILES = {
    "lib.h": "int area(void);\n",
    "lib.c": '#include "lib.h"\nint area(void) { return 1; }\n',
    "use.c": '#include "lib.h"\n#include <wide.h>\n#ifdef WIDE\n'
    "int use(void) { return area(); }\n#endif\n",
}


async def uses_of_area(running: Engine) -> set[str]:
    place = {"uri": running.uri("lib.c"), "position": {"line": 1, "character": 4}}
    found = await running.call("vscode.lsp.references", **place)
    return {item["uri"].rpartition("/")[2] for item in found["items"]}


def flags_given(cache: Path) -> list[bool]:
    """Of every database: whether it has the folder that only trust gives."""
    given = sorted(cache.glob("servers/clangd/*/compile_commands.json"))
    return [f"-I{cache}/outside" in each.read_text() for each in given]


def kept(cache: Path) -> dict[Path, int]:
    shards = cache.glob("servers/clangd/*/.cache/clangd/index/*.idx")
    return {shard: shard.stat().st_mtime_ns for shard in shards}


async def test_each_answers_by_its_own_flags(tmp_path: Path) -> None:
    """One has the trust that the other has not, so that they give their servers other flags."""
    root = write_files(tmp_path / "ws", FILES)
    write_files(tmp_path / "outside", {"wide.h": "#define WIDE\n"})
    arguments = ["cc", f"-I{tmp_path}/outside", "-c"]
    entries = [
        {"directory": str(root), "file": name, "arguments": [*arguments, name]}
        for name in ("lib.c", "use.c")
    ]
    write_files(root, {"compile_commands.json": json.dumps(entries)})
    clangd = only("clangd")
    trusting = engine(root, cache=tmp_path, registry=clangd, trusted=lambda root: True)
    async with trusting as one, engine(root, cache=tmp_path, registry=clangd) as other:
        assert await uses_of_area(one) == {"use.c"}
        assert await uses_of_area(other) == set()
        assert flags_given(tmp_path) == [True, False], "neither has the other's"
        write_files(root, {"lib.h": "int more(void);\nint area(void);\n"})
        assert await uses_of_area(other) == set()
        assert await uses_of_area(one) == {"use.c"}
        assert flags_given(tmp_path) == [True, False]
    before = kept(tmp_path)
    async with engine(root, cache=tmp_path, registry=clangd, trusted=lambda root: True) as again:
        assert await uses_of_area(again) == {"use.c"}
    assert kept(tmp_path) == before, "the first folder is free again, with all that was kept"
