"""Names behind imports that are not resolved: said at every such name, and at no other word."""

from pathlib import Path

import pytest

from tests.languages.samples import only
from tests.markers.archive import Archive
from tests.support.engine import engine

NOTE = (
    "The server cannot tell what this name is, perhaps for an import that it does not resolve; "
    "search the text for it."
)

#: ``u`` marks what a server knows nothing of, ``k`` what it knows or what is no name.
PYTHON = """
-- a.py --
⟨k1⟩import ⟨k2⟩sys
from ⟨u1⟩nowhere ⟨k3⟩import ⟨u2⟩fetch
from ⟨u3⟩elsewhere import (
    one,  # ⟨k4⟩fetch (again)
    ⟨u4⟩two,
)
import nowhere as ⟨u5⟩other
from b import ⟨k5⟩area


def ⟨k6⟩work(⟨k7⟩value):
    "A text with ⟨k8⟩fetch in it."
    ⟨k9⟩return ⟨u6⟩fetch(⟨k10⟩value), ⟨u7⟩two, ⟨u8⟩other, value.⟨u9⟩close(), ⟨k11⟩area(), ⟨k12⟩1


⟨k13⟩sys.⟨k14⟩exit(⟨u10⟩undefined)
-- b.py --
from nowhere import fetch


def area(): ...


fetch()
"""
TYPESCRIPT = """
-- tsconfig.json --
{}
-- a.ts --
⟨k1⟩import { one, ⟨u1⟩fetch } from "nowhere"
import ⟨u2⟩whole, * as ⟨u3⟩all from "./nothing"
import { ⟨k2⟩area } from "./b"
// import ⟨k3⟩fetch
export ⟨k4⟩function ⟨k5⟩work(⟨k6⟩value: ⟨k7⟩any) {
  const text = "⟨k8⟩fetch"
  return [⟨u4⟩fetch(1), ⟨u5⟩whole, ⟨u6⟩all, value.⟨u7⟩close(), ⟨k9⟩area(), ⟨u8⟩undefined_]
}
-- b.ts --
export function area() {}
"""
C = """
-- a.c --
#⟨k1⟩include <⟨k2⟩stddef.h>
// ⟨k3⟩fetch
⟨k4⟩int ⟨k5⟩work(int ⟨k6⟩value) { return ⟨u1⟩fetch_it(⟨u3⟩value) + ⟨k8⟩sizeof(int) + ⟨u2⟩OTHER; }
"""


@pytest.mark.parametrize(
    ("server", "text"),
    [
        ("ty", PYTHON),
        ("pyright", PYTHON),
        ("tsgo", TYPESCRIPT),
        ("vtsls", TYPESCRIPT),
        ("clangd", C),
    ],
)
async def test_it_is_said_at_each(tmp_path: Path, server: str, text: str) -> None:
    archive = Archive.read(text)
    root = tmp_path / "ws"
    root.mkdir()
    archive.write_to(root)
    said: dict[str, tuple[bool, bool]] = {}
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        for mark, (file, line, column) in archive.marks.items():
            place = {"uri": running.uri(file), "position": {"line": line, "character": column}}
            found = await running.call("vscode.lsp.references", **place)
            defined = await running.call("vscode.lsp.definition", **place)
            said[mark] = (NOTE in found["summary"], NOTE in defined["summary"])
    assert said == {mark: (mark.startswith("u"),) * 2 for mark in archive.marks}
