"""Imports of a project's own files by names that its TypeScript server does not know.

Bundlers and test runners can be told that ``@/`` stands for a folder. A server knows that only from
``paths`` in a configuration that has the importing file; without, it says that a function has no
uses there. What the names stand for is written in a program, which is not run, so it is said. A
name counts if nobody else can be meant (no package, no pattern, no dependency) and a file of the
project's own ends with it; one without a slash, if a pattern leads it to such a file.

What is taken in by ``require`` is not followed everywhere either, so it is told which files do.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from itertools import islice
from typing import Any, NamedTuple

from sightline.contract.uris import above
from sightline.lsp.coverage.packages import DEPENDENCIES
from sightline.lsp.coverage.python_imports import Importing, Sources, Unresolved
from sightline.lsp.coverage.self_imports import lost_to_itself
from sightline.lsp.files.reading import read_json, table
from sightline.lsp.project.projects import Project
from sightline.lsp.typescript import tsconfig
from sightline.lsp.typescript.path_patterns import joined
from sightline.text.code import JAVASCRIPT, has_code

__all__ = ["FIX", "REQUIRED", "SOURCES", "imported", "named", "unresolved"]

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
#: Files that a server reads because another one names them by their place.
_NEAR = [
    re.compile(rf"from\s*{_NAME}"),
    re.compile(rf"import\s*(?:\(\s*)?{_NAME}"),
    re.compile(rf"import\s+\w+\s*=\s*require\s*\(\s*{_NAME}"),
]
_REFERENCE = re.compile(rf"///\s*<reference\s+path\s*=\s*{_NAME}")
#: What stands among the names of a file that takes in modules in a way that is not followed
#: everywhere. No module has such a name.
REQUIRED = "require("
#: Modules of Node are nobody's own, and data has no uses.
_REQUIRE = re.compile(
    r"require(?<![\w$]require)\s*\((?!\s*[\"'](?:node:|[^\"'\n]{1,300}\.json[\"']|(?:assert|"
    r"child_process|crypto|events|fs|https?|os|path|stream|url|util)[\"'/]))"
)
#: A way that servers follow.
_FOLLOWED = re.compile(rb"import\s+\w+\s*=\s*require\s*\(")
#: So many places may patterns lead one name to.
_MOST_LED = 1_024
#: What tests call.
_ACTUAL = ("requireActual", "requireMock", "importActual", "importMock")
#: Both, in texts that are known to have one.
_TAKES_IN = re.compile("|".join([_REQUIRE.pattern, *_ACTUAL]).encode())
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


def imported(text: str) -> frozenset[str]:
    """The names of all that a source imports, and ``REQUIRED`` if it takes in some in that way.

    >>> sorted(imported('import a from "./a"\\nimport "b"\\nconst c = require("../c")\\n'))
    ['./a', 'b', 'require(']
    """
    plain = {name for each in _IMPORTS for name in each.findall(text) if "/" not in name}
    near = {name for each in _NEAR for name in each.findall(text) if name[0] == "."}
    near.update(f"./{name}" for name in _REFERENCE.findall(text))
    others = {name for name in plain if name[0] != "." and _is_here(name)}
    return named(text) | near | others | ({REQUIRED} if _requires(text) else set())


def _requires(text: str) -> bool:
    if _REQUIRE.search(text) is None and not any(name in text for name in _ACTUAL):
        return False
    data = text.encode("utf-8", "replace")
    followed = {match.end() for match in _FOLLOWED.finditer(data)}
    found = (match for match in _TAKES_IN.finditer(data) if match.end() not in followed)
    return has_code(JAVASCRIPT, data, (match.start() for match in found))


def _is_here(name: str) -> bool:
    return ":" not in name and "!" not in name and bool(_PLAIN.fullmatch(name.partition("/")[0]))


def unresolved(project: Project, tree: Sources, importing: Importing) -> list[Unresolved]:
    """The folders that are named in vain, each with the files that do."""
    names = {n: files for n, files in importing.items() if files and n[0] != "." and n != REQUIRED}
    if not names:
        return []
    modules = _modules(tree)
    own, packages, programs = (
        _stems(modules),
        _packages(project),
        _Programs(project, modules, importing),
    )

    @cache
    def manifest(place: str) -> Mapping[str, Any] | None:
        value = read_json(f"{place}/package.json")
        return None if value is None else table(value)

    @cache
    def declared(place: str) -> frozenset[str]:
        return frozenset(name for kind in DEPENDENCIES for name in table(manifest(place), kind))

    @cache
    def own_names(place: str) -> _Patterns:
        return _own_names(manifest(place))

    def is_own_name(name: str, folder: str) -> bool:
        # Servers look into the nearest manifest only, whatever that says.
        places = (place for place in above(folder, project.top) if manifest(place) is not None)
        place = next(places, None) if name[0] == "#" else None
        return place is not None and any(own_names(place).of(name))

    def is_known(name: str, file: str) -> bool:
        package, folder = _package(name), os.path.dirname(file)
        return (
            any(package in declared(place) for place in above(folder, project.top))
            or is_own_name(name, folder)
            or programs.know(name, file)
            or any(os.path.lexists(f"{place}/node_modules/{package}") for place in above(folder))
        )

    lost: dict[str, set[str]] = {}
    for name, files in names.items():
        is_own = _ends(own, name) if "/" in name else programs.lead(name)
        if _package(name) in packages or not is_own:
            continue
        vain = {file for file in files if not is_known(name, file)}
        if vain:
            first, slash, _ = name.partition("/")
            lost.setdefault(f"{first}/*" if slash else name, set()).update(vain)
    return [
        *(Unresolved(name, [project.folder], frozenset(lost[name])) for name in sorted(lost)),
        *lost_to_itself(project, names, manifest, programs.owner),
    ]


def _package(name: str) -> str:
    """The package that a name would be of."""
    return "/".join(name.split("/")[: 2 if name.startswith("@") else 1])


def _modules(tree: Sources) -> dict[str, list[str]]:
    """The files of all modules, by their paths without endings."""
    found: dict[str, list[str]] = {}
    for folder, files in tree.items():
        for file in files:
            stem = _ENDING.sub("", file)
            path = folder if stem == "index" else f"{folder}/{stem}"
            found.setdefault(path, []).append(f"{folder}/{file}")
    return found


def _stems(modules: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The paths of all modules without their endings, by their last part."""
    found: dict[str, list[str]] = {}
    for path in modules:
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


