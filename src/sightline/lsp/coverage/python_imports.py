"""Imports of a project's own modules that its Python server does not resolve.

Code in ``packages/app/src`` or ``lib`` is found by its tests once it is installed, or by a path
that whoever runs them sets. A server that knows of neither says that a function has no uses there.
It cannot be mended here: another path would make it report other problems than its user sees. So it
is said. How servers look for modules was observed: in the project's folder and a few below it, in
what is installed, and upwards from the file that imports. What is installed may be a copy of the
project's own code, made by ``pip install .``: then the uses are the copy's, and that is said, too.
"""

import os
import re
import sys
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from sightline.contract.uris import above, is_under
from sightline.lsp.files.reading import read_json, read_toml, table, texts
from sightline.lsp.project.projects import Project
from sightline.lsp.python.environments import modules_in, site_packages

__all__ = [
    "FIX",
    "SOURCES",
    "Importing",
    "Sources",
    "Unresolved",
    "imported",
    "is_plain",
    "sources_of",
    "unresolved",
]

SOURCES = (".py", ".pyi")
#: What folders for code are called.
_CODE = ("lib", "python", "source", "src")
#: Longer names are nobody's, and would fill an answer.
_LONGEST = 120
#: A line that imports something.
_IMPORT = re.compile(r"[ \t]*(?:from[ \t]+(\w[\w.]*)[ \t]+import\b|import[ \t]+([\w., \t]+))")

#: What a person can do about it.
FIX = (
    "install the packages that hold them (uv sync, poetry install or pip install -e), or name "
    "their folders: extra-paths in [tool.ty.environment], extraPaths in [tool.pyright]"
)

#: The sources in every folder that has some, itself or below.
Sources = Mapping[str, frozenset[str]]
#: The files that import a module, by its first two names.
Importing = Mapping[str, set[str]]


class Unresolved(NamedTuple):
    """A module that is imported where the server does not find it."""

    name: str
    #: The folders and files that may be meant.
    places: Sequence[str]
    #: The files that import it in vain.
    files: frozenset[str]
    #: Whether they find a copy of it that is installed.
    copied: bool = False


def unresolved(project: Project, tree: Sources, importing: Importing) -> list[Unresolved]:
    """The modules that are imported in vain, by name."""
    roots = _roots(project, tree)
    if roots is None:
        return []
    packages = project.spec.python_environment == "pyright"
    spelled = {name for name, files in importing.items() if files}
    names = {name.partition(".")[0] for name in spelled} - sys.stdlib_module_names
    for root in roots:
        inside = is_under(root, project.folder)
        found = {name for name in names if _is_in(tree, root, name)}
        names -= found if inside else modules_in(root)
    environment = site_packages(project.environment) if project.environment is not None else []
    installed = _installed(
        environment, [name for name in spelled if name.partition(".")[0] in names]
    )

    @cache
    def lost(module: str) -> frozenset[str]:
        if module in installed:
            # Others are looked for upwards only if nothing is installed.
            return frozenset(importing[module])
        name, top = module.partition(".")[0], project.folder
        return frozenset(
            file
            for file in importing[module]
            if not _is_above(tree, file, top, name, packages=packages)
        )

    places: dict[tuple[str, bool], dict[str, set[str]]] = {}
    for module, place in _places(tree, spelled, names):
        copy = installed.get(module)
        if copy is not None and not _is_copy(copy, place, tree):
            continue
        if lost(module):
            key = module.partition(".")[0], copy is not None
            places.setdefault(key, {}).setdefault(module, set()).add(place)
    return [
        Unresolved(
            name,
            sorted(set().union(*modules.values())),
            frozenset().union(*map(lost, modules)),
            copied,
        )
        for (name, copied), modules in sorted(places.items())
    ]


def _installed(environment: Iterable[str], modules: Iterable[str]) -> dict[str, str]:
    """The folder or file that each of these modules is installed as, by its first name."""
    found: dict[str, str] = {}
    beside = [(folder, modules_in(folder)) for folder in environment]
    for module in modules:
        name, _, inner = module.partition(".")
        for folder in (folder for folder, names in beside if name in names):
            place = f"{folder}/{name}"
            files = [f"{place}{end}" for end in SOURCES if os.path.isfile(f"{place}{end}")]
            if os.path.isdir(place) and (
                # One without is spread over several folders, and this may not be the one.
                os.path.isfile(f"{place}/__init__.py") or not inner or inner in modules_in(place)
            ):
                files.insert(0, place)
            if files:
                found[module] = files[0]
                break
    return found


