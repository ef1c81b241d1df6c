"""What a C server keeps on disk of what it read, and does not make the best of by itself."""

from pathlib import Path
from typing import Any

from tests.languages.samples import only
from tests.support.engine import Engine, engine
from tests.support.files import write_files

#: A header that says nothing by itself: what it means stands before its include.
SHAPE = {
    "shape.h": "struct shape { int area; };\n",
    "of.h": "static inline int area_of(struct shape *s) { return s->area; }\n",
    "lib.c": '#include "shape.h"\nint lib(struct shape *s) { return s->area; }\n',
}
SOUND = {"sound.c": '#include "shape.h"\n#include "of.h"\n'}
WRONG = {"wrong.c": '#include "of.h"\n'}
USES = {"lib.c": (1, 37), "of.h": (0, 55)}


async def uses_of_area(running: Engine, name: str) -> dict[str, tuple[int, int]]:
    """Where it is used, asked where it stands first in a file."""
    lines = (running.root / name).read_text().splitlines()
    line = next(number for number, text in enumerate(lines) if "area" in text)
    position = {"line": line, "character": lines[line].index("area")}
    place: dict[str, Any] = {"uri": running.uri(name), "position": position}
    found = await running.call("vscode.lsp.references", **place)
    starts = {item["uri"]: item["range"]["start"] for item in found["items"]}
    return {
        uri.rpartition("/")[2]: (start["line"], start["character"]) for uri, start in starts.items()
    }


async def uses_after_a_start(root: Path, cache: Path, name: str) -> dict[str, tuple[int, int]]:
    async with engine(root, cache=cache, registry=only("clangd")) as running:
        return await uses_of_area(running, name)


def kept(cache: Path, name: str) -> Path:
    (found,) = cache.glob(f"servers/clangd/*/.cache/clangd/index/{name}.*.idx")
    return found


async def test_a_part_that_does_not_compile_by_itself_is_not_held_open(tmp_path: Path) -> None:
    """What is open counts as it is read by itself, and some file has to be open: not this one,
    though its name comes first.
    """
    files = {
        "z.c": 'static int area(void) { return 1; }\n#include "a.c"\n',
        "a.c": "int g(void) { return area(); }\n",
    }
    root = write_files(tmp_path / "ws", files)
    assert await uses_after_a_start(root, tmp_path, "z.c") == {"a.c": (0, 21)}


async def test_a_start_that_ended_before_everything_was_kept(tmp_path: Path) -> None:
    """What is kept of the part is what it says by itself, and of the whole it is all: whoever
    loads that has nothing to read.
    """
    root = write_files(tmp_path / "ws", {"b.c": "int g(void) { return area(); }\n"})
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        await running.call("vscode.lsp.documentSymbols", uri=running.uri("b.c"))
        await running.call("vscode.lsp.workspaceSymbols", query="g")
    alone = kept(tmp_path, "b.c").read_bytes()
    files = {
        "all.c": '#include "a.c"\n#include "b.c"\n',
        "a.c": "static int area(void) { return 1; }\nint f(void) { return area(); }\n",
    }
    write_files(root, files)
    both = {"a.c": (1, 21), "b.c": (0, 21)}
    assert await uses_after_a_start(root, tmp_path, "a.c") == both
    kept(tmp_path, "b.c").write_bytes(alone)
    assert await uses_after_a_start(root, tmp_path, "a.c") == both


async def test_a_header_that_only_some_sources_make_sense_of(tmp_path: Path) -> None:
    """Two of them are read at a time: whichever comes first, and whatever is kept last."""
    root = write_files(tmp_path / "ws", SHAPE | SOUND | WRONG)
    for number in range(8):
        cache = tmp_path / str(number)
        assert await uses_after_a_start(root, cache, "lib.c") == USES
        assert await uses_after_a_start(root, cache, "lib.c") == USES


async def test_a_header_kept_with_the_errors_of_one_source(tmp_path: Path) -> None:
    """As it is where a start was broken off, or where that source was the last to be written."""
    root = write_files(tmp_path / "ws", SHAPE | WRONG)
    cache = tmp_path / "cache"
    assert await uses_after_a_start(root, cache, "lib.c") == {"lib.c": USES["lib.c"]}
    wrong = kept(cache, "of.h").read_bytes()
    write_files(root, SOUND)
    assert await uses_after_a_start(root, cache, "lib.c") == USES
    kept(cache, "of.h").write_bytes(wrong)
    assert await uses_after_a_start(root, cache, "lib.c") == USES


async def test_a_source_that_makes_sense_of_a_header_comes_and_goes(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", SHAPE | WRONG)
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        assert await uses_of_area(running, "lib.c") == {"lib.c": USES["lib.c"]}
        write_files(root, SOUND)
        assert await uses_of_area(running, "lib.c") == USES
        (root / "wrong.c").unlink()
        assert await uses_of_area(running, "lib.c") == USES


async def test_a_header_that_no_source_makes_sense_of_is_not_read_for_ever(tmp_path: Path) -> None:
    """By what is kept of the header in between, a source without errors includes it."""
    files = {
        "between.h": '#ifdef WITH\n#include "of.h"\n#endif\n',
        "wrong.c": '#define WITH\n#include "between.h"\n',
        "sound.c": '#include "shape.h"\n#include "between.h"\n',
    }
    root = write_files(tmp_path / "ws", SHAPE | files)
    written = []
    for _ in range(5):
        async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
            position = {"line": 1, "character": 37}
            place = {"uri": running.uri("lib.c"), "position": position}
            found = await running.call("vscode.lsp.references", **place)
            assert "in code that this build leaves out (of.h)" in found["summary"]
        shards = tmp_path.glob("servers/clangd/*/.cache/clangd/index/*.idx")
        written.append({shard.name: shard.stat().st_mtime_ns for shard in shards})
    assert written[-1] == written[-2]