def _own_names(manifest: object) -> "_Patterns":
    """The names that a package has for its own files. One that ends with a slash is a folder's."""
    names = (name for name, target in table(manifest, "imports").items() if target)
    return _Patterns((f"{name}*" if name.endswith("/") else name, "") for name in names)


class _Alike(NamedTuple):
    """Projects that lead the same names to the same places."""

    names: tuple[str, ...]
    leading: tuple[tuple[str, str], ...]
    extensions: tuple[str, ...]
    projects: list[tsconfig.Configuration]


class _Programs:
    """The projects that a server loads in a folder, and the files that each has: those that it
    includes, and what these import. A server knows the patterns of a project in its files only.
    """

    def __init__(
        self, project: Project, modules: Mapping[str, list[str]], importing: Importing
    ) -> None:
        names = tsconfig.CONFIGURATIONS
        outer = list(above(project.folder, project.top))[1:]
        self._owners = tsconfig.Owners(
            project.named(*names), [f"{place}/{name}" for place in outer for name in names]
        )
        self._modules = modules
        self._importing = importing
        # Asked for again and again, and the same as long as this lives.
        self.owner = cache(self._owners.of)
        self._patterns = cache(
            lambda path: _Patterns((name, "") for name in tsconfig.known_names(path))
        )
        self._naming = cache(lambda name: frozenset(path for _, path in self._named.all_of(name)))
        self._files = cache(self._files_of)
        self._files_of_all = cache(
            lambda paths: frozenset[str]().union(*(self._files(path) for path in paths))
        )

    def know(self, name: str, file: str) -> bool:
        """Whether a project that has a file leads a name somewhere."""
        own = self.owner(file)
        return (own is not None and any(self._patterns(own.path).of(name))) or (
            file in self._files_of_all(self._naming(name))
        )

    def lead(self, name: str) -> bool:
        """Whether some project leads a name to a module of one's own."""
        return any(self._led(self._leading, name))

    @cached_property
    def _sorted(self) -> list[str]:
        """The files of all modules."""
        return sorted(file for files in self._modules.values() for file in files)

    @cached_property
    def _loaded(self) -> dict[str, _Alike]:
        """The projects that include a file: one of each is held open. Those that lead the same
        names to the same places have the same files by imports, and are found by one path.
        """
        owners = {owner.path: owner for owner in map(self.owner, self._sorted) if owner is not None}
        found: dict[object, _Alike] = {}
        for path, owner in owners.items():
            names, leading = tuple(tsconfig.known_names(path)), tuple(tsconfig.leading(path))
            alike = _Alike(names, leading, owner.extensions, [])
            found.setdefault(alike[:-1], alike).projects.append(owner)
        return {alike.projects[0].path: alike for alike in found.values()}

    @cached_property
    def _named(self) -> "_Patterns":
        """All patterns of names that are led somewhere, each with the projects that do."""
        pairs = self._loaded.items()
        return _Patterns((name, path) for path, alike in pairs for name in alike.names)

    @cached_property
    def _leading(self) -> "_Patterns":
        """All patterns, each with what it leads to."""
        found = (tsconfig.leading(each.path) for each in self._owners.all())
        return _Patterns(pair for pairs in found for pair in pairs)

    @cached_property
    def _imports(self) -> dict[str, list[str]]:
        """What each file imports."""
        found: dict[str, list[str]] = {}
        for name, files in self._importing.items():
            for file in files:
                found.setdefault(file, []).append(name)
        return found

    def _files_of(self, path: str) -> set[str]:
        """The files of projects that are alike."""
        alike = self._loaded[path]
        leading = _Patterns(alike.leading)
        found = {file for each in alike.projects for file in each.included(self._sorted)}
        waiting = list(found)
        meant = cache(lambda name: list(self._led(leading, name)))
        while waiting:
            file = waiting.pop()
            for name in self._imports.get(file, ()):
                near = name.startswith(".")
                for each in self._at(joined(os.path.dirname(file), name)) if near else meant(name):
                    if each not in found and each.endswith(alike.extensions):
                        found.add(each)
                        waiting.append(each)
        return found

    def _led(self, leading: "_Patterns", name: str) -> Iterator[str]:
        """The files of one's own that patterns lead a name to."""
        for pattern, target in leading.of(name):
            yield from self._at(tsconfig.led(pattern, target, name))

    def _at(self, path: str) -> list[str]:
        """The files that a path may mean, with or without their endings."""
        stem = _ENDING.sub("", path)
        return [
            *self._modules.get(path.removesuffix("/index"), ()),
            *(self._modules.get(stem.removesuffix("/index"), ()) if stem != path else ()),
        ]


