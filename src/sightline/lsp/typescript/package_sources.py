"""Whether imports of one's own Node packages lead to their sources.

A package that is linked into ``node_modules`` is found, but what its manifest names may be the
build: files that are not there before it is built, and nobody's source after that. Servers then
know of no use in other packages. Where an import leads is told by the rules that they were seen to
follow: ``paths``, what the manifest names, and from there back to the source by a project that is
referred to or by the map beside a declaration.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from sightline.contract.uris import above, is_under
from sightline.lsp.files.reading import read_json, table, texts
from sightline.lsp.typescript import tsconfig
from sightline.lsp.typescript.manifests import applying

__all__ = [
    "DECLARATIONS",
    "TYPESCRIPT",
    "Importer",
    "Verdicts",
    "file_of",
    "is_made_from",
    "is_source",
    "targets_of",
]

DECLARATIONS = (".d.ts", ".d.mts", ".d.cts")
TYPESCRIPT = (".ts", ".tsx", ".mts", ".cts")
_JAVASCRIPT = (".js", ".jsx", ".mjs", ".cjs")
#: What a file may be written as that a manifest names by what is made from it.
_MADE_FROM = {
    ".js": (".ts", ".tsx", ".d.ts"),
    ".jsx": (".tsx", ".d.ts"),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
}
#: Folders that builds write to. ``lib`` is one where the source has a folder of its own.
_BUILDS = ("dist", "build", "out", "esm", "cjs", "umd")
_MOST_TARGETS = 256


#: By the home of a package, the conditions that hold and the projects that are referred to.
Verdicts = dict[tuple[str, frozenset[str], tuple[str, ...]], bool]


class Importer:
    """A package that imports others. ``verdicts`` are shared by those that are looked at together,
    since most of them see the others in the same way.
    """

    def __init__(self, folder: str, top: str, verdicts: Verdicts | None = None) -> None:
        self._folder = folder
        self._configurations = tsconfig.all_of(folder, top)
        self._paths = [item for c in self._configurations for item in tsconfig.targets(c).items()]
        self._verdicts = verdicts if verdicts is not None else {}

    def finds(self, name: str) -> bool:
        """Whether a package is found by its name at all, built or not."""
        return any(map(os.path.lexists, self._places(name))) or any(
            tsconfig.covers(pattern, name) for pattern, _ in self._paths
        )

    def leads_to_source(self, name: str, homes: Collection[str]) -> bool:
        """Whether an import of a package by its name leads to a source in one of its homes."""
        for pattern, spelled in self._paths:
            if tsconfig.covers(pattern, name):
                before, _, after = pattern.partition("*")
                middle = name[len(before) : len(name) - len(after)]
                file = file_of([each.replace("*", middle, 1) for each in spelled])
                if file is not None:
                    return is_source(file, homes)
        place = next(filter(os.path.isdir, self._places(name)), None)
        home = os.path.realpath(place) if place is not None else ""
        return home in homes and self._reaches(home)

    def _places(self, name: str) -> Iterator[str]:
        return (f"{place}/node_modules/{name}" for place in above(self._folder))

    def _reaches(self, home: str) -> bool:
        referred = tuple(path for path in self._configurations if is_under(path, home))
        key = (home, self._conditions, referred)
        if key not in self._verdicts:
            self._verdicts[key] = _is_source_of(*key)
        return self._verdicts[key]

    @cached_property
    def _conditions(self) -> frozenset[str]:
        """Which of a manifest's conditions hold for the imports of this package."""
        found = {"types", "import", "default"}
        for path in self._configurations:
            found.update(texts(tsconfig.option(path, "customConditions")))
            kinds = (tsconfig.option(path, name) for name in ("module", "moduleResolution"))
            if any(str(kind).lower().startswith("node") for kind in kinds):
                manifest = table(read_json(f"{self._folder}/package.json"))
                is_module = manifest.get("type") == "module"
                found |= {"node"} if is_module else {"node", "require"}
        return frozenset(found)


