"""Uses in other roots are found, or their places are counted."""

from pathlib import Path

import pytest

from tests.languages.samples import only, unaccounted
from tests.support.engine import engine
from tests.support.files import write_files

FILES = {
    "lib/tools.ts": "export function shared(): number { return 1; }\n",
    "lib/tsconfig.json": "{}",
    "app/use.ts": 'import { shared } from "../lib/tools";\nshared();\n',
    "app/tsconfig.json": "{}",
    "app/same.ts": "export const shared = 1;\n",
    "lib/tools.h": "int shared(void);\n",
    "lib/tools.c": '#include "tools.h"\nint shared(void) { return 1; }\n',
    "app/main.c": '#include "../lib/tools.h"\nint main(void) { return shared(); }\n',
    "lib/tools.sh": "shared() { echo 1; }\n",
    "app/run.sh": "#!/bin/bash\n. ../lib/tools.sh\nshared\n",
    "app/other.sh": "#!/bin/bash\nshared() { :; }\n",
}
CASES = [
    ("tsgo", "lib/tools.ts", (0, 17), "app/use.ts", 2),
    ("vtsls", "lib/tools.ts", (0, 17), "app/use.ts", 2),
    ("clangd", "lib/tools.c", (1, 5), "app/main.c", 1),
    ("bash", "lib/tools.sh", (0, 1), "app/run.sh", 1),
]


@pytest.mark.parametrize("roots", [("lib", "app"), ("lib", "")], ids=["beside", "nested"])
@pytest.mark.parametrize(("server", "file", "place", "use", "count"), CASES)
async def test_places_in_other_roots_are_counted(
    tmp_path: Path,
    roots: tuple[str, str],
    server: str,
    file: str,
    place: tuple[int, int],
    use: str,
    count: int,
) -> None:
    write_files(tmp_path / "ws", FILES)
    own, other = (tmp_path / "ws" / root for root in roots)
    async with engine(own, other, cache=tmp_path / "cache", registry=only(server)) as running:
        answer = await running.call(
            "vscode.lsp.references",
            uri=(tmp_path / "ws" / file).as_uri(),
            position={"line": place[0], "character": place[1]},
        )
    shown = use if roots[1] else f"ws/{use}"
    is_found = (tmp_path / "ws" / use).as_uri() in {item["uri"] for item in answer["items"]}
    said = "" if is_found else unaccounted("shared", count, "in other roots", shown)
    assert answer["summary"].partition(". ")[2] == said


async def test_one_root_has_no_others(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", FILES)
    async with engine(root, cache=tmp_path / "cache", registry=only("tsgo")) as running:
        answer = await running.call(
            "vscode.lsp.references",
            uri=running.uri("lib/tools.ts"),
            position={"line": 0, "character": 17},
        )
        assert answer["summary"] == "Returned 2 references."
