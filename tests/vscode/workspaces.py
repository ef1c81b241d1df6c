"""The workspaces that the windows show: small, made here, the same in both languages."""

import json
from pathlib import Path
from typing import Any

__all__ = ["Place", "python", "typescript", "workspace_file"]

_TYPESCRIPT = {
    "tsconfig.json": '{"compilerOptions": {"strict": true, "module": "preserve"}}\n',
    "shapes.ts": "/** The area of a rectangle. */\n"
    "export function area(width: number, height: number): number {\n  return width * height;\n}\n",
    "main.ts": "import { area } from './shapes';\n\nexport const small = area(2, 3);\n"
    "export const large = area(small, 30);\n",
    "other.ts": "import { area } from './shapes';\n\nexport const third = area(1, 1);\n",
}
_PYTHON = {
    "shapes.py": "def area(width: int, height: int) -> int:\n"
    '    """The area of a rectangle."""\n    return width * height\n',
    "main.py": "from shapes import area\n\nsmall = area(2, 3)\nlarge = area(small, 30)\n",
    "other.py": "from shapes import area\n\n\ndef third() -> int:\n    return area(1, 1)\n",
}


def typescript(root: Path) -> Path:
    return _write(root, _TYPESCRIPT)


def python(root: Path) -> Path:
    return _write(root, _PYTHON)


def workspace_file(file: Path, *folders: Path) -> Path:
    """A workspace of several folders: folders can come and go without a new extension host."""
    file.write_text(json.dumps({"folders": [{"path": str(folder)} for folder in folders]}))
    return file


def _write(root: Path, files: dict[str, str]) -> Path:
    root.mkdir(parents=True)
    for name, text in files.items():
        (root / name).write_text(text, encoding="utf-8")
    return root


class Place:
    """A place in a file, found by the text that stands there."""

    def __init__(self, file: Path, before: str, *, text: str | None = None) -> None:
        found = (text if text is not None else file.read_text(encoding="utf-8")).index(before)
        lines = (text or file.read_text(encoding="utf-8"))[: found + len(before)].split("\n")
        self.uri = file.as_uri()
        self.line, self.character = len(lines) - 1, len(lines[-1])

    def arguments(self) -> dict[str, Any]:
        return {"uri": self.uri, "position": {"line": self.line, "character": self.character}}

    def location(self, length: int) -> dict[str, Any]:
        start = {"line": self.line, "character": self.character}
        end = {"line": self.line, "character": self.character + length}
        return {"uri": self.uri, "range": {"start": start, "end": end}}
