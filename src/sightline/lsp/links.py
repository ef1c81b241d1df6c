"""Packages of a workspace that depend on each other and cannot find each other: nothing installed.

In a monorepo one package imports another through ``node_modules`` or an environment, which an
install makes. In a fresh clone there is neither: a server resolves no such import, and would say
that a function has no uses in the other packages. It cannot be mended here, where nothing is
written and nothing fetched, so it is said. Only dependencies that the packages declare count.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from sightline.lsp import tsconfig
from sightline.lsp.python import find_environment, installed
from sightline.lsp.reading import read_json, read_text

__all__ = ["MANIFESTS", "unlinked"]

#: How the files are called that decide it, besides what an install makes: manifests, and
#: configurations of TypeScript, which may extend files of any name.
MANIFESTS = (".json", ".toml")

_NAME = re.compile(r"(?:@[\w.-]{1,80}/)?[\w.-]{1,120}")
_REQUIREMENT = re.compile(r"\s*([\w.-]{1,120})")
_DEPENDENCIES = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_MAX_CLIMB = 64
_MAX_BYTES = 1 << 20

Holding = Callable[[str], list[str]]


class _Package(NamedTuple):
    folder: str
    name: str
    needs: frozenset[str]
    #: Whether something below ``top`` makes it find another by name.
    link: Callable[[str, str, str], bool]

    def finds(self, name: str, top: str) -> bool:
        return self.link(self.folder, name, top)


def unlinked(language: str, top: str, holding: Holding) -> dict[str, str]:
    """The folder of every package below ``top``: its name if others need it and do not find it.

    ``holding`` says which folders have a file of a name.
    """
    manifest, read = _KINDS.get(language, ("", None))
    folders = holding(manifest) if read is not None else []
    if read is None or len(folders) < 2:
        return {}  # nobody else is there
    packages = [read(folder) for folder in folders]
    named = [package for package in packages if package is not None]
    own = {package.name for package in named}
    lonely = {
        name
        for package in named
        for name in (package.needs & own) - {package.name}
        if not package.finds(name, top)
    }
    return {package.folder: package.name if package.name in lonely else "" for package in named}


def _above(folder: str, top: str | None = None) -> Iterator[str]:
    """A folder and those above it, up to ``top`` or to the root of the file system."""
    for _ in range(_MAX_CLIMB):
        yield folder
        parent = os.path.dirname(folder)
        if folder == top or parent == folder:
            return
        folder = parent


# Node


def _package(folder: str) -> _Package | None:
    value = read_json(f"{folder}/package.json")
    if not isinstance(value, Mapping):
        return None
    name = value.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return None
    tables = (value.get(kind) for kind in _DEPENDENCIES)
    needs = frozenset(name for table in tables if isinstance(table, Mapping) for name in table)
    return _Package(folder, name, needs, _is_linked)


def _is_linked(folder: str, name: str, top: str) -> bool:
    if any(os.path.lexists(f"{above}/node_modules/{name}") for above in _above(folder)):
        return True
    return any(
        _covers(pattern, name)
        for above in _above(folder, top)
        for file in tsconfig.CONFIGURATIONS
        for pattern in tsconfig.mapped(f"{above}/{file}")
    )


def _covers(pattern: str, name: str) -> bool:
    """Whether a pattern with at most one star stands for a name."""
    before, star, after = pattern.partition("*")
    return name.startswith(before) and name.endswith(after) if star else pattern == name


# Python


def _distribution(folder: str) -> _Package | None:
    import tomllib  # which most never need

    try:
        value = tomllib.loads(read_text(f"{folder}/pyproject.toml", _MAX_BYTES) or "")
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    project, tool = _table(value, "project"), _table(value, "tool")
    poetry = _table(tool, "poetry")
    name = project.get("name") or poetry.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return None
    groups = [
        project.get("dependencies"),
        *_table(project, "optional-dependencies").values(),
        *_table(value, "dependency-groups").values(),
    ]
    needs = [each for group in groups if isinstance(group, list) for each in group]
    needs += [*_table(poetry, "dependencies"), *_table(_table(tool, "uv"), "sources")]
    found = (_REQUIREMENT.match(each) for each in needs if isinstance(each, str))
    names = frozenset(_normal(match[1]) for match in found if match)
    return _Package(folder, _normal(name), names, _is_installed)


def _table(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = value.get(name)
    return found if isinstance(found, Mapping) else {}


def _normal(name: str) -> str:
    """How two spellings of a distribution's name are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _is_installed(folder: str, name: str, top: str) -> bool:
    environments = (find_environment(above) for above in _above(folder, top))
    return any(
        name == _normal(each)
        for environment in environments
        if environment is not None
        for each in installed(environment)
    )


_KINDS: dict[str, tuple[str, Callable[[str], _Package | None]]] = {
    "python": ("pyproject.toml", _distribution),
    "typescript": ("package.json", _package),
    "javascript": ("package.json", _package),
}
