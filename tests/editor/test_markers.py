"""Every marker file against the editor source: what is written there is what both answer."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.tools.catalogue import CATALOGUE
from tests.markers.archive import Archive, masked
from tests.markers.test_markers import FILES, play
from tests.support.http import HttpServer

#: What only the editor adds to a summary: a window knows the documents it shows.
_NOTE = " The editor reports on the"
_NO_DECLARATIONS = (
    "an editor cannot ask for references without declarations; ours leaves out what its "
    "definitions name, while language servers leave out imports too"
)
_THE_EDITORS = (
    "which files its extensions read, and what they find installed, only the editor knows"
)
#: Calls whose answer is another one here, and why.
_DIFFERENT = {
    ("references/across_files", 0): _NO_DECLARATIONS,
    ("references/ts_projects", 0): _NO_DECLARATIONS,
    ("references/left_out", 0): _THE_EDITORS,
    ("references/left_out", 1): _THE_EDITORS,
    ("references/not_installed", 0): _THE_EDITORS,
    ("references/not_installed", 1): _THE_EDITORS,
}


#: The files about the seven tools; the other families do not ask a source.
_TOOLS = {tool.info.name for tool in CATALOGUE}
_SEVEN = [file for file in FILES if f"vscode.lsp.{file.parent.name}" in _TOOLS]


@pytest.mark.parametrize("file", _SEVEN, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_marker(file: Path, tmp_path: Path, serve: Callable[..., HttpServer]) -> None:
    archive = Archive.read(file.read_text(encoding="utf-8"))
    root = tmp_path / "root"
    root.mkdir()
    archive.write_to(root)
    answers = [masked(answer, root) for answer in play(archive, root, serve(root).call)]
    name = f"{file.parent.name}/{file.stem}"
    for number, (call, answer) in enumerate(zip(archive.calls, answers, strict=True)):
        if (name, number) not in _DIFFERENT:
            assert without_note(answer) == json.loads(call.expected), number


def without_note(answer: dict[str, Any]) -> dict[str, Any]:
    if "summary" in answer:
        answer["summary"] = answer["summary"].partition(_NOTE)[0]
    return answer
