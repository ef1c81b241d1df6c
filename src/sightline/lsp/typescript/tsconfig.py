"""Which files must be open so that a TypeScript server sees every project of a folder.

A server loads the project of a file when the file is opened: the nearest ``tsconfig.json`` or
``jsconfig.json`` above it, or one that this refers to. So one file per project is held open. A file
that no such project includes is loose: it is known to nobody until it is opened, or named by a file
that is. Opening a thousand of them makes a server load a thousand times, so they are named by one
document that is in memory only. Whether a project includes a file is decided from ``files``,
``include``, ``exclude`` and ``extends``; in doubt it is loose: naming one file too many does
no harm.
"""

import json
import os
import posixpath
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from sightline.contract.uris import above
from sightline.lsp.files.reading import names_in, read_json, table, texts
from sightline.lsp.typescript.held_open import HeldOpen, can_be_named
from sightline.lsp.typescript.path_patterns import PACKAGES, expression_of, fills, joined
from sightline.workspace.linear import Expression

__all__ = [
    "CONFIGURATIONS",
    "Configuration",
    "Owners",
    "all_of",
    "held_open",
    "covers",
    "folder_option",
    "is_twin",
    "known_names",
    "leading",
    "led",
    "mapped",
    "option",
    "targets",
    "without_base_url",
]

#: In the order in which servers look for them.
CONFIGURATIONS = ("tsconfig.json", "jsconfig.json")
_TYPESCRIPT = (".ts", ".tsx", ".mts", ".cts")
_JAVASCRIPT = (".js", ".jsx", ".mjs", ".cjs")
_MODULE = re.compile(r"(.+?)(?:\.d)?\.[cm]?[jt]sx?")
_MAX_EXTENDS = 16
#: What stands for the folder of the configuration that extends others.
_OWN_FOLDER = "${configDir}"
_MAX_CLIMB = 64


class Configuration(Struct, frozen=True):
    """One project: which files it includes by itself, and which projects it refers to."""

    path: str
    listed: frozenset[str]
    include: tuple[Expression | None, ...]
    exclude: tuple[Expression | None, ...]
    extensions: tuple[str, ...]
    references: tuple[str, ...]
    #: The files that it is read from, or would be if they were there.
    decided_by: frozenset[str]

    def includes(self, file: str) -> bool:
        """Whether the project surely includes a file by its path."""
        if file in self.listed:
            return True
        if not file.endswith(self.extensions) or file.endswith(".min.js"):
            return False
        # What cannot be read includes nothing for sure, and may exclude anything.
        return any(each is not None and fills(each, file) for each in self.include) and not any(
            each is None or fills(each, file) for each in self.exclude
        )


class Owners:
    """Which project of a folder includes a file by itself: that of the nearest configuration, or
    one that this refers to.

    ``outer`` are configurations that may be above the folder, for files without one inside.
    """

    def __init__(self, configurations: Iterable[str], outer: Iterable[str] = ()) -> None:
        self._nearest: dict[str, str] = {}
        for path in sorted(configurations, reverse=True):  # tsconfig.json comes last and so wins
            self._nearest[os.path.dirname(path)] = path
        self._outer = [path for path in outer if os.path.isfile(path)]
        #: All that were read.
        self.known: dict[str, Configuration] = {}

    def of(self, file: str) -> Configuration | None:
        home = _nearest(file, self._nearest)
        homes = self._outer if home is None else [home]
        projects = (each for path in homes for each in _reachable(path, self.known))
        return next((project for project in projects if project.includes(file)), None)

    def all(self) -> list[Configuration]:
        """Every project, whether it includes a file or not."""
        for path in [*self._nearest.values(), *self._outer]:
            _reachable(path, self.known)
        return list(self.known.values())


