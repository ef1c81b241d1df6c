"""Which files of a root the index is about: tracked, not ignored, not somebody's dependencies, not
another Git worktree.

The answer comes from names and ignore files alone; no file is opened. What a file holds is judged
later, when it is read. Files that version control ignores are counted, not listed.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sightline.contract.uris import is_unicode
from sightline.workspace.exclusions import covers, reaches
from sightline.workspace.ignore import IGNORE_FILE, IgnoreFiles, Rules
from sightline.workspace.tree import HIDDEN, Stamp, Tree
from sightline.workspace.worktrees import is_nested_worktree

__all__ = ["Discovery", "Found"]

#: Folders that hold installed or cached things, never somebody's own source.
_DEPENDENCIES = frozenset(
    """
    node_modules bower_components jspm_packages site-packages dist-packages .pnpm-store .yarn Pods
    Carthage elm-stuff .eggs
    """.split()
)
_CACHES = frozenset(
    """
    __pycache__ .hg .svn .bzr .tox .nox .mypy_cache .pytest_cache .ruff_cache .hypothesis .gradle
    .terraform .dart_tool .next .nuxt .svelte-kit .parcel-cache .turbo .ipynb_checkpoints
    DerivedData
    """.split()
)
_ENVIRONMENT = "pyvenv.cfg"
#: What holds in a folder of which nothing counts but what the user lets in.
_ALL = (Rules.parse("*", ""),)


@dataclass
class Found:
    """The candidates of a root, and what was left out on the way."""

    files: dict[str, Stamp] = field(default_factory=dict)
    #: How many files and folders version control ignores.
    ignored: int = 0
    #: Folders of dependencies and caches that were not entered, relative to the root.
    vendored: list[str] = field(default_factory=list)
    #: Other Git worktrees of the same repository, which were not entered either.
    worktrees: list[str] = field(default_factory=list)
    #: Files whose name is not UTF-8, what is not as an escape.
    unnameable: list[str] = field(default_factory=list)
    #: Ignore files whose patterns do not hold, because they or all of them are too many.
    unread_rules: list[str] = field(default_factory=list)
    #: Folders that nobody may look into.
    closed: list[str] = field(default_factory=list)


class Discovery:
    """Remembers the rules of every folder, so that one changed file is judged at once."""

    def __init__(
        self, root: str, environment: Mapping[str, str], included: tuple[str, ...] = ()
    ) -> None:
        """``included``: globs of the user's, of what counts although it would be left out."""
        self.root = root
        self.included = included
        self._ignores = IgnoreFiles(root, environment)
        self._rules: dict[str, tuple[Rules, ...]] = {}
        self._refused: set[str] = set()
        self._outside = self._ignores.stamp()

    def outside_changed(self) -> bool:
        """Whether an ignore file outside the tracked tree changed since this was last asked."""
        now = self._ignores.stamp()
        changed = now != self._outside
        self._outside = now
        return changed

    def all(self, tree: Tree) -> Found:
        """Every candidate of the root."""
        found = Found()
        self._rules = {}
        self._refused = set()
        self._ignores.begin()
        skip = len(self.root) + 1
        for folder in sorted(tree):
            relative = folder[skip:]
            rules = self._enter(relative, tree[folder], found)
            if rules is None:
                continue
            prefix = f"{relative}/" if relative else ""
            for name, stamp in tree[folder].items():
                path = prefix + name
                if name == HIDDEN:
                    continue  # the file that a worktree has in place of the folder
                if self._is_ignored(rules, path):
                    found.ignored += 1
                elif not is_unicode(path):
                    found.unnameable.append(_nameable(path))
                else:
                    found.files[path] = stamp
        found.unread_rules = [_nameable(path) for path in self._ignores.unread]
        found.closed = self.closed(tree)
        return found

    def closed(self, tree: Tree) -> list[str]:
        """Folders that would be entered and cannot be looked into: they seem to be empty."""
        skip = len(self.root) + 1
        empty = (folder for folder, files in tree.items() if not files)
        shut = (path for path in empty if not os.access(path, os.R_OK | os.X_OK))
        there = sorted(path[skip:] for path in shut if os.path.isdir(path))
        return [_nameable(path) for path in there if path in self._rules]

    def admits(self, path: str) -> bool:
        """Whether a file is a candidate, by what is known of its folder."""
        folder, _, name = path.rpartition("/")
        rules = self._rules.get(folder)
        if rules is None or name == HIDDEN or not is_unicode(path):
            return False
        return not self._is_ignored(rules, path)

    def _is_ignored(self, rules: tuple[Rules, ...], path: str) -> bool:
        ignored = bool(rules) and _ignored(rules, path, folder=False)
        return ignored and not covers(self.included, path)

    def _lets_in(self, folder: str, *, bare: bool) -> bool:
        """Whether the user wants something of a folder that would not be entered."""
        return covers(self.included, folder, folder=True) or reaches(
            self.included, folder, bare=bare
        )

    def knows(self, paths: Iterable[str]) -> bool:
        """Whether changes of these files can be judged one by one: no rules, no new folders, none
        that is told by its name alone."""
        return all(
            path.rpartition("/")[2] not in (IGNORE_FILE, _ENVIRONMENT, HIDDEN)
            and is_unicode(path)
            and self._knows_folder(path.rpartition("/")[0])
            for path in paths
        )

    def _knows_folder(self, folder: str) -> bool:
        """A folder is known if it, or one above it, was entered or refused before."""
        while folder and folder not in self._rules:
            if folder in self._refused:
                return True
            parent = folder.rpartition("/")[0]
            if parent in self._rules:
                return False
            folder = parent
        return True

    def _is_copy(self, folder: str, files: Mapping[str, Stamp]) -> bool:
        """Whether a folder is another worktree of the same repository."""
        return HIDDEN in files and is_nested_worktree(f"{self.root}/{folder}")

    def _enter(
        self, folder: str, files: Mapping[str, Stamp], found: Found
    ) -> tuple[Rules, ...] | None:
        """The rules that hold in a folder, or ``None`` if it is not entered."""
        if not folder:
            rules = self._ignores.above()
        else:
            parent, _, name = folder.rpartition("/")
            inherited = self._rules.get(parent)
            if inherited is None:
                return None
            is_ignored = bool(inherited) and _ignored(inherited, folder, folder=True)
            if is_ignored and not self._lets_in(folder, bare=True):
                found.ignored += 1
                self._refused.add(folder)
                return None
            if self._is_copy(folder, files):
                found.worktrees.append(folder)
                self._refused.add(folder)
                return None
            is_foreign = name in _DEPENDENCIES or _ENVIRONMENT in files
            is_theirs = is_foreign or name in _CACHES
            if is_theirs and not self._lets_in(folder, bare=False):
                if is_foreign:
                    found.vendored.append(folder)
                self._refused.add(folder)
                return None
            rules = _ALL if is_ignored or is_theirs else inherited
        if IGNORE_FILE in files and rules is not _ALL:  # nothing in an ignored folder comes back
            own = self._ignores.inside(folder, rules)
            if own is not None:
                rules = (*rules, own)
        self._rules[folder] = rules
        return rules


def _ignored(rules: tuple[Rules, ...], path: str, *, folder: bool) -> bool:
    for own in reversed(rules):
        verdict = own.verdict(path, folder=folder)
        if verdict is not None:
            return verdict
    return False


def _nameable(path: str) -> str:
    """A path that JSON can hold."""
    return os.fsencode(path).decode(errors="backslashreplace")
