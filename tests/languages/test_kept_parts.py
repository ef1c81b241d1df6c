"""Sources that others include, and what a server keeps of them on disk."""

from pathlib import Path
from typing import Any

from tests.languages.samples import only
from tests.support.engine import engine
from tests.support.files import write_files


async def uses_of_area(root: Path, cache: Path, name: str) -> dict[str, tuple[int, int]]:
    """Where it is used, asked where it is declared."""
    character = (root / name).read_text().splitlines()[0].index("area")
    async with engine(root, cache=cache, registry=only("clangd")) as running:
        position = {"line": 0, "character": character}
        place: dict[str, Any] = {"uri": running.uri(name), "position": position}
        found = await running.call("vscode.lsp.references", **place)
    starts = {item["uri"]: item["range"]["start"] for item in found["items"]}
    return {
        uri.rpartition("/")[2]: (start["line"], start["character"]) for uri, start in starts.items()
    }


async def test_a_part_that_does_not_compile_by_itself_is_not_held_open(tmp_path: Path) -> None:
    """What is open counts as it is read by itself, and some file has to be open: not this one,
    though its name comes first.
    """
    files = {
        "z.c": 'static int area(void) { return 1; }\n#include "a.c"\n',
        "a.c": "int g(void) { return area(); }\n",
    }
    root = write_files(tmp_path / "ws", files)
    assert await uses_of_area(root, tmp_path, "z.c") == {"a.c": (0, 21)}