def _is_copy(installed: str, place: str, tree: Sources) -> bool:
    """Whether what is installed is made of what lies at a place, and is not that itself."""
    if os.path.realpath(installed) == os.path.realpath(place):
        return False
    if place not in tree:
        return os.path.isfile(installed)
    return not tree[place].isdisjoint(_names(installed)) or (
        not tree[place] and any(f"{place}/{name}" in tree for name in _names(installed))
    )


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def imported(text: str) -> frozenset[str]:
    """What a source imports, its first two names, but not by a relative name.

    >>> sorted(imported("import a.b.c as d, e\\nfrom f.g import h\\nfrom . import i\\n"))
    ['a.b', 'e', 'f.g']
    """
    found: set[str] = set()
    # A search for one word is ten times faster than one for the beginnings of lines.
    at = text.find("import")
    while at >= 0:
        line = _IMPORT.match(text, text.rfind("\n", 0, at) + 1)
        if line is not None:
            for part in line[2].split(",") if line[2] else [line[1]]:
                found.add(".".join(part.strip().partition(" ")[0].split(".")[:2]))
        # No other begins in this line.
        end = text.find("\n", line.end() if line is not None else at)
        at = text.find("import", end) if end >= 0 else -1
    return frozenset(
        sys.intern(name)
        for name in found
        if len(name) <= _LONGEST and all(part.isidentifier() for part in name.split("."))
    )


def is_plain(project: Project, path: str) -> bool:
    """Whether a file is part of a package that lies where every server looks.

    Such a package is imported by its name. One that is called like a folder for code is taken for
    that: its modules are imported without it.
    """
    tree, package = project.projects.tree(), ""
    for folder in above(os.path.dirname(path), project.folder):
        if "__init__.py" not in tree.get(folder, ()):
            break
        package = folder
    outer, _, name = package.rpartition("/")
    return outer in (project.folder, f"{project.folder}/src") and name not in _CODE


def sources_of(project: Project, endings: tuple[str, ...] = SOURCES) -> dict[str, frozenset[str]]:
    """The sources in every folder of a project that has some, itself or below."""
    found: dict[str, frozenset[str]] = {}
    for folder, names in project.projects.folders():
        sources = frozenset(name for name in names if name.endswith(endings))
        if sources and project.holds(folder):
            found[folder] = sources
            for outer in above(os.path.dirname(folder), project.folder):
                if outer in found:
                    break
                found[outer] = frozenset()
    return found


def _is_in(tree: Sources, folder: str, name: str) -> bool:
    names = tree.get(folder, ())
    return f"{folder}/{name}" in tree or any(f"{name}{end}" in names for end in SOURCES)


def _is_above(tree: Sources, file: str, top: str, name: str, *, packages: bool) -> bool:
    """Whether a module is found upwards from a file, in folders that are packages, too, or not."""
    return any(
        _is_in(tree, folder, name)
        for folder in above(os.path.dirname(file), top)
        if packages or _is_no_package(tree, folder)
    )


def _places(
    tree: Sources, spelled: Iterable[str], names: Container[str]
) -> Iterator[tuple[str, str]]:
    """Modules that are imported by these names, each with where it may lie.

    Inside a package it is another module, unless there is what is imported from it.
    """
    wanted: dict[str, list[str]] = {}
    for module in spelled:
        if (name := module.partition(".")[0]) in names:
            wanted.setdefault(name, []).append(module)
    for folder, files in tree.items():
        outer, _, own = folder.rpartition("/")
        for module in wanted.get(own, ()):
            _, _, inner = module.partition(".")
            if _is_no_package(tree, outer) or (inner and _is_in(tree, folder, inner)):
                yield module, folder
        if "__init__.py" not in files:
            for file in files:
                for module in wanted.get(file.rpartition(".")[0], ()):
                    yield module, f"{folder}/{file}"


def _is_no_package(tree: Sources, folder: str) -> bool:
    return "__init__.py" not in tree.get(folder, ())


def _roots(project: Project, tree: Sources) -> list[str] | None:
    """Where a server looks for modules first, or ``None`` where its settings are too rich."""
    folder = project.folder
    manifest = read_toml(f"{folder}/pyproject.toml")
    if project.spec.python_environment == "pyright":
        own = table(read_json(f"{folder}/pyrightconfig.json", comments=True))
        own = own or table(manifest, "tool", "pyright")
        if own.get("executionEnvironments"):
            return None
        source = ["src"] if _is_no_package(tree, f"{folder}/src") else []
        roots = [".", *source, *texts(own.get("extraPaths"))]
    else:
        own = read_toml(f"{folder}/ty.toml") or table(manifest, "tool", "ty")
        settings = table(own, "environment")
        roots = texts(settings.get("root")) or [".", *_usual(folder, manifest, tree)]
        roots += texts(settings.get("extra-paths"))
    return [os.path.normpath(os.path.join(folder, name)) for name in roots]


def _usual(folder: str, manifest: Mapping[str, object], tree: Sources) -> list[str]:
    """The folders of a project that ty looks for modules in, unless they are packages."""
    name = str(table(manifest, "project").get("name", ""))
    named = [name] if f"{folder}/{name}/{name}" in tree else []
    return [each for each in ("src", "python", *named) if _is_no_package(tree, f"{folder}/{each}")]
