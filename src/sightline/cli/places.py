"""An answer for people: its places as grep shows them, ``path:line: text``, lines counted from 1.

Only answers that are lists of places have such a form: definitions, references, symbols of the
workspace. The text is what the file has on disk, without characters that move a cursor.
"""

import os
from typing import Any

from sightline.cli.plain import plain, plain_source
from sightline.contract.uris import path_of
from sightline.lsp.files.reading import read_text

__all__ = ["PLACES", "lines_of"]

#: The tools whose answers are lists of places.
PLACES = frozenset(
    {"vscode.lsp.definition", "vscode.lsp.references", "vscode.lsp.workspaceSymbols"}
)
_MAX_BYTES = 64 << 20


def lines_of(payload: dict[str, Any], folder: str) -> list[str] | None:
    """A line per place, then the summary; ``None`` when the answer is of another kind."""
    items = payload.get("locations", payload.get("items"))
    if not isinstance(items, list):
        return None
    found = [item.get("location", item) for item in items]
    if not all("uri" in place and "range" in place for place in found):
        return None
    files: dict[str, list[str]] = {}
    lines = [_line(place, folder, files) for place in found]
    return [*lines, plain(payload["summary"])] if "summary" in payload else lines


def _line(place: dict[str, Any], folder: str, files: dict[str, list[str]]) -> str:
    path = path_of(place["uri"])
    line: int = place["range"]["start"]["line"]
    if path not in files:
        files[path] = _read(path)
    text = plain_source(files[path][line]).strip() if line < len(files[path]) else ""
    inside = path.startswith(folder.rstrip(os.sep) + os.sep)
    shown = os.path.relpath(path, folder) if inside else path
    return plain(f"{shown}:{line + 1}: {text}".rstrip())


def _read(path: str) -> list[str]:
    return (read_text(path, _MAX_BYTES) or "").split("\n")
