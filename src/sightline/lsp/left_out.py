"""Files that the settings of a project keep from its Python server.

Many projects let their type checker look at ``src`` only. Then it knows of no use in the tests.
What it reports is what the project wants reported, so the settings stay, and it is said.

>>> is_left_out("tests/a.py", ["src"], []), is_left_out("src/gen/a.py", ["src"], ["**/gen"])
(True, True)
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from sightline.lsp.globs import matcher
from sightline.lsp.projects import Project
from sightline.lsp.reading import read_json, read_text, read_toml, table, texts

__all__ = ["is_left_out", "left_out"]

_MAX_BYTES = 1 << 20
#: Most projects say nothing of it, and the reader of TOML takes a moment to load.
_SAYS = re.compile(r"\b(?:include|exclude)\b").search


def left_out(project: Project, sources: Iterable[str]) -> list[str]:
    """Those of a project's sources that its server leaves out because it is told to."""
    folder = project.folder
    text = read_text(f"{folder}/pyproject.toml", _MAX_BYTES) or ""
    manifest = read_toml(f"{folder}/pyproject.toml") if _SAYS(text) else {}
    if project.spec.python_environment == "pyright":
        own = table(read_json(f"{folder}/pyrightconfig.json", comments=True))
        settings = own or table(manifest, "tool", "pyright")
    else:
        own = read_toml(f"{folder}/ty.toml")
        settings = table(own, "src") if own else table(manifest, "tool", "ty", "src")
    include, exclude = texts(settings.get("include")), texts(settings.get("exclude"))
    if not include and not exclude:
        return []
    start = len(folder) + 1
    return [path for path in sources if is_left_out(path[start:], include, exclude)]


def is_left_out(path: str, include: Sequence[str], exclude: Sequence[str]) -> bool:
    """Whether a file is, by its path from the project's folder. The last pattern counts."""
    if include and not any(_fits(pattern, path) for pattern in include):
        return True
    excluded = False
    for pattern in exclude:
        if _fits(pattern.removeprefix("!"), path):
            excluded = not pattern.startswith("!")
    return excluded


def _fits(pattern: str, path: str) -> bool:
    """Whether a pattern stands for a file, or for a folder that it lies in."""
    fits = matcher(pattern.removeprefix("./").rstrip("/") or "**")
    return pattern in (".", "./") or any(map(fits, _prefixes(path)))


def _prefixes(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]
