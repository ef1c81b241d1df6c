"""Which files must be open so that a TypeScript server sees every project of a folder.

A server loads the project of a file when the file is opened: the nearest ``tsconfig.json`` or
``jsconfig.json`` above it, or one that this refers to. So one file per project is held open. A file
that no such project includes is loose: it is known to nobody until it is opened, or named by a file
that is. Opening a thousand of them makes a server load a thousand times, so they are named by one
document that is in memory only. Whether a project includes a file is decided from ``files``,
``include``, ``exclude`` and ``extends``; in doubt it is loose: naming one file too many does
no harm. Where a configuration cannot be read, or servers make different things of it, its files are
loose, and some are opened besides: what it says may hold for them.
"""

import json
import os
import posixpath
import re
from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct

from sightline.contract.uris import above
from sightline.lsp.files.reading import names_in, table, texts
from sightline.lsp.typescript.extending import OWN_FOLDER, Chain, chain_of, from_own_folder
from sightline.lsp.typescript.held_open import HeldOpen, can_be_named
from sightline.lsp.typescript.path_patterns import (
    expression_of,
    fills,
    fixed_part,
    is_refused,
    joined,
)
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
    "reachable",
]

#: In the order in which servers look for them.
CONFIGURATIONS = ("tsconfig.json", "jsconfig.json")
_TYPESCRIPT = (".ts", ".tsx", ".mts", ".cts")
_JAVASCRIPT = (".js", ".jsx", ".mjs", ".cjs")
#: Of files that one name stands for, a project includes the first that is there.
_PREFERRED = (
    (".ts", ".tsx", ".d.ts", ".js", ".jsx"),
    (".mts", ".d.mts", ".mjs"),
    (".cts", ".d.cts", ".cjs"),
)
_MODULE = re.compile(r"(.+?)(?:\.d)?\.[cm]?[jt]sx?")
_MAX_CLIMB = 64
#: What begins with it comes after all that is below a folder.
_AFTER_SLASH = chr(ord("/") + 1)


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
    #: Those of them that are there and cannot be read.
    unread: frozenset[str] = frozenset()
    #: Whether every server reads it like this.
    is_sure: bool = True
    #: What it includes by its patterns is one of these paths, or below one.
    homes: frozenset[str] = frozenset()

    def includes(self, file: str) -> bool:
        """Whether the project includes a file by its path, as far as it can be read."""
        if file in self.listed:
            return True
        if not file.endswith(self.extensions) or file.endswith(".min.js"):
            return False
        # What cannot be read includes nothing for sure, and may exclude anything.
        return any(each is not None and fills(each, file) for each in self.include) and not any(
            each is None or fills(each, file) for each in self.exclude
        )

    def included(self, files: Sequence[str]) -> Iterator[str]:
        """The sorted files that the project includes, some of them twice. It looks only where they
        may be, since there may be as many projects as folders.
        """
        yield from (file for file in self.listed if any(_between(files, file, f"{file}\0")))
        for home in self.homes:
            if self.homes.isdisjoint(islice(above(home), 1, None)):
                near = (
                    _between(files, home, f"{home}\0"),
                    _between(files, f"{home}/", f"{home}{_AFTER_SLASH}"),
                )
                yield from (file for part in near for file in part if self.includes(file))


