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
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from sightline.contract.possessive import possessive
from sightline.contract.uris import above, is_under
from sightline.lsp.files.reading import names_in, read_toml, table, texts
from sightline.lsp.project.projects import Project
from sightline.lsp.python import pyright_settings
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
#: Blanks, also over the ends of a few lines. Were it any number, each line would be read again for
#: every one before it.
_SPACE = r"[ \t]*+(?:\\\n[ \t]*+){0,3}+"
#: A statement that imports something: where it stands in its line, the module and what is taken
#: from it, or the modules.
_IMPORT = re.compile(
    possessive(
        rf"(^|[;:]){_SPACE}(?:from\b{_SPACE}(\w[\w.]*+){_SPACE}\bimport\b((?:[\w, \t]|\\\n)*+)"
        r"|import(?=[ \t\\])((?:[\w., \t]|\\\n)++))"
    ),
    re.MULTILINE,
)
#: What is taken from a module, after a parenthesis.
_NAMES = re.compile(possessive(r"\((?:[\w, \t\n\\]++|#[^\n]*+)*+"))
#: A text or a comment. One that never ends reaches to the end of its line, or of the file.
_NO_CODE = re.compile(
    possessive(
        r""""{3}(?:[^"\\]++|\\.|"(?!""))*+(?:"{3})?+|'{3}(?:[^'\\]++|\\.|'(?!''))*+(?:'{3})?+"""
        r"""|"(?:[^"\\\n]++|\\.)*+"?+|'(?:[^'\\\n]++|\\.)*+'?+|#[^\n]*+"""
    ),
    re.DOTALL,
)

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
    #: Whether they find something else that is made from it.
    astray: bool = False
    #: Folders within those places that are not meant.
    apart: Sequence[str] = ()

    def may_be(self, path: str) -> bool:
        """Whether the code of a file may be meant."""
        return any(is_under(path, each) for each in self.places) and not any(
            is_under(path, each) for each in self.apart
        )


def unresolved(project: Project, tree: Sources, importing: Importing) -> list[Unresolved]:
    """The modules that are imported in vain, by name."""
    roots = _roots(project, tree)
    if roots is None:
        return []
    packages = project.spec.python_environment == "pyright"
    wanted = {module for module, files in importing.items() if files and not _is_standard(module)}
    for root in roots:
        if is_under(root, project.folder):
            wanted = {module for module in wanted if not _is_in(tree, root, module)}
        else:
            others = modules_in(root)
            wanted = {module for module in wanted if _first(module) not in others}
    meant = list(_places(tree, wanted))
    environment = site_packages(project.environment) if project.environment is not None else []
    installed = _installed(environment, {module for module, _ in meant})

    @cache
    def lost(module: str) -> frozenset[str]:
        if module in installed:
            # Others are looked for upwards only if nothing is installed.
            return frozenset(importing[module])
        return frozenset(
            file
            for file in importing[module]
            if not _is_above(tree, file, project.folder, module, packages=packages)
        )

    places: dict[tuple[str, bool], dict[str, set[str]]] = {}
    for module, place in meant:
        copy = installed.get(module)
        if copy is not None and not _is_copy(copy, place, tree):
            continue
        if lost(module):
            key = _first(module), copy is not None
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
    return not tree[place].isdisjoint(names_in(installed)) or (
        not tree[place] and any(f"{place}/{name}" in tree for name in names_in(installed))
    )


def imported(text: str) -> frozenset[str]:
    """What a source imports, its first two names, but not by a relative name.

    >>> sorted(imported("import a.b.c as d, e\\nfrom f.g import h\\nfrom . import i\\n"))
    ['a.b', 'e', 'f.g']
    >>> sorted(imported("try: from a import b as c, d\\nexcept ImportError: import e; import f\\n"))
    ['a.b', 'a.d', 'e', 'f']
    """
    found: set[str] = set()
    for statement in _imports(text):
        _, module, names, modules = statement.groups()
        if modules is not None:
            found.update(_names(modules))
        elif "." in module or _is_standard(module):
            found.add(module)
        else:
            # What is taken may be a module, and tells which folder of that name is meant.
            more = _NAMES.match(text, statement.end())
            taken = _names(more[0][1:] if more is not None else names)
            found.update([f"{module}.{name}" for name in taken] or [module])
    return frozenset(
        sys.intern(name)
        for name in (".".join(each.split(".")[:2]) for each in found)
        if len(name) <= _LONGEST and all(part.isidentifier() for part in name.split("."))
    )


