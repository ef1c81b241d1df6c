"""Imports of a Node package by its own name that do not lead to its source.

Tests like to import what they test as others do: ``from "paykit"`` in a package of that name. What
its manifest names may be the build, which is not there in a fresh clone, and nobody's source after
it. Then a server knows of no use there. Names of other packages are no matter of this: see
``packages.py``.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from sightline.contract.uris import above, is_under
from sightline.lsp.coverage.python_imports import Importing, Unresolved
from sightline.lsp.files.reading import read_bytes
from sightline.lsp.project.projects import Project
from sightline.lsp.typescript import own_name
from sightline.lsp.typescript.own_name import Leads, Package
from sightline.lsp.typescript.tsconfig import Configuration
from sightline.text.code import JAVASCRIPT, has_code

__all__ = ["lost_to_itself"]

_MAX_BYTES = 1 << 20
#: What stands between a word that imports something and the name of that.
_BETWEEN = rb"(?:from|import|require)\s*(?:\(\s*)?[\"']%b[?\"']"

#: What manifest is in a folder.
Manifests = Callable[[str], Mapping[str, Any] | None]
#: The project that includes a file.
Owner = Callable[[str], Configuration | None]


class _Import(NamedTuple):
    name: str
    file: str
    package: Package
    scope: Package


def lost_to_itself(
    project: Project, importing: Importing, manifest: Manifests, owner: Owner
) -> list[Unresolved]:
    """The packages that import themselves in vain, by name, each with the files that do."""
    lost: dict[tuple[str, str, bool], set[str]] = {}
    for name, file, package, scope in _imports(project, importing, manifest):
        own, modern = owner(file), project.spec.dialect != "tsserver"
        who = own_name.Importing(file, None if own is None else own.path, scope, modern)
        where = own_name.leads(name, package, who)
        if where is not Leads.TO_SOURCE and _is_said(file, name):
            key = package.name, package.folder, where is Leads.ELSEWHERE
            lost.setdefault(key, set()).add(file)
    homes = {os.path.dirname(path) for path in project.named("package.json")} if lost else set()
    named = sorted(home for home in homes if Package(home, manifest(home) or {}).name)
    return [
        Unresolved(
            name,
            [home],
            frozenset(files),
            astray=astray,
            apart=[each for each in named if each != home and is_under(each, home)],
        )
        for (name, home, astray), files in sorted(lost.items())
    ]


def _imports(project: Project, importing: Importing, manifest: Manifests) -> Iterator[_Import]:
    """The imports that begin with the name of the package that they stand in."""

    @cache
    def packages(folder: str) -> tuple[Package, Package] | None:
        """The nearest that has a name, and the nearest of all."""
        found = ((place, manifest(place)) for place in above(folder, project.top))
        there = [Package(place, value) for place, value in found if value is not None]
        own = next((each for each in there if each.name), None)
        return None if own is None else (own, there[0])

    own_names = {
        each.name
        for folder in {os.path.dirname(file) for files in importing.values() for file in files}
        if (found := packages(folder)) is not None
        for each in found
    }
    for name, files in sorted(importing.items()):
        parts = name.split("/")
        first = "/".join(parts[: 2 if name.startswith("@") else 1])
        if first not in own_names:
            continue
        for file in sorted(files):
            found = packages(os.path.dirname(file))
            if found is not None and found[0].name == first:
                yield _Import(name, file, *found)


def _is_said(file: str, name: str) -> bool:
    """Whether a file imports something, and does not only say so in a comment."""
    text = read_bytes(file, _MAX_BYTES) or b""
    found = re.finditer(_BETWEEN % re.escape(name.encode()), text)
    return has_code(JAVASCRIPT, text, (match.start() for match in found))