def held_open(
    files: Iterable[str],
    configurations: Iterable[str],
    outer: Iterable[str] = (),
    *,
    reword: bool = False,
    can_be_shown: Callable[[str], bool] = lambda file: True,
) -> HeldOpen:
    """What to hold open, out of all source files and configuration files of a folder.

    ``outer`` are configurations that may be above it. ``reword``: see ``without_base_url``.
    """
    owners = Owners(configurations)
    known = owners.known
    opened: dict[str, str] = {}
    found: list[str] = []
    loose: list[str] = []
    for file in sorted(files):
        owner = owners.of(file)
        if owner is None:
            (loose if can_be_named(file) else found).append(file)
        elif owner.path not in opened and can_be_shown(file):
            opened[owner.path] = file
    # What others extend is loaded before them: once tsgo has read a configuration for another one,
    # it hears of no new files in the project that it makes itself.
    chains = {path: [base for base, _ in _chain(path)] for path in opened}
    found += [opened[path] for path in sorted(opened, key=lambda path: (len(chains[path]), path))]
    extended = {base for chain in chains.values() for base in chain[1:] if base in opened}
    if reword:
        for path in filter(os.path.isfile, outer):
            _reachable(path, known)
    read_from = [each.decided_by for each in known.values()]
    spelled = {file for path in known for file, _ in _chain(path)} if reword else set()
    reworded = _reworded(spelled, known)
    decided_by = frozenset[str]().union(*read_from)
    return HeldOpen(tuple(found), tuple(loose), decided_by, reworded, frozenset(extended))


def _reworded(files: Iterable[str], projects: Container[str]) -> tuple[tuple[str, str], ...]:
    """Configurations with the text that the server has of them in memory, in the order in which it
    is to be shown them.

    What others extend comes before them, also if it is a project that is shown as it is.
    """
    chains = {file: _chain(file) for file in files}
    shown = {file: text for file in chains if (text := without_base_url(file)) is not None}
    for file in list(shown):
        for base, own in chains[file][1:]:
            if base in projects:
                shown.setdefault(base, json.dumps(own))
    return tuple(
        (file, shown[file]) for file in sorted(shown, key=lambda file: (len(chains[file]), file))
    )


def _nearest(file: str, configurations: Mapping[str, str]) -> str | None:
    folder = os.path.dirname(file)
    for _ in range(_MAX_CLIMB):
        if folder in configurations:
            return configurations[folder]
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return None


def _reachable(path: str, known: dict[str, Configuration]) -> list[Configuration]:
    """A project and all that it refers to, each once."""
    order: list[Configuration] = []
    waiting = [path]
    seen: set[str] = set()
    while waiting:
        current = waiting.pop(0)
        if current in seen or len(seen) > 1_000:
            continue
        seen.add(current)
        if current not in known:
            known[current] = read(current)
        order.append(known[current])
        waiting += known[current].references
    return order


def read(path: str) -> Configuration:
    """A configuration with everything it extends."""
    asked: set[str] = {path}
    chain = _chain(path, asked)
    listed, listed_at = _first(chain, "files")
    include, include_at = _first(chain, "include")
    exclude, exclude_at = _first(chain, "exclude")
    options: dict[str, Any] = {}
    for base, value in reversed(chain):
        for key, option in table(value.get("compilerOptions")).items():
            options[key] = (option, os.path.dirname(base))
    if include is None:
        include, include_at = ([] if listed is not None else ["**/*"]), os.path.dirname(path)
    if exclude is None:
        exclude, exclude_at = list(PACKAGES), os.path.dirname(path)
    excluded = [expression_of(p, exclude_at, files=False) for p in texts(exclude)]
    for key in ("outDir", "declarationDir"):
        folder, base = options.get(key, ("", ""))
        if isinstance(folder, str) and folder:
            excluded.append(expression_of(folder, base, files=False))
    by_default = os.path.basename(path) == "jsconfig.json" or options.get("checkJs", ())[:1] == (
        True,
    )
    javascript = options.get("allowJs", (by_default, ""))[0] is True
    return Configuration(
        path,
        frozenset(joined(listed_at, name) for name in texts(listed)),
        tuple(expression_of(p, include_at, files=True) for p in texts(include)),
        tuple(excluded),
        _TYPESCRIPT + (_JAVASCRIPT if javascript else ()),
        tuple(_references(path, chain[0][1])),
        frozenset(asked),
    )