def _is_source_of(home: str, conditions: frozenset[str], referred: Iterable[str]) -> bool:
    """Whether what a manifest names is a source, or leads the server to one."""
    manifest = table(read_json(f"{home}/package.json"))
    named = list(targets_of(manifest, conditions))
    if not named:
        # It is imported by the paths of its files, if it may be.
        return manifest.get("exports") is None
    full = (os.path.normpath(f"{home}/{target}") for target in named[:_MOST_TARGETS])
    targets = [target for target in full if is_under(target, home)]
    folders = (os.path.dirname(each.partition("*")[0]) for each in targets if "*" in each)
    if any(os.path.isdir(each) and not _is_built(f"{each}/", home) for each in folders):
        return True
    file = file_of(targets)
    if file is not None and is_source(file, (home,)):
        return True
    if any(is_made_from(path, target) for path in referred for target in targets):
        return True
    has_map = file is not None and os.path.isfile(f"{file}.map")
    own = tsconfig.all_of(home, home) if has_map else []
    return any(is_made_from(path, target) for path in own for target in targets)


def targets_of(manifest: Mapping[str, Any], conditions: frozenset[str]) -> Iterator[str]:
    """The paths that a manifest names for the package, most wanted first."""
    exports = manifest.get("exports")
    if exports is not None:
        keyed = table(exports)
        by_path = any(key.startswith(".") for key in keyed)
        # Without an entry of its own it is imported by the paths that it has.
        wanted = [keyed["."]] if "." in keyed else list(keyed.values()) if by_path else [exports]
        for each in wanted:
            yield from applying(each, conditions)
        return
    first = next((manifest[key] for key in ("typings", "types", "main") if manifest.get(key)), None)
    named = [each for each in (first, manifest.get("main")) if isinstance(each, str)]
    yield from named
    if named or first is not None:
        yield "index"


def file_of(targets: Sequence[str]) -> str | None:
    """The file that an import leads to; one with types is preferred to any other."""
    candidates = [file for target in targets for file in _written_as(target)]
    typed = (file for file in candidates if file.endswith(TYPESCRIPT))
    plain = (file for file in candidates if not file.endswith(TYPESCRIPT))
    return next((file for file in (*typed, *plain) if os.path.isfile(file)), None)


def _written_as(target: str) -> Iterator[str]:
    stem, ending = os.path.splitext(target)
    yield from (f"{stem}{other}" for other in _MADE_FROM.get(ending, ()))
    if ending in (*TYPESCRIPT, *_JAVASCRIPT):
        yield target
    else:
        for end in (".ts", ".tsx", ".d.ts", ".js", ".jsx"):
            yield f"{target}{end}"
            yield f"{target}/index{end}"


def is_source(file: str, homes: Collection[str]) -> bool:
    """Whether a file of a package is written by hand, as far as its path tells."""
    home = next((each for each in homes if is_under(file, each)), None)
    if home is None or file.endswith(DECLARATIONS):
        return False
    return file.endswith(TYPESCRIPT) or not _is_built(file, home)


def _is_built(path: str, home: str) -> bool:
    first = path[len(home) + 1 :].partition("/")[0]
    return first in _BUILDS or (first == "lib" and os.path.isdir(f"{home}/src"))


def is_made_from(configuration: str, target: str) -> bool:
    """Whether a configuration makes a file from a source that is there."""
    folder = os.path.dirname(configuration)
    root = tsconfig.folder_option(configuration, "rootDir") or folder
    for key in ("declarationDir", "outDir"):
        output = tsconfig.folder_option(configuration, key)
        if output is not None and is_under(target, output):
            stem = target[len(output) :]
            for end in (*DECLARATIONS, *_JAVASCRIPT):
                stem = stem.removesuffix(end)
            return any(os.path.isfile(f"{root}{stem}{end}") for end in TYPESCRIPT)
    return False
