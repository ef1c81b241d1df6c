"""Packages that a workspace needs and that are not there, or not seen together.

In a monorepo one package imports another through ``node_modules`` or an environment, which an
install makes. In a fresh clone there is neither: a server resolves no such import, and would say
that a function has no uses in the other packages. Modules of Go find each other, but their server
looks into one at a time unless a ``go.work`` names both. It cannot be mended here, where nothing is
written and nothing fetched, so it is said. Only dependencies that the packages declare count.

Packages of others are lacking in a fresh clone as well. Then a server does not know the types of
what comes from them, and misses uses of one's own code that go through it.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from sightline.contract.uris import above
from sightline.lsp.files.reading import read_json, read_text, read_toml, table
from sightline.lsp.go import gomod
from sightline.lsp.python.discovery import Environments
from sightline.lsp.python.environments import installed
from sightline.lsp.typescript.package_sources import Importer, Verdicts

__all__ = [
    "ASTRAY",
    "ASTRAY_FIX",
    "ASTRAY_TOLD",
    "DEPENDENCIES",
    "KINDS",
    "LACKING",
    "MANIFESTS",
    "Kind",
    "astray",
    "not_installed",
    "unlinked",
]

#: How the files are called that decide it, besides what an install makes: manifests, and
#: configurations of TypeScript, which may extend files of any name.
MANIFESTS = (".json", ".toml", ".mod", ".work", "requirements.txt")

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
    #: What is to be said of a package that others do not find, to callers and to people.
    sentence: str
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


def astray(language: str, top: str, holding: Holding) -> dict[str, str]:
    """The folder of every package below ``top`` whose source others do not reach, and its name.

    They find it, by its build or by a copy; see to_source.py.
    """
    kind = KINDS.get(language)
    if kind is not _NODE:
        return {}
    found = map(kind.read, holding(kind.manifests[0]))
    named = [package for package in found if package is not None]
    homes: dict[str, list[str]] = {}
    for package in named:
        homes.setdefault(package.name, []).append(os.path.realpath(package.folder))
    lost: set[str] = set()
    verdicts: Verdicts = {}
    for package in named:
        importer = Importer(package.folder, top, verdicts)
        wanted = (package.needs & homes.keys()) - {package.name} - lost
        lost |= {
            name
            for name in wanted
            if importer.finds(name) and not importer.leads_to_source(name, homes[name])
        }
    return {package.folder: package.name for package in named if package.name in lost}


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
    return cache(Importer(folder, top).finds)


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


ASTRAY = "Imports of {} in other packages do not lead to its source; uses there may be missing."
ASTRAY_TOLD = "packages whose source others here do not reach"
ASTRAY_FIX = (
    "let exports or types in their package.json, paths in tsconfig.json or a project reference "
    "lead to the source; what is built or installed from elsewhere is no source"
)
LACKING = "Packages not installed: {}; what needs them may be missing."
_NOT_INSTALLED = "The package {} is not installed, so uses in other packages may be missing."
_TOLD = "packages that others here need are not installed"
_NODE = Kind(
    ("package.json",),
    _package,
    _node_requires,
    _linked,
    _NOT_INSTALLED,
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
        _NOT_INSTALLED,
        _TOLD,
        "install the packages (uv sync, poetry install or pip install -e), so that they are found",
    ),
    "go": Kind(
        ("go.mod",),
        _module,
        lambda folder: frozenset(),  # see gomod.not_downloaded
        _seen_together,
        "Other modules here use {}; without a go.work that names both, uses there are not found.",
        "modules that others here use, without a go.work",
        "make a go.work that names them: go work init, then go work use -r .",
    ),
}
