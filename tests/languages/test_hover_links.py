"""Links in texts of real servers: those into the workspace stay, others lose their folders."""

import os
from pathlib import Path

import pytest

from sightline.contract.settings import Settings
from tests.languages.samples import only
from tests.support.engine import engine

_ASKED = """import { Hidden } from "../private folder/secret";
import { Near } from "./near by";
/** See {@link Hidden} and {@link Near}. */
export function area(): number { return 1; }
new Hidden(); new Near();
"""


@pytest.mark.requirement("GW-6.3-nothing-leaks")
@pytest.mark.parametrize("server", ["tsgo", "vtsls"])
async def test_a_hover_links_to_files_of_the_workspace_only(server: str, tmp_path: Path) -> None:
    private, root, cache = tmp_path / "private folder", tmp_path / "my ws", tmp_path / "cache"
    for folder in (private, root, cache):
        folder.mkdir()
    (private / "secret.ts").write_text("export class Hidden {}\n")
    (root / "tsconfig.json").write_text("{}")
    (root / "near by.ts").write_text("export class Near {}\n")
    (root / "a.ts").write_text(_ASKED)
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    async with engine(
        root,
        cache=cache,
        registry=only(server),
        environment=environment,
        settings=Settings(allow_unstable_hover=True),
    ) as running:
        place = {"line": 3, "character": 17}
        answer = await running.call("vscode.lsp.hover", uri=running.uri("a.ts"), position=place)
    (content,) = answer["contents"]
    assert "[Hidden](secret.ts#" in content["value"]
    assert f"[Near]({(root / 'near by.ts').as_uri()}#" in content["value"]
    assert "private" not in content["value"]