def _names(listed: str) -> list[str]:
    """The names in a list, without the others that they are given."""
    if "#" in listed:
        listed = re.sub(r"#[^\n]*+", "", listed)
    parts = (part.replace("\\", " ").split() for part in listed.split(","))
    return [part[0] for part in parts if part]


def _imports(text: str) -> Iterator[re.Match[str]]:
    """The statements of a source that import something.

    One that begins a line is believed, also in a text. Any other has to be code.
    """
    is_code = _code_of(text)
    # A search for one word is ten times faster than one for the beginnings of lines.
    at, end = text.find("import"), 0
    while at >= 0:
        start = _beginning(text, at, end)
        end = _ending(text, at)
        while statement := _IMPORT.search(text, start, end):
            believed = not statement[1] or is_code(statement.start())
            if believed:
                yield statement
            start = statement.end() if believed else statement.start() + 1
        at = text.find("import", end)


def _beginning(text: str, at: int, after: int) -> int:
    """Where the line begins that something stands in, with those that a backslash joins to it."""
    start = text.rfind("\n", after, at) + 1 or after
    while start - 2 >= after and text.startswith("\\\n", start - 2):
        start = text.rfind("\n", after, start - 1) + 1 or after
    return start


def _ending(text: str, at: int) -> int:
    """Where it ends."""
    end = text.find("\n", at)
    while end > 0 and text[end - 1] == "\\":
        end = text.find("\n", end + 1)
    return end if end >= 0 else len(text)


def _code_of(text: str) -> Callable[[int], bool]:
    """Which places of a source are code, and not in a text or a comment."""

    @cache
    def others() -> tuple[list[int], list[int]]:
        spans = [match.span() for match in _NO_CODE.finditer(text)]
        return [start for start, _ in spans], [end for _, end in spans]

    def is_code(place: int) -> bool:
        starts, ends = others()
        number = bisect_right(starts, place) - 1
        return number < 0 or place >= ends[number]

    return is_code


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


def _first(module: str) -> str:
    return module.partition(".")[0]


def _is_standard(module: str) -> bool:
    return _first(module) in sys.stdlib_module_names


def _is_in(tree: Sources, folder: str, module: str) -> bool:
    """Whether a folder has a module. A folder in it is one only for what lies in there, unless it
    is a package.
    """
    name, _, inner = module.partition(".")
    place = f"{folder}/{name}"
    if _is_file_in(tree, folder, name) or _is_package(tree, place):
        return True
    return bool(inner) and (f"{place}/{inner}" in tree or _is_file_in(tree, place, inner))


def _is_file_in(tree: Sources, folder: str, name: str) -> bool:
    files = tree.get(folder, ())
    return any(f"{name}{end}" in files for end in SOURCES)


def _is_package(tree: Sources, folder: str) -> bool:
    return _is_file_in(tree, folder, "__init__")


def _is_above(tree: Sources, file: str, top: str, module: str, *, packages: bool) -> bool:
    """Whether a module is found upwards from a file, in folders that are packages, too, or not."""
    return any(
        _is_in(tree, folder, module)
        for folder in above(os.path.dirname(file), top)
        if packages or _is_no_package(tree, folder)
    )


def _places(tree: Sources, modules: Iterable[str]) -> Iterator[tuple[str, str]]:
    """These modules, each with where it may lie.

    Inside a package it is another module, unless there is what is imported from it. So it is in a
    folder that is no package.
    """
    wanted: dict[str, list[str]] = {}
    for module in modules:
        wanted.setdefault(_first(module), []).append(module)
    for folder, files in tree.items():
        outer, _, own = folder.rpartition("/")
        for module in wanted.get(own, ()):
            _, _, inner = module.partition(".")
            if (inner and (f"{folder}/{inner}" in tree or _is_file_in(tree, folder, inner))) or (
                _is_package(tree, folder) and _is_no_package(tree, outer)
            ):
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
    if project.spec.python_environment == "pyright":
        chain = pyright_settings.chain_of(folder)
        if any(said.get("executionEnvironments") for _, said in chain):
            return None
        source = ["src"] if _is_no_package(tree, f"{folder}/src") else []
        roots = [".", *source, *pyright_settings.paths(chain, "extraPaths")]
    else:
        manifest = read_toml(f"{folder}/pyproject.toml")
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
