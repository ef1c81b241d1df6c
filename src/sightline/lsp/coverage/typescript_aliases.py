"""Imports of a project's own files by names that its TypeScript server does not know.

Bundlers and test runners can be told that ``@/`` stands for a folder. A server knows that only from
``paths`` in a configuration; without, it says that a function has no uses there. What the names
stand for is written in a program, which is not run, so it is said. A name counts if nobody else can
be meant (no package, no pattern, no dependency) and a file of the project's own ends with it.
"""

import os
import re
from collections.abc import Iterator
from functools import cache

from sightline.contract.uris import above
from sightline.lsp.coverage.packages import DEPENDENCIES
from sightline.lsp.coverage.python_imports import Importing, Sources, Unresolved
from sightline.lsp.files.reading import read_json, table
from sightline.lsp.project.projects import Project
from sightline.lsp.typescript import tsconfig

__all__ = ["FIX", "SOURCES", "named", "unresolved"]

SOURCES = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
#: What a person can do about it.
FIX = "name the same paths in tsconfig.json or jsconfig.json: compilerOptions.paths"
_NAME = r"""["']([^"'\n]{1,300})["']"""
#: Each begins with a plain word, which makes looking for it several times faster.
_IMPORTS = [
    re.compile(rf"from\s*{_NAME}"),
    re.compile(rf"import\s*(?:\(\s*)?{_NAME}"),
    re.compile(rf"require\s*\(\s*{_NAME}"),
]
#: What is repeated in an answer. Whoever writes a file must not write sentences there.
_PLAIN = re.compile(r"[\w@~$#.-]{1,60}")
#: What names of folders begin with, by custom.
_MARKS = ("@", "~", "$", "#")
_ENDING = re.compile(r"(?:\.d)?\.[cm]?[jt]sx?$")


def named(text: str) -> frozenset[str]:
    """The names of what a source imports, other than by its place or from elsewhere.

    >>> sorted(named('import a from "@/lib/a"\\nimport "./b"\\nconst c = require("c/d?raw")\\n'))
    ['@/lib/a', 'c/d']
    """
    found = (name.partition("?")[0] for each in _IMPORTS for name in each.findall(text))
    return frozenset(
        name for name in found if "/" in name and name[0] not in "./" and _is_here(name)
    )


def _is_here(name: str) -> bool:
    return ":" not in name and "!" not in name and bool(_PLAIN.fullmatch(name.partition("/")[0]))


def unresolved(project: Project, tree: Sources, importing: Importing) -> list[Unresolved]:
    """The folders that are named in vain, each with the files that do."""
    names = {name: files for name, files in importing.items() if files}
    if not names:
        return []
    own = _stems(tree)
    packages = _packages(project)

    @cache
    def patterns(place: str) -> tuple[str, ...]:
        return tuple(_patterns(place))

    @cache
    def declared(place: str) -> frozenset[str]:
        manifest = read_json(f"{place}/package.json")
        return frozenset(name for kind in DEPENDENCIES for name in table(manifest, kind))

    def is_known(name: str, folder: str) -> bool:
        package, places = _package(name), above(folder, project.top)
        return any(
            package in declared(place) or any(tsconfig.covers(p, name) for p in patterns(place))
            for place in places
        ) or any(os.path.lexists(f"{place}/node_modules/{package}") for place in above(folder))

    lost: dict[str, set[str]] = {}
    for name, files in names.items():
        if _package(name) in packages or not _ends(own, name):
            continue
        vain = {file for file in files if not is_known(name, os.path.dirname(file))}
        if vain:
            lost.setdefault(f"{name.partition('/')[0]}/*", set()).update(vain)
    return [Unresolved(name, [project.folder], frozenset(lost[name])) for name in sorted(lost)]


def _package(name: str) -> str:
    """The package that a name would be of."""
    return "/".join(name.split("/")[: 2 if name.startswith("@") else 1])


def _stems(tree: Sources) -> dict[str, list[str]]:
    """The paths of all modules without their endings, by their last part."""
    found: dict[str, list[str]] = {}
    for folder, files in tree.items():
        for file in files:
            stem = _ENDING.sub("", file)
            path = folder if stem == "index" else f"{folder}/{stem}"
            found.setdefault(os.path.basename(path), []).append(path)
    return found


def _ends(stems: dict[str, list[str]], name: str) -> bool:
    """Whether a module of the project's own has a path that ends with what a name says."""
    first, _, rest = name.partition("/")
    tail = rest if first in _MARKS else name.removeprefix(name[0]) if name[0] in _MARKS else name
    tail = _ENDING.sub("", tail).removesuffix("/index")
    return any(path.endswith(f"/{tail}") for path in stems.get(os.path.basename(tail), ()))


def _packages(project: Project) -> set[str]:
    """The names of the project's own packages, which others may not find; see packages.py."""
    manifests = (table(read_json(file)) for file in project.named("package.json"))
    return {str(manifest.get("name")) for manifest in manifests}


def _patterns(place: str) -> Iterator[str]:
    """The names that configurations in a folder lead somewhere."""
    for name in tsconfig.CONFIGURATIONS:
        if os.path.isfile(f"{place}/{name}"):
            yield from tsconfig.known_names(f"{place}/{name}")
    if table(read_json(f"{place}/package.json"), "imports"):
        yield "#*"