class _Patterns:
    """Patterns of module names, of at most one star, each with what it leads to.

    They are found by what stands before the star and behind it: there may be thousands, and as many
    names.

    >>> list(_Patterns([("@/*", "/src/*"), ("a", "/a"), ("*.b", "/b")]).of("@/x.b"))
    [('*.b', '/b'), ('@/*', '/src/*')]
    """

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        #: By what is before, then by what is behind; nothing is behind where there is no star.
        self._pairs: dict[str, dict[str | None, dict[tuple[str, str], None]]] = {}
        for pattern, target in pairs:
            before, star, after = pattern.partition("*")
            behind = self._pairs.setdefault(before, {})
            behind.setdefault(after if star else None, {})[pattern, target] = None
        self._lengths = sorted({len(before) for before in self._pairs})

    def of(self, name: str) -> Iterator[tuple[str, str]]:
        """Those that cover a name, up to so many."""
        return islice(self.all_of(name), _MOST_LED)

    def all_of(self, name: str) -> Iterator[tuple[str, str]]:
        for length in self._lengths:
            behind = self._pairs.get(name[:length]) if length <= len(name) else None
            if behind is None:
                continue
            if length == len(name):
                yield from behind.get(None, ())
            for start in range(length, len(name) + 1):
                yield from behind.get(name[start:], ())
