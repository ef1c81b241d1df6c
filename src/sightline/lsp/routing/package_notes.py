"""What the packages of a root lack, as far as that makes answers incomplete.

Manifests and environments are read for it, of every package, so it is remembered until a file comes
or goes, or a manifest changes. What is lacking is found by ``coverage/packages.py``.
"""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from sightline.contract.texts import listed
from sightline.lsp.coverage.packages import (
    ASTRAY,
    KINDS,
    LACKING,
    MANIFESTS,
    astray,
    not_installed,
    unlinked,
)
from sightline.lsp.project.projects import Projects
from sightline.lsp.python.discovery import Environments
from sightline.lsp.routing.routes import Routes
from sightline.lsp.typescript.package_sources import DECLARATIONS
from sightline.workspace.changes import Change
from sightline.workspace.roots import Root
from sightline.workspace.tree import Tree

__all__ = ["PackageNotes"]

#: So many packages are named in a sentence.
_NAMED = 4

#: The folders of packages, and their names.
_Packages = dict[str, str]


class PackageNotes:
    def __init__(self, routes: Routes) -> None:
        self._routes = routes
        #: The generation of the trees that all this holds for.
        self._generation = 0
        #: By root and language.
        self._unlinked: dict[tuple[str, str], _Packages] = {}
        self._astray: dict[tuple[str, str], _Packages] = {}
        #: By the folder of a package, language, and whether a declaration is asked about.
        self._notes: dict[tuple[str, str, bool], tuple[str, str]] = {}

    def changed(self, changes: Sequence[Change]) -> None:
        """Files changed; those that came or went are seen by the state of the trees."""
        if any(change.path.endswith(MANIFESTS) for change in changes):
            self._forget()

    def unlinked(self, root: Root, language: str) -> _Packages:
        """The packages of a root that others in it need and do not find."""
        self._refresh()
        key = (root.real, language)
        if key not in self._unlinked:
            projects, environments = self._routes.projects_in(root), self._routes.environments
            found = unlinked(language, root.outermost, projects.holding, environments)
            self._unlinked[key] = found
        return self._unlinked[key]

    def astray(self, root: Root, language: str) -> _Packages:
        """The packages of a root that others in it find, but not their sources."""
        self._refresh()
        key = (root.real, language)
        if key not in self._astray:
            projects = self._routes.projects_in(root)
            self._astray[key] = astray(language, root.outermost, projects.holding)
        return self._astray[key]

    def not_installed(self, root: Root, language: str) -> list[str]:
        """What the packages of a root surely need and do not find."""
        kind = KINDS.get(language)
        names = kind.manifests if kind is not None else ()
        projects = self._routes.projects_in(root)
        folders = {folder for name in names for folder in projects.holding(name)}
        top, environments = root.outermost, self._routes.environments
        found = (not_installed(language, folder, top, environments) for folder in folders)
        return sorted({name for missing in found for name in missing})

    async def of(self, root: Root, path: str) -> tuple[str, str]:
        """What the package of a file lacks, and whether others need it and do not find it; and
        whether they find something else in its place.
        """
        known = self.known(root, path)
        if known is not None:
            return known
        key, projects = self._key(root, path), self._routes.projects_in(root)
        assert key is not None
        notes, of_root = self._notes, (root.real, key[1])
        unlinked, astray = self._unlinked, self._astray
        # In a thread, from one state; what is found counts for that state only.
        state = _State(root, projects, self._routes.environments)
        found_before = unlinked.get(of_root), astray.get(of_root)
        note, *found = await asyncio.to_thread(_note, state, *key, *found_before)
        notes[key], (unlinked[of_root], astray[of_root]) = note, found
        return note

    def known(self, root: Root, path: str) -> tuple[str, str] | None:
        """The same, if nobody has to look for it."""
        self._refresh()
        key = self._key(root, path)
        return ("", "") if key is None else self._notes.get(key)

    def _key(self, root: Root, path: str) -> tuple[str, str, bool] | None:
        """What the notes of a file are known by, if it belongs to a package."""
        language = self._routes.language(path) or ""
        if language not in KINDS:
            return None
        package = _package_of(path, language, root, self._routes.projects_in(root).tree())
        return None if package is None else (package, language, path.endswith(DECLARATIONS))

    def _refresh(self) -> None:
        generation = self._routes.generation()
        if generation != self._generation:
            self._generation = generation
            self._forget()

    def _forget(self) -> None:
        self._unlinked, self._astray, self._notes = {}, {}, {}


class _State(NamedTuple):
    """What was last seen of a root."""

    root: Root
    projects: Projects
    environments: Environments


def _package_of(path: str, language: str, root: Root, tree: Tree) -> str | None:
    """The folder of the package that a file belongs to: the nearest one with a manifest."""
    manifests, folder = KINDS[language].manifests, path.rpartition("/")[0]
    while not any(name in tree.get(folder, ()) for name in manifests):
        if len(folder) <= len(root.real):
            return None
        folder = folder.rpartition("/")[0]
    return folder


def _note(
    state: _State,
    package: str,
    language: str,
    declared: bool,
    missed: _Packages | None,
    misled: _Packages | None,
) -> tuple[tuple[str, str], _Packages, _Packages]:
    """The notes of a package; and those of the root that others do not find, or find as something
    else.

    Looks at the disk for what is not known yet.
    """
    root, projects, environments = state
    kind = KINDS[language]
    if missed is None:
        missed = unlinked(language, root.outermost, projects.holding, environments)
    if misled is None:
        misled = astray(language, root.outermost, projects.holding)
    missing = not_installed(language, package, root.outermost, environments)
    sentences = [LACKING.format(listed(missing, _NAMED))] if missing else []
    if name := missed.get(package):
        sentences.append(kind.sentence.format(name))
    # What others reach instead of the source may be a declaration, so its uses are known.
    instead = "" if declared else misled.get(package, "")
    return (" ".join(sentences), ASTRAY.format(instead) if instead else ""), missed, misled