def _between(files: Sequence[str], first: str, end: str) -> Sequence[str]:
    return files[bisect_left(files, first) : bisect_left(files, end)]


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
    files = sorted(files)
    everything = frozenset(files)
    opened: dict[str, str] = {}
    tried: dict[tuple[str, str], str] = {}
    found: list[str] = []
    loose: list[str] = []
    for file in files:
        owner = owners.of(file)
        if owner is None or not owner.is_sure or _gives_way(file, everything):
            (loose if can_be_named(file) else found).append(file)
        if owner is None or not can_be_shown(file):
            continue
        opened.setdefault(owner.path, file)
        if not owner.is_sure:
            tried.setdefault((owner.path, _first_folder(file, owner.path)), file)
    # What others extend is loaded before them: once tsgo has read a configuration for another one,
    # it hears of no new files in the project that it makes itself.
    chains = {path: [base for base, _ in chain_of(path)] for path in opened}
    found += [opened[path] for path in sorted(opened, key=lambda path: (len(chains[path]), path))]
    found += tried.values()
    extended = {base for chain in chains.values() for base in chain[1:] if base in opened}
    if reword:
        for path in filter(os.path.isfile, outer):
            _reachable(path, known)
    read_from = [each.decided_by for each in known.values()]
    spelled = {file for path in known for file, _ in chain_of(path)} if reword else set()
    reworded = _reworded(spelled, known)
    return HeldOpen(
        tuple(dict.fromkeys(found)),
        tuple(loose),
        frozenset[str]().union(*read_from),
        reworded,
        frozenset(extended),
        frozenset[str]().union(*(each.unread for each in known.values())),
    )


def _gives_way(file: str, files: Container[str]) -> bool:
    """Whether a project may include another file instead, for which the same name stands.

    >>> _gives_way("/a.js", {"/a.ts", "/a.js"}), _gives_way("/a.ts", {"/a.ts", "/a.js"})
    (True, False)
    """
    stem, ending = os.path.splitext(file)
    if ending.endswith("ts") and stem.endswith(".d"):
        stem, ending = stem[:-2], f".d{ending}"
    preferred = [order[: order.index(ending)] for order in _PREFERRED if ending in order]
    return any(f"{stem}{other}" in files for order in preferred for other in order)


def _first_folder(file: str, configuration: str) -> str:
    """The first folder on the way from a configuration to a file."""
    return (
        os.path.relpath(file, os.path.dirname(configuration)).rpartition("/")[0].partition("/")[0]
    )


def _reworded(files: Iterable[str], projects: Container[str]) -> tuple[tuple[str, str], ...]:
    """Configurations with the text that the server has of them in memory, in the order in which it
    is to be shown them.

    What others extend comes before them, also if it is a project that is shown as it is.
    """
    chains = {file: chain_of(file) for file in files}
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
    """A configuration with everything it extends. One that is not there includes nothing."""
    asked: set[str] = {path}
    unread: set[str] = set()
    chain, own = chain_of(path, asked, unread), os.path.dirname(path)
    fields = {key: _first(chain, key) for key in ("files", "include", "exclude")}
    options = {name: _option(chain, name) for name in ("outDir", "declarationDir")}
    is_sure = not unread
    # Of what holds another kind of value than it should, servers do not make the same.
    is_sure &= all(texts(value) == value for value, folder in fields.values() if folder)
    is_sure &= all(isinstance(value, str) for value, file in options.values() if file)
    named = chain[0][1].get("references", [])
    is_sure &= isinstance(named, list) and all(isinstance(each, Mapping) for each in named)
    listed, listed_at = fields["files"]
    include, include_at = fields["include"]
    exclude, exclude_at = fields["exclude"]
    if not isinstance(listed, list) and not isinstance(include, list):
        include, include_at = ["**/*"] if os.path.isfile(path) else [], own
    excluded = [(pattern, exclude_at) for pattern in texts(exclude)]
    if not isinstance(exclude, list):
        given = [(out, os.path.dirname(at)) for out, at in options.values() if isinstance(out, str)]
        excluded = [(joined(folder, from_own_folder(out, own)), own) for out, folder in given]
    allows, given_in = _option(chain, "allowJs")
    if not given_in:
        allows = path.endswith("/jsconfig.json") or _option(chain, "checkJs")[0]
    return Configuration(
        path,
        frozenset(joined(listed_at, from_own_folder(name, own)) for name in texts(listed)),
        _expressions([(pattern, include_at) for pattern in texts(include)], own, files=True),
        _expressions(excluded, own, files=False),
        _TYPESCRIPT + (_JAVASCRIPT if allows is True else ()),
        tuple(_references(path, chain[0][1])),
        frozenset(asked),
        frozenset(unread),
        is_sure,
        frozenset(
            fixed_part(from_own_folder(pattern, own), include_at) for pattern in texts(include)
        ),
    )


