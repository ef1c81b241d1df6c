"""Where an import of a Node package by its own name leads, from one of its files.

A package may import itself by its name if its manifest has ``exports``; else it is looked for in
``node_modules``, as any other. ``paths`` come first. From what ``exports`` names a server goes back
to the source only where the importing file's own configuration makes the one from the other, or one
that this refers to. The rules are those that servers were seen to follow.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

from sightline.contract.uris import above
from sightline.lsp.files.reading import texts
from sightline.lsp.typescript import tsconfig
from sightline.lsp.typescript.manifests import exported
from sightline.lsp.typescript.package_sources import (
    TYPESCRIPT,
    file_of,
    is_made_from,
    is_source,
    targets_of,
)

__all__ = ["Importing", "Leads", "Package", "leads"]

_LIKE_NODE = ("node16", "node18", "node20", "nodenext")
_BY_NAME = (*_LIKE_NODE, "bundler")


class Leads(Enum):
    NOWHERE = 0
    ELSEWHERE = 1
    TO_SOURCE = 2


class Package(NamedTuple):
    folder: str
    manifest: Mapping[str, Any]

    @property
    def name(self) -> str:
        name = self.manifest.get("name")
        return name if isinstance(name, str) else ""


class Importing(NamedTuple):
    """A file of the package that imports it."""

    file: str
    #: The configuration that includes it.
    configuration: str | None
    #: What the nearest folder with a manifest is, above the file, and what that holds.
    scope: Package
    #: Whether the server lets a package import itself however it is configured.
    is_modern: bool


def leads(name: str, package: Package, importing: Importing) -> Leads:
    """Where an import leads that begins with the name of the package that the file is in."""
    own = importing.configuration
    patterns = tsconfig.leading(own) if own is not None else []
    meant = [tsconfig.led(each, to, name) for each, to in patterns if tsconfig.covers(each, name)]
    by_paths = file_of(meant)
    if by_paths is not None:
        return _kind(by_paths, package)
    kind = _kind_of_modules(own)
    path = "." + name.removeprefix(package.name)
    by_exports = importing.is_modern or kind in _BY_NAME
    conditions = _conditions(importing, kind)
    exports = package.manifest.get("exports")
    targets = exported(exports, path, conditions) if exports is not None and by_exports else None
    making = tsconfig.reachable(own) if own is not None else []
    if targets is not None and importing.scope.folder == package.folder:
        return _reached(targets, package, making)
    places = (f"{place}/node_modules/{package.name}" for place in above(importing.file))
    found = next(filter(os.path.isdir, places), None)
    if found is None:
        return Leads.NOWHERE
    if os.path.realpath(found) != os.path.realpath(package.folder):
        return Leads.ELSEWHERE
    if targets is None:
        plain = {key: value for key, value in package.manifest.items() if key != "exports"}
        targets = [path] if path != "." else [*targets_of(plain, conditions)] or ["index"]
    return _reached(targets, package, making[1:])


def _reached(named: Iterable[str], package: Package, making: Sequence[str]) -> Leads:
    """What the first is that is there of what a manifest names. What has types is preferred."""
    targets = [os.path.normpath(f"{package.folder}/{each}") for each in named]
    for target in targets:
        if any(is_made_from(path, target) for path in making):
            return Leads.TO_SOURCE
        file = file_of([target])
        if file is not None and file.endswith(TYPESCRIPT):
            is_mapped = os.path.isfile(f"{file}.map")
            makers = tsconfig.all_of(package.folder, package.folder) if is_mapped else []
            is_led_back = any(is_made_from(path, target) for path in makers)
            return Leads.TO_SOURCE if is_led_back else _kind(file, package)
    file = file_of(targets)
    return Leads.NOWHERE if file is None else _kind(file, package)


def _kind(file: str, package: Package) -> Leads:
    return Leads.TO_SOURCE if is_source(file, (package.folder,)) else Leads.ELSEWHERE


def _kind_of_modules(configuration: str | None) -> str:
    """How modules are looked for, in the words of the option."""
    if configuration is None:
        return "bundler"
    explicit = tsconfig.option(configuration, "moduleResolution")
    if isinstance(explicit, str):
        return explicit.lower()
    module = str(tsconfig.option(configuration, "module")).lower()
    return "bundler" if module == "preserve" else module


def _conditions(importing: Importing, kind: str) -> frozenset[str]:
    """Which of a manifest's conditions hold for what a file imports."""
    file, found = importing.file, {"types", "default"}
    if importing.configuration is not None:
        found.update(texts(tsconfig.option(importing.configuration, "customConditions")))
    if kind not in _LIKE_NODE:
        return frozenset({*found, "import"})
    is_module = importing.scope.manifest.get("type") == "module"
    if file.endswith((".mts", ".mjs", ".cts", ".cjs")):
        is_module = file.endswith((".mts", ".mjs"))
    return frozenset({*found, "node", "import" if is_module else "require"})
