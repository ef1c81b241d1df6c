"""Packages that a workspace needs and that are not installed, or not seen together, for doctor.

In a fresh clone of a monorepo there is no ``node_modules`` and no environment, so no server
resolves the import of one package by another. gopls looks into one module at a time unless a
``go.work`` names both. Only dependencies that the packages declare count.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from sightline.contract.uris import above
from sightline.lsp.files.reading import read_json, read_text, read_toml, table
from sightline.lsp.go import gomod
from sightline.lsp.python.discovery import Environments
from sightline.lsp.python.environments import installed
from sightline.lsp.typescript import tsconfig

__all__ = [
    "DEPENDENCIES",
    "KINDS",
    "Kind",
    "not_installed",
    "unlinked",
]

_NAME = re.compile(r"(?:@[\w.-]{1,80}/)?[\w.-]{1,120}")
_REQUIREMENT = re.compile(r"\s*([\w.-]{1,120})")
#: One that holds everywhere: a name, perhaps a version, no marker of a system or a Python.
_PLAIN = re.compile(r"\s*([A-Za-z0-9][\w.-]{0,119})\s*(?:\[[^]]*\]\s*)?(?:[<>=!~(@][^;]*)?")
DEPENDENCIES = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_MAX_BYTES = 1 << 20
_NONE = Environments()

Holding = Callable[[str], list[str]]
#: Whether a package is found by its name.
Finds = Callable[[str], bool]


class _Package(NamedTuple):
    folder: str
    name: str
    needs: frozenset[str]


class Kind(NamedTuple):
    """How the packages of a language are described and found."""

    #: The files that describe a package; the first is the one that gives it a name.
    manifests: tuple[str, ...]
    read: Callable[[str], _Package | None]
    #: What surely must be installed for the package in a folder.
    requires: Callable[[str], frozenset[str]]
    #: How packages are found from a folder by what lies below ``top``.
    finder: Callable[[str, str, Environments], Finds]
    #: What doctor says of packages that others do not find.
    told: str
    fix: str


def unlinked(
    language: str, top: str, holding: Holding, environments: Environments = _NONE
) -> dict[str, str]:
    """The folder of every package below ``top``: its name if others need it and do not find it.

    ``holding`` says which folders have a file of a name.
    """
    kind = KINDS.get(language)
    folders = holding(kind.manifests[0]) if kind is not None else []
    if kind is None or len(folders) < 2:
        return {}  # nobody else is there
    packages = [kind.read(folder) for folder in folders]
    named = [package for package in packages if package is not None]
    own = {package.name for package in named}
    lonely: set[str] = set()
    for package in named:
        finds = kind.finder(package.folder, top, environments)
        lonely |= {name for name in (package.needs & own) - {package.name} if not finds(name)}
    return {package.folder: package.name if package.name in lonely else "" for package in named}


def not_installed(
    language: str, folder: str, top: str, environments: Environments = _NONE
) -> list[str]:
    """What the package in a folder surely needs and does not find."""
    kind = KINDS[language]
    finds = kind.finder(folder, top, environments)
    return sorted(name for name in kind.requires(folder) if not finds(name))


# Node


def _package(folder: str) -> _Package | None:
    manifest = _node_manifest(folder)
    name = manifest.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return None
    return _Package(folder, name, frozenset(_declared(manifest, DEPENDENCIES)))


def _node_requires(folder: str) -> frozenset[str]:
    names = _declared(_node_manifest(folder), DEPENDENCIES[:2])
    return frozenset(name for name in names if _NAME.fullmatch(name))


def _node_manifest(folder: str) -> Mapping[str, Any]:
    value = read_json(f"{folder}/package.json")
    return value if isinstance(value, Mapping) else {}


def _declared(manifest: Mapping[str, Any], kinds: Iterable[str]) -> Iterator[str]:
    return (name for kind in kinds for name in table(manifest, kind))


def _linked(folder: str, top: str, _: Environments) -> Finds:
    folders = [f"{each}/node_modules" for each in above(folder, top)]
    configurations = tsconfig.all_of(folder, top)
    patterns = {pattern for each in configurations for pattern in tsconfig.mapped(each)}

    def finds(name: str) -> bool:
        if any(tsconfig.covers(pattern, name) for pattern in patterns):
            return True
        return any(os.path.lexists(f"{each}/{name}") for each in folders)

    return finds


# Python


def _distribution(folder: str) -> _Package | None:
    value = read_toml(f"{folder}/pyproject.toml")
    project, tool = table(value, "project"), table(value, "tool")
    poetry = table(tool, "poetry")
    name = project.get("name") or poetry.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return None
    groups = [
        project.get("dependencies"),
        *table(project, "optional-dependencies").values(),
        *table(value, "dependency-groups").values(),
    ]
    needs = [each for group in groups if isinstance(group, list) for each in group]
    needs += [name for each in _poetry(poetry) for name in each]
    needs += table(tool, "uv", "sources")
    found = (_REQUIREMENT.match(each) for each in needs if isinstance(each, str))
    names = frozenset(_normal(match[1]) for match in found if match)
    return _Package(folder, _normal(name), names)


def _python_requires(folder: str) -> frozenset[str]:
    value = read_toml(f"{folder}/pyproject.toml")
    project, poetry = table(value, "project"), table(value, "tool", "poetry")
    declared = project.get("dependencies")
    lines = [*declared] if isinstance(declared, list) else []
    lines += (read_text(f"{folder}/requirements.txt", _MAX_BYTES) or "").splitlines()
    plain = (_PLAIN.fullmatch(each.partition(" #")[0]) for each in lines if isinstance(each, str))
    names = {match[1] for match in plain if match}
    groups = _poetry(poetry, optional=False)
    simple = {name for each in groups for name, wanted in each.items() if isinstance(wanted, str)}
    own = str(project.get("name") or poetry.get("name") or "")
    return frozenset(map(_normal, names | simple)) - {"python", _normal(own)}


def _poetry(manifest: Mapping[str, Any], *, optional: bool = True) -> Iterator[Mapping[str, Any]]:
    """What a manifest of Poetry's declares: the main dependencies, and those of every group."""
    yield table(manifest, "dependencies")
    yield table(manifest, "dev-dependencies")  # as a group was called before there were any
    groups = table(manifest, "group")
    for name in groups:
        if optional or not table(groups, name).get("optional"):
            yield table(groups, name, "dependencies")


