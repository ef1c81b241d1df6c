"""Files that the settings of a project, or its own defaults, keep from a Python server.

Many projects let their type checker look at ``src`` only. Then it knows of no use in the tests.
What it reports is what the project wants reported, so the settings stay, and it is said. Folders
with names such as ``dist`` or ``venv`` are left out by default, wherever they are: also those of
tests about such folders. ty also leaves out what Git ignores, or a file ``.ignore`` names; there
it takes ``{a,b}`` for a choice, which Git does not.

>>> is_left_out("tests/a.py", ["src"], []), is_left_out("src/gen/a.py", ["src"], ["**/gen"])
(True, True)
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from sightline.contract.uris import above
from sightline.lsp.files.globs import matcher
from sightline.lsp.files.reading import read_text, read_toml, table, texts
from sightline.lsp.project.projects import Project
from sightline.lsp.python import pyright_settings
from sightline.workspace.ignore import IGNORE_FILE, IgnoreFiles, Rules, read_small
from sightline.workspace.tree import HIDDEN

__all__ = ["LeftOut", "is_left_out", "left_out"]

_MAX_BYTES = 1 << 20
#: Most projects say nothing of it, and the reader of TOML takes a moment to load.
_SAYS = re.compile(r"\b(?:include|exclude|respect-ignore-files)\b").search
#: The folders that servers leave out by default, besides what they are told to; pyright also those
#: that are hidden.
_TY = frozenset(
    """
    .bzr .direnv .eggs .git .git-rewrite .hg .mypy_cache .nox .pants.d .pytype .ruff_cache .svn .tox
    .venv __pypackages__ _build buck-out dist node_modules venv
    """.split()
)
_PYRIGHT = frozenset({"node_modules", "__pycache__"})
#: What is ignored without Git, and above what Git says.
_IGNORE = ".ignore"
#: So many lines of such files are read in a project.
_MAX_LINES = 5_000


class LeftOut(NamedTuple):
    """How many sources are kept from a server: because it is told to, and by default."""

    told: int = 0
    by_default: int = 0


def left_out(project: Project, sources: Iterable[str]) -> LeftOut:
    """How many of a project's sources its server leaves out."""
    folder = project.folder
    is_ty = project.spec.python_environment == "ty"
    settings = _settings_of_ty(folder) if is_ty else {}
    include, exclude = texts(settings.get("include")), texts(settings.get("exclude"))
    start = shown = len(folder) + 1
    if not is_ty:  # patterns are spelled from other folders, too, which may lie elsewhere
        chain, shown = pyright_settings.chain_of(folder), 0
        include, exclude = (pyright_settings.patterns(chain, n) for n in ("include", "exclude"))
    back = [pattern for pattern in exclude if pattern.startswith("!")]

    @cache
    def is_usual(place: str) -> bool:
        parts = place.split("/")
        if not is_ty:
            return any(part in _PYRIGHT or part.startswith(".") for part in parts)
        # What is left out by default can be taken back.
        return not _TY.isdisjoint(parts) and is_left_out(place, (), ["**", *back])

    ignores = is_ty and settings.get("respect-ignore-files") is not False
    is_ignored = _ignored(project) if ignores else None
    told = by_default = 0
    for path in sources:
        if (include or exclude) and is_left_out(path[shown:], include, exclude):
            told += 1
        elif is_usual(path.rpartition("/")[0][start:]):
            by_default += 1
        elif is_ignored is not None:
            told += is_ignored(path)
    return LeftOut(told, by_default)


def _settings_of_ty(folder: str) -> Mapping[str, Any]:
    own = read_toml(f"{folder}/ty.toml")
    if own:
        return table(own, "src")
    text = read_text(f"{folder}/pyproject.toml", _MAX_BYTES) or ""
    manifest = read_toml(f"{folder}/pyproject.toml") if _SAYS(text) else {}
    return table(manifest, "tool", "ty", "src")


def _ignored(project: Project) -> Callable[[str], bool] | None:
    """Which sources of a project are ignored, if there is anything that ignores some."""
    top, ignores = project.folder, _Ignores(project.folder)
    outside = ignores.outside()
    folders = [each for each in project.projects.folders() if project.holds(each[0])]
    if not outside and not any(_IGNORE in names or IGNORE_FILE in names for _, names in folders):
        return None
    #: What holds in a folder, or nothing where all of it is ignored.
    rules: dict[str, _InFolder | None] = {}
    for folder, names in sorted(folders):  # what lies inside another comes after it
        outer = outside if folder == top else rules.get(os.path.dirname(folder), outside)
        if outer is None or (folder != top and outer.ignores(folder, folder=True)):
            rules[folder] = None
        else:
            rules[folder] = ignores.inside(folder, names, outer)

    def is_ignored(path: str) -> bool:
        own = rules.get(os.path.dirname(path), outside)
        return own is None or own.ignores(path, folder=False)

    return is_ignored


class _InFolder(NamedTuple):
    """The rules that hold in a folder, of each kind the weakest first."""

    #: How long the project's folder is, below which Git's rules have their paths.
    start: int
    by_git: tuple[Rules, ...] = ()
    own: tuple[Rules, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.by_git or self.own)

    def ignores(self, path: str, *, folder: bool) -> bool:
        for rules in reversed(self.own):
            if (said := rules.verdict(path, folder=folder)) is not None:
                return said
        for rules in reversed(self.by_git):
            if (said := rules.verdict(path[self.start :], folder=folder)) is not None:
                return said
        return False


class _Ignores:
    """The ignore files of a project. Those of Git hold in a repository only."""

    def __init__(self, top: str) -> None:
        self._start = len(top) + 1
        self._outer = [*above(top)]
        in_git = any(os.path.lexists(f"{folder}/{HIDDEN}") for folder in self._outer)
        self._git = IgnoreFiles(top, {}, choices=True) if in_git else None
        self._lines = _MAX_LINES

    def outside(self) -> _InFolder:
        """What holds before the project's own files are read."""
        by_git = self._git.above() if self._git is not None else ()
        own = [self._read(folder) for folder in reversed(self._outer[1:])]
        return _InFolder(self._start, by_git, tuple(rules for rules in own if rules is not None))

    def inside(self, folder: str, names: Iterable[str], outer: _InFolder) -> _InFolder:
        """What holds in a folder with files of these names."""
        own = self._read(folder) if _IGNORE in names else None
        by_git = None
        if self._git is not None and IGNORE_FILE in names:
            by_git = self._git.inside(folder[self._start :], outer.by_git)
        if own is None and by_git is None:
            return outer
        return _InFolder(
            self._start,
            (*outer.by_git, by_git) if by_git is not None else outer.by_git,
            (*outer.own, own) if own is not None else outer.own,
        )

    def _read(self, folder: str) -> Rules | None:
        text = read_small(f"{folder}/{_IGNORE}")
        lines = text.count("\n") + 1
        if not text or lines > self._lines:
            return None
        self._lines -= lines
        return Rules.parse(text, f"{folder}/", choices=True)


def is_left_out(path: str, include: Sequence[str], exclude: Sequence[str]) -> bool:
    """Whether a file is, by its path from where patterns are spelled. The last one counts."""
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
