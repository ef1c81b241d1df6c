"""A running server for judges that are programs of their own, outside pytest."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.support.http import HttpServer

__all__ = ["home_and_workspace", "serving"]

#: Five uses of ``area``, so that references have pages.
FILES = {
    "shapes.py": 'def area(width: int, height: int) -> int:\n    """The area."""\n'
    "    return width * height\n",
    "main.py": "from shapes import area\n\nprint(area(2, 3), area(4, 5))\n",
    "other.py": "from shapes import area\n\nprint(area(6, 7))\n",
}


def write_files(root: Path, files: dict[str, str] = FILES) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (root / name).write_text(text, encoding="utf-8")
    return root


@contextlib.contextmanager
def home_and_workspace() -> Iterator[tuple[Path, Path]]:
    """An empty home and, beside it, a small Python workspace. Both are removed at the end."""
    with tempfile.TemporaryDirectory(prefix="sightline-oracle-") as folder:
        home = Path(folder) / "home"
        home.mkdir()
        yield home, write_files(Path(folder) / "ws")


@contextlib.contextmanager
def serving(*options: str) -> Iterator[HttpServer]:
    """``sightline serve`` on a small workspace, stopped at the end."""
    with (
        home_and_workspace() as (home, root),
        HttpServer.start([str(root), *options], home) as server,
    ):
        yield server
