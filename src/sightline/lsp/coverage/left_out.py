"""Files that the settings of a project, or its own defaults, keep from a Python server.

Many projects let their type checker look at ``src`` only. Then it knows of no use in the tests.
What it reports is what the project wants reported, so the settings stay, and it is said. Folders
with names such as ``dist`` or ``venv`` are left out by default, wherever they are: also those of
tests about such folders.

>>> is_left_out("tests/a.py", ["src"], []), is_left_out("src/gen/a.py", ["src"], ["**/gen"])
(True, True)
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from sightline.lsp.files.globs import matcher
from sightline.lsp.files.reading import read_json, read_text, read_toml, table, texts
from sightline.lsp.project.projects import Project

__all__ = ["LeftOut", "is_left_out", "left_out"]

_MAX_BYTES = 1 << 20
#: Most projects say nothing of it, and the reader of TOML takes a moment to load.
_SAYS = re.compile(r"\b(?:include|exclude)\b").search
#: The folders that servers leave out by default, besides what they are told to; pyright also those
#: that are hidden.
_TY = frozenset(
    """
    .bzr .direnv .eggs .git .git-rewrite .hg .mypy_cache .nox .pants.d .pytype .ruff_cache .svn .tox
    .venv __pypackages__ _build buck-out dist node_modules venv
    """.split()
)
_PYRIGHT = frozenset({"node_modules", "__pycache__"})


class LeftOut(NamedTuple):
    """How many sources are kept from a server: because it is told to, and by default."""

    told: int = 0
    by_default: int = 0


def left_out(project: Project, sources: Iterable[str]) -> LeftOut:
    """How many of a project's sources its server leaves out."""
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
    is_ty = project.spec.python_environment == "ty"
    back = [pattern for pattern in exclude if pattern.startswith("!")]

    @cache
    def is_usual(place: str) -> bool:
        parts = place.split("/")
        if not is_ty:
            return any(part in _PYRIGHT or part.startswith(".") for part in parts)
        # What is left out by default can be taken back.
        return not _TY.isdisjoint(parts) and is_left_out(place, (), ["**", *back])

    start = len(folder) + 1
    told = by_default = 0
    for path in sources:
        if (include or exclude) and is_left_out(path[start:], include, exclude):
            told += 1
        else:
            by_default += is_usual(path.rpartition("/")[0][start:])
    return LeftOut(told, by_default)


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