def without_base_url(path: str) -> str | None:
    """A configuration that says with ``paths`` what it says with ``baseUrl``, if it does.

    Patterns lead from that folder, also where it is named by another file that this one extends. A
    name that none stands for is looked for in it, then among packages. What a configuration does
    not say itself it still gets from the one it extends.
    """
    chain = _chain(path)
    folder, own = _base_folder(chain), table(chain[0][1].get("compilerOptions"))
    if folder is None or not own.keys() & {"baseUrl", "paths"}:
        return None
    paths = {
        pattern: [_full(folder, target) for target in texts(targets)]
        for pattern, targets in table(_option(chain, "paths")[0]).items()
    }
    paths.setdefault("*", [f"{folder}/*"])
    options = {name: value for name, value in own.items() if name != "baseUrl"}
    return json.dumps({**chain[0][1], "compilerOptions": {**options, "paths": paths}})


def known_names(path: str) -> list[str]:
    """The patterns of module names that a configuration leads somewhere."""
    found, folder = mapped(path), _base_of(path)
    return found if folder is None else [*found, *(f"{name}/*" for name in names_in(folder))]


def all_of(folder: str, top: str) -> list[str]:
    """The configurations that the sources of a folder have: the nearest, and what it refers to.

    One above the folder counts if it includes files by itself. Without one in the folder those
    one step below it count, too.
    """
    for place in above(folder, top):
        here = [f"{place}/{name}" for name in CONFIGURATIONS]
        nearest = next(filter(os.path.isfile, here), None)
        if nearest is not None and place == folder:
            return [each.path for each in _reachable(nearest, {})]
        if nearest is not None:
            outer = [each.path for each in _reachable(nearest, {}) if each.include or each.listed]
            return [*_one_step_below(folder), *outer]
    return _one_step_below(folder)


def _one_step_below(folder: str) -> list[str]:
    places = (f"{folder}/{name}/{CONFIGURATIONS[0]}" for name in sorted(names_in(folder)))
    return [path for path in places if "/node_modules/" not in path and os.path.isfile(path)]


def option(path: str, name: str) -> Any:  # noqa: ANN401 - any JSON
    """What a configuration, or one that it extends, says of a compiler option."""
    return _option(_chain(path), name)[0]


def folder_option(path: str, name: str) -> str | None:
    """The folder that a compiler option names."""
    value, given_in = _option(_chain(path), name)
    if not isinstance(value, str) or not value:
        return None
    return _full(os.path.dirname(given_in), value).replace(_OWN_FOLDER, os.path.dirname(path), 1)


def targets(path: str) -> dict[str, list[str]]:
    """The patterns of module names that a configuration has, and the paths that each leads to."""
    chain, own = _chain(path), os.path.dirname(path)
    paths, given_in = _option(chain, "paths")
    folder = _base_folder(chain) or os.path.dirname(given_in)
    return {
        pattern: [_full(folder, each).replace(_OWN_FOLDER, own, 1) for each in texts(spelled)]
        for pattern, spelled in table(paths).items()
    }


def leading(path: str) -> list[tuple[str, str]]:
    """The patterns of module names that a configuration has, each with one that it leads to. What
    is looked for by ``baseUrl`` comes last.
    """
    found = [(pattern, each) for pattern, paths in targets(path).items() for each in paths]
    folder = _base_of(path)
    return found if folder is None else [*found, ("*", f"{folder}/*")]


def led(pattern: str, target: str, name: str) -> str:
    """Where a pattern that covers a name leads it.

    >>> led("@/*", "/ws/src/*", "@/lib/a")
    '/ws/src/lib/a'
    """
    before, _, after = pattern.partition("*")
    return target.replace("*", name[len(before) : len(name) - len(after)], 1)


def covers(pattern: str, name: str) -> bool:
    """Whether a pattern with at most one star stands for a name."""
    before, star, after = pattern.partition("*")
    return name.startswith(before) and name.endswith(after) if star else pattern == name


