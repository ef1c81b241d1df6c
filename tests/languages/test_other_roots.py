"""Uses in other roots are counted, or it is said that they are not."""

from pathlib import Path

import pytest

from tests.languages.samples import only
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
    ("tsgo", "lib/tools.ts", (0, 17), "app/use.ts"),
    ("vtsls", "lib/tools.ts", (0, 17), "app/use.ts"),
    ("clangd", "lib/tools.c", (1, 5), "app/main.c"),
    ("bash", "lib/tools.sh", (0, 1), "app/run.sh"),
]


@pytest.mark.parametrize("roots", [("lib", "app"), ("lib", "")], ids=["beside", "nested"])
@pytest.mark.parametrize(("server", "file", "place", "use"), CASES)
async def test_it_is_said_where_other_roots_have_the_name(
    tmp_path: Path,
    roots: tuple[str, str],
    server: str,
    file: str,
    place: tuple[int, int],
    use: str,
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
    sentence = f"shared also stands in 1 file of other roots ({shown}); uses there may be missing."
    is_found = (tmp_path / "ws" / use).as_uri() in {item["uri"] for item in answer["items"]}
    assert is_found != (sentence in answer["summary"]), answer
    assert "other.sh" not in answer["summary"]
    assert "same.ts" not in answer["summary"]


async def test_one_root_has_no_others(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", FILES)
    async with engine(root, cache=tmp_path / "cache", registry=only("tsgo")) as running:
        answer = await running.call(
            "vscode.lsp.references",
            uri=running.uri("lib/tools.ts"),
            position={"line": 0, "character": 17},
        )
        assert answer["summary"] == "Returned 2 references."