def _expressions(
    patterns: Iterable[tuple[str, str]], own: str, *, files: bool
) -> tuple[Expression | None, ...]:
    """Patterns, each with the folder that it is spelled from, as expressions."""
    return tuple(
        expression_of(from_own_folder(pattern, own), folder, files=files)
        for pattern, folder in patterns
        if not is_refused(pattern, files=files)
    )


def without_base_url(path: str) -> str | None:
    """A configuration that says with ``paths`` what it says with ``baseUrl``, if it does.

    Patterns lead from that folder, also where it is named by another file that this one extends. A
    name that none stands for is looked for in it, then among packages. What a configuration does
    not say itself it still gets from the one it extends.
    """
    chain = chain_of(path)
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


def reachable(path: str) -> list[str]:
    """A configuration and all that it refers to."""
    return [each.path for each in _reachable(path, {})]


def _one_step_below(folder: str) -> list[str]:
    places = (f"{folder}/{name}/{CONFIGURATIONS[0]}" for name in sorted(names_in(folder)))
    return [path for path in places if "/node_modules/" not in path and os.path.isfile(path)]


def option(path: str, name: str) -> Any:  # noqa: ANN401 - any JSON
    """What a configuration, or one that it extends, says of a compiler option."""
    return _option(chain_of(path), name)[0]


def folder_option(path: str, name: str) -> str | None:
    """The folder that a compiler option names."""
    value, given_in = _option(chain_of(path), name)
    if not isinstance(value, str) or not value:
        return None
    return _full(os.path.dirname(given_in), value).replace(OWN_FOLDER, os.path.dirname(path), 1)


def targets(path: str) -> dict[str, list[str]]:
    """The patterns of module names that a configuration has, and the paths that each leads to."""
    chain, own = chain_of(path), os.path.dirname(path)
    paths, given_in = _option(chain, "paths")
    folder = _base_folder(chain) or os.path.dirname(given_in)
    return {
        pattern: [_full(folder, each).replace(OWN_FOLDER, own, 1) for each in texts(spelled)]
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


def _base_folder(chain: Chain) -> str | None:
    """The folder that ``baseUrl`` names."""
    base, given_in = _option(chain, "baseUrl")
    return _full(os.path.dirname(given_in), base) if isinstance(base, str) else None


def _base_of(path: str) -> str | None:
    """The folder that ``baseUrl`` names in a configuration, or in one that it extends."""
    folder = _base_folder(chain_of(path))
    return None if folder is None else folder.replace(OWN_FOLDER, os.path.dirname(path), 1)


def _option(chain: Chain, name: str) -> tuple[Any, str]:
    """The nearest value of a compiler option, and the file that gives it."""
    for file, value in chain:
        options = table(value.get("compilerOptions"))
        if name in options:
            return options[name], file
    return None, ""


def _full(folder: str, name: str) -> str:
    """A path that is spelled from a folder, or from that of whoever extends the configuration."""
    if name.startswith(OWN_FOLDER):
        return posixpath.normpath(from_own_folder(name, OWN_FOLDER))
    return joined(folder, name)


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
    tables = (table(value.get("compilerOptions")).get("paths") for _, value in chain_of(path))
    return next((list(table) for table in tables if isinstance(table, dict)), [])


def _references(path: str, own: Mapping[str, Any]) -> list[str]:
    references = own.get("references")
    named = references if isinstance(references, list) else []
    spelled = [each.get("path") for each in named if isinstance(each, Mapping)]
    found = [joined(os.path.dirname(path), name) for name in spelled if isinstance(name, str)]
    return [each if each.endswith(".json") else f"{each}/tsconfig.json" for each in found]


def _first(chain: Chain, key: str) -> tuple[Any, str]:
    """The nearest value of a field, and the folder its paths are relative to."""
    for path, value in chain:
        if key in value:
            return value[key], os.path.dirname(path)
    return None, ""