def _base_folder(chain: Sequence[tuple[str, Mapping[str, Any]]]) -> str | None:
    """The folder that ``baseUrl`` names."""
    base, given_in = _option(chain, "baseUrl")
    return _full(os.path.dirname(given_in), base) if isinstance(base, str) else None


def _base_of(path: str) -> str | None:
    """The folder that ``baseUrl`` names in a configuration, or in one that it extends."""
    folder = _base_folder(_chain(path))
    return None if folder is None else folder.replace(_OWN_FOLDER, os.path.dirname(path), 1)


def _option(chain: Sequence[tuple[str, Mapping[str, Any]]], name: str) -> tuple[Any, str]:
    """The nearest value of a compiler option, and the file that gives it."""
    for file, value in chain:
        options = table(value.get("compilerOptions"))
        if name in options:
            return options[name], file
    return None, ""


def _full(folder: str, name: str) -> str:
    """A path that is spelled from a folder, or from that of whoever extends the configuration."""
    is_own = name.partition("/")[0] == _OWN_FOLDER
    return posixpath.normpath(name) if is_own else joined(folder, name)


def is_twin(path: str, names: Container[str]) -> bool:
    """Whether another of the names in the folder of a file stands for the same module."""
    name = os.path.basename(path)
    match = _MODULE.fullmatch(name)
    if match is None:
        return False
    endings = (".d.ts", ".d.mts", ".d.cts", *_TYPESCRIPT, *_JAVASCRIPT)
    return any(match[1] + end in names for end in endings if match[1] + end != name)


def mapped(path: str) -> list[str]:
    """The patterns of module names for which a configuration names paths."""
    tables = (table(value.get("compilerOptions")).get("paths") for _, value in _chain(path))
    return next((list(table) for table in tables if isinstance(table, dict)), [])


def _chain(path: str, asked: set[str] | None = None) -> list[tuple[str, Mapping[str, Any]]]:
    """A configuration and all that it extends, nearest first; what is not there says nothing.

    The files that are looked for are added to ``asked``.
    """
    own = table(read_json(path, comments=True))
    return [(path, own), *_bases(path, own, {path}, set() if asked is None else asked, 0)]


def _bases(
    path: str, value: Mapping[str, Any], seen: set[str], asked: set[str], depth: int
) -> list[tuple[str, Mapping[str, Any]]]:
    """What a configuration extends, nearest first. Packages are looked for upwards.

    Each file counts where it is nearest, and is read once: a list of files that extend each other
    would take a lifetime otherwise.
    """
    if depth > _MAX_EXTENDS:
        return []
    named = value.get("extends")
    names = [named] if isinstance(named, str) else texts(named)
    found: list[tuple[str, Mapping[str, Any]]] = []
    for name in reversed(names):
        for candidate in _candidates(os.path.dirname(path), name):
            asked.add(candidate)
            if candidate in seen:
                break
            base = read_json(candidate, comments=True)
            if isinstance(base, dict):
                seen.add(candidate)
                found.append((candidate, base))
                found += _bases(candidate, base, seen, asked, depth + 1)
                break
    return found


def _candidates(folder: str, name: str) -> list[str]:
    if name.startswith((".", "/")):
        path = joined(folder, name)
        return [path] if path.endswith(".json") else [f"{path}.json", f"{path}/tsconfig.json"]
    found: list[str] = []
    for _ in range(_MAX_CLIMB):
        base = f"{folder}/node_modules/{name}"
        found += [base] if base.endswith(".json") else [f"{base}.json", f"{base}/tsconfig.json"]
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    return found


def _references(path: str, own: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    for reference in own.get("references") or ():
        target = reference.get("path") if isinstance(reference, Mapping) else None
        if isinstance(target, str):
            full = joined(os.path.dirname(path), target)
            found.append(full if full.endswith(".json") else f"{full}/tsconfig.json")
    return found


def _first(chain: list[tuple[str, Mapping[str, Any]]], key: str) -> tuple[Any, str]:
    """The nearest value of a key, and the folder its paths are relative to."""
    for path, value in chain:
        if isinstance(value.get(key), list):
            return value[key], os.path.dirname(path)
    return None, ""