def _normal(name: str) -> str:
    """How two spellings of a distribution's name are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _installed(folder: str, top: str, environments: Environments) -> Finds:
    environment = environments.of(folder, top)
    names = installed(environment) if environment is not None else ()
    return {_normal(name) for name in names}.__contains__


# Go


def _module(folder: str) -> _Package | None:
    name = gomod.of(folder).path
    return _Package(folder, name, frozenset(gomod.replaced(folder))) if name else None


def _seen_together(folder: str, top: str, _: Environments) -> Finds:
    others = gomod.replaced(folder)
    return lambda name: gomod.works_with(folder, others[name], above(folder, top))


_TOLD = "packages that others here need are not installed"
_NODE = Kind(
    ("package.json",),
    _package,
    _node_requires,
    _linked,
    _TOLD,
    "install the packages (npm, pnpm or yarn install), so that they find each other",
)
KINDS: dict[str, Kind] = {
    "typescript": _NODE,
    "javascript": _NODE,
    "python": Kind(
        ("pyproject.toml", "requirements.txt"),
        _distribution,
        _python_requires,
        _installed,
        _TOLD,
        "install the packages (uv sync, poetry install or pip install -e), so that they are found",
    ),
    "go": Kind(
        ("go.mod",),
        _module,
        lambda folder: frozenset(),  # see gomod.not_downloaded
        _seen_together,
        "modules that others here use, without a go.work",
        "make a go.work that names them: go work init, then go work use -r .",
    ),
}
