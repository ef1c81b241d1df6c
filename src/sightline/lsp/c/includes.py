"""Where C and C++ files include from, told from the includes themselves.

A project without a compilation database does not say in which folders its headers are looked for.
Without them a server finds no declaration, and the uses of what is declared there are missing from
its answers in silence. So every include that does not lie beside its file is looked for among the
project's own files, and the folder that makes it work is taken. It is a guess, and made to do no
harm: such folders are searched last, those that would hide a header of the system after its own,
and no header is guessed outside the project. What a file includes from there by a path of its own,
or by a flag of the project, is read to know what it brings in. What is found nowhere is named,
because answers that need it are incomplete.

A flag may have a file included that does not say so, and an include may leave its name to a macro.
What a file, or a flag for it, defines that macro as counts as included there: whoever uses the
macro has that file, too. Where no text says what it stands for, it may be any header.

What a server kept says which file included which, too; but of a header only as one source had it,
and nothing of what flags include.
"""

import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import NamedTuple

from sightline.contract.canonical import sha256_hex
from sightline.contract.uris import is_under
from sightline.lsp.c.directives import Included, directives, looked_for, macros, needed
from sightline.lsp.c.preprocessor import HEADERS
from sightline.lsp.files.reading import read_text
from sightline.lsp.project.projects import Project
from sightline.workspace.tree import Stamp, stamp_of

__all__ = ["ByFlags", "Includes", "IncludesOf", "nearest_first"]

#: What an include stands for of which nobody knows the name.
_ANYTHING = "*"
#: By file: what is included by flags for it, each with the macro that names it, or without one.
ByFlags = Mapping[str, Sequence[tuple[str, str]]]
#: One that does not end, ends with the text: nothing is looked through twice.
_COMMENT = r"(?s:/\*.*?(?:\*/|\Z))"
#: Where a compiler looks by itself.
_SYSTEM = (
    "/usr/local/include",
    "/usr/include",
    "/usr/include/*-linux-*",
    "/usr/include/c++/*",
    "/usr/include/*/c++/*",
    "/usr/lib/gcc/*/*/include",
)
#: What every compiler brings, wherever that lies.
_OF_COMPILERS = frozenset(
    """
    float.h iso646.h limits.h stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h
    stdnoreturn.h tgmath.h
    """.split()
)
#: So deep are files followed that are included and have no name of the language's.
_DEEPEST = 4
_MAX_FILES = 20_000
_MAX_BYTES = 4 << 20
#: Where what the system brings lies: it changes when somebody installs something.
_OF_SYSTEM = ("/usr/", "/lib/", "/opt/")
#: So many places outside the project are looked at.
_MAX_OUTSIDE = 5_000
#: Texts of so many bytes are kept of a project, packed.
_MOST_KEPT = 32 << 20
#: A command line has room for so many folders.
_MAX_FOLDERS = 64


class IncludesOf(NamedTuple):
    """What was found out about a project."""

    #: Folders to look in besides a file's own.
    folders: tuple[str, ...] = ()
    #: Those of them that have to come after the system's: they have a name that the system has.
    hiding: frozenset[str] = frozenset()
    #: Headers that are needed and neither the project nor the system has, sorted.
    missing: tuple[str, ...] = ()
    #: Every include that occurs. A new one may need another folder.
    spelled: frozenset[str] = frozenset()
    #: The files of the project that each include may mean, and the includes of each file.
    meant: Mapping[str, Sequence[str]] = {}
    files: Mapping[str, frozenset[str]] = {}
    #: Those of them that a file does not spell itself.
    unspelled: Mapping[str, AbstractSet[str]] = {}
    #: What each file says, in short.
    digests: Mapping[str, str] = {}
    #: Every place outside the project where an include was looked for.
    outside: frozenset[str] = frozenset()
    #: Files with a condition that depends on what a file of the project defines.
    decided_elsewhere: frozenset[str] = frozenset()
    #: The includes of each file that hold under no condition.
    needs: Mapping[str, frozenset[str]] = {}
    #: The text of each source, packed, as far as there is room for them.
    texts: Mapping[str, bytes] = {}
    #: What each file has opened in any way, by name.
    opened: Mapping[str, AbstractSet[str]] = {}

    def meanings(self) -> dict[str, str]:
        """For every include, something that differs when it brings in something else."""
        return {
            include: sha256_hex("\n".join(f"{path} {self.digests.get(path)}" for path in paths))[
                :16
            ]
            for include, paths in self.meant.items()
        }

    def brought_by(self, includes: Iterable[str]) -> set[str]:
        """The files of the project that these includes may bring in, with all they include."""
        brought: set[str] = set()
        waiting, known = list(includes), set(includes)
        while waiting:
            include = waiting.pop()
            paths = self.meant.get(include)
            if paths is None:  # nobody spells it any more
                end = f"/{include[1:].rpartition('../')[2]}"
                paths = [path for path in self.files if path.endswith(end)]
            for path in paths:
                brought.add(path)
                further = self.files.get(path, frozenset()) - known
                known |= further
                waiting.extend(further)
        return brought

    def surely_read_by(self, files: Iterable[str]) -> frozenset[str]:
        """Files and those of the project that they include, as far as no other can be meant."""
        read = set(files)
        waiting = list(read)
        while waiting:
            path = waiting.pop()
            folder = path.rpartition("/")[0]
            for include in self.needs.get(path, ()):
                found = self._surely_means(include, folder)
                if found is not None and found not in read:
                    read.add(found)
                    waiting.append(found)
        return frozenset(read)

    def _surely_means(self, include: str, folder: str) -> str | None:
        if include.startswith('"'):
            beside = os.path.normpath(f"{folder}/{include[1:]}")
            if beside in self.files:
                return beside
        paths = self.meant.get(include, ())
        return paths[0] if len(paths) == 1 else None

    def reached_by(self, includes: Iterable[str]) -> set[str]:
        """The files that one of these includes occurs in, and all that include them in turn."""
        users: dict[str, list[str]] = {}
        for path, occurring in self.files.items():
            for include in occurring:
                users.setdefault(include, []).append(path)
        naming: dict[str, list[str]] = {}
        for include, paths in self.meant.items():
            for path in paths:
                naming.setdefault(path, []).append(include)
        reached: set[str] = set()
        waiting, known = list(includes), set(includes)
        while waiting:
            for path in users.get(waiting.pop(), ()):
                reached.add(path)
                further = [each for each in naming.get(path, ()) if each not in known]
                known.update(further)
                waiting.extend(further)
        return reached

    def including(self, files: Iterable[str]) -> frozenset[str]:
        """Files, with all that may include them, or what includes them."""
        wanted = frozenset(files)
        if not wanted:
            return wanted
        naming = [i for i, paths in self.meant.items() if not wanted.isdisjoint(paths)]
        return wanted | self.reached_by(naming)


class _Seen(NamedTuple):
    stamp: Stamp | None
    spelled: frozenset[str]
    needed: frozenset[str]
    #: What the file says, in short.
    digest: str
    #: The names that its conditions depend on, and the macros it defines, but for its guard.
    conditions: frozenset[str] = frozenset()
    defined: frozenset[str] = frozenset()
    #: The macros that its includes leave their names to, and what it defines macros as.
    wanted: frozenset[str] = frozenset()
    literals: tuple[tuple[str, str], ...] = ()
    #: Its text, packed, if it is a source.
    text: bytes = b""
    #: What it has opened without including it.
    looked_for: frozenset[str] = frozenset()


class Includes:
    """Remembers what every file includes, so that only changed ones are read again."""

    def __init__(self) -> None:
        #: By the folder of a project and the path of a file.
        self._known: dict[str, dict[str, _Seen]] = {}

    def of(
        self, project: Project, folders: Sequence[str] = (), flags: ByFlags | None = None
    ) -> IncludesOf:
        """What the files of a project include. Its flags name these folders, and include this."""
        before, tree = self._known.get(project.folder, {}), project.projects.tree()
        seen: dict[str, _Seen] = {}
        users: dict[str, set[str]] = {}
        musts: dict[str, list[str]] = {}
        room = _MOST_KEPT

        def read(path: str, *, keep: bool) -> int:
            folder, _, name = path.rpartition("/")
            stamp, known = tree.get(folder, {}).get(name), before.get(path)
            if known is None or known.stamp != stamp:
                known = _look(stamp, path, keep=keep)
            seen[path] = known
            for include in known.spelled:
                users.setdefault(include, set()).add(folder)
            for include in known.needed:
                musts.setdefault(include, []).append(path)
            return len(known.text)

        files = project.files()[:_MAX_FILES]
        sources = {path for path in files if not path.lower().endswith(HEADERS)}
        for path in files:
            room -= read(path, keep=room > 0 and path in sources)
        # What is included may have any name: a table of macros, a part of a template.
        for _ in range(_DEEPEST):
            unspelled = _unspelled(seen, flags or {})
            for path, includes in unspelled.items():
                for include in includes - {_ANYTHING}:
                    users.setdefault(include, set()).add(path.rpartition("/")[0])
            there = _there(project, users)
            others = {path for include in users for path in there(include)} - seen.keys()
            for path in sorted(others)[: max(0, _MAX_FILES - len(seen))]:
                read(path, keep=False)
            if not others:
                break
        outside = _Outside(project, folders, before)
        for path in list(seen):
            outside.follow(path, seen[path].spelled | unspelled.get(path, set()) - {_ANYTHING})
        known = self._known[project.folder] = seen | outside.seen
        there, system = _there(project, users), _system_folders()
        missing = (
            include[1:]
            for include, paths in musts.items()
            if not there(include)
            and not outside.found.get(include)
            and not _of_system(include, system)
            and any(_meant(include, p) for p in paths)
        )
        folders = _folders(users, there)
        used = any(_ANYTHING in includes for includes in unspelled.values())
        anything = {_ANYTHING: sorted(known.keys() - sources)} if used else {}
        files_include = {p: each.spelled | unspelled.get(p, set()) for p, each in known.items()}
        return IncludesOf(
            folders,
            _hiding(folders, system),
            tuple(sorted(set(missing))),
            frozenset(users),
            {
                include: [*there(include), *sorted(outside.found.get(include, ()))]
                for include in outside.spelled().union(users)
            }
            | anything,
            files_include,
            unspelled,
            {path: each.digest for path, each in known.items()},
            frozenset(outside.looked),
            _decided_elsewhere(known),
            {path: each.needed for path, each in known.items()},
            {path: each.text for path, each in seen.items() if each.text},
            {path: has | known[path].looked_for for path, has in files_include.items()},
        )


def _decided_elsewhere(seen: Mapping[str, _Seen]) -> frozenset[str]:
    defined = frozenset({"\\"}).union(*(each.defined for each in seen.values()))
    return frozenset(path for path, each in seen.items() if each.conditions & defined)


class _Outside:
    """The headers outside a project that its files reach.

    In the repository that the root is a part of each is read once, and what it includes is looked
    for in turn. Anywhere else it is only seen that a file is there, and whether it changed.
    """

    def __init__(
        self, project: Project, folders: Sequence[str], before: Mapping[str, _Seen]
    ) -> None:
        self.seen: dict[str, _Seen] = {}
        self.looked: set[str] = set()
        #: Where each include was found.
        self.found: dict[str, set[str]] = {}
        self._top, self._before = project.folder, before
        self._repository = project.projects.root.outermost
        self._asked: set[tuple[str, str]] = set()
        self._folders = [folder for folder in folders if self._is_outside(folder)]

    def follow(self, path: str, includes: Iterable[str]) -> None:
        """Looks for what a file includes, and for what that includes in turn."""
        if not self._folders:  # then only a path that climbs leads out
            includes = [include for include in includes if include.startswith('"../')]
        # In one order in every process: there is a limit.
        waiting = [(os.path.dirname(path), include) for include in sorted(includes)]
        while waiting and len(self.looked) < _MAX_OUTSIDE:
            folder, include = question = waiting.pop()
            if question in self._asked:
                continue
            self._asked.add(question)
            for header in self._places(folder, include):
                new = header not in self.looked
                self.looked.add(header)
                if new:
                    self._read(header)
                if header in self.seen:
                    self.found.setdefault(include, set()).add(header)
                    if new:
                        its = os.path.dirname(header)
                        waiting += [(its, each) for each in sorted(self.seen[header].spelled)]

    def spelled(self) -> frozenset[str]:
        return frozenset[str]().union(*(each.spelled for each in self.seen.values()))

    def _places(self, own: str, include: str) -> Iterator[str]:
        """Where an include of a file in a folder may lie outside."""
        folders = [own, *self._folders] if include[0] == '"' else self._folders
        for folder in folders:
            place = os.path.normpath(f"{folder}/{include[1:]}")
            if self._is_outside(place):
                yield place

    def _is_outside(self, path: str) -> bool:
        return not is_under(path, self._top) and not path.startswith(_OF_SYSTEM)

    def _read(self, header: str) -> None:
        real = os.path.realpath(header)
        stamp, known = stamp_of(real), self._before.get(header)
        if stamp is None:
            return
        if known is None or known.stamp != stamp:
            known = (
                _look(stamp, real)
                if is_under(real, self._repository)
                else _Seen(stamp, frozenset(), frozenset(), f"{stamp.size} {stamp.mtime_ns}")
            )
        self.seen[header] = known


def _look(stamp: Stamp | None, path: str, *, keep: bool = False) -> _Seen:
    whole = read_text(path, _MAX_BYTES) or ""
    included, text = Included.by(whole), directives(whole)
    return _Seen(
        stamp,
        included.spelled,
        needed(text),
        sha256_hex(whole)[:16],
        *macros(text),
        included.wanted,
        included.literals,
        zlib.compress(whole.encode(), 1) if keep else b"",
        looked_for(whole),
    )


def _unspelled(seen: Mapping[str, _Seen], flags: ByFlags) -> dict[str, set[str]]:
    """The includes that files have by flags and by macros."""
    wanted = frozenset({""}).union(*(each.wanted for each in seen.values()))
    found: dict[str, set[str]] = {}
    known: set[str] = set()
    for path, each in seen.items():
        for macro, include in (*each.literals, *flags.get(path, ())):
            if macro in wanted:
                known.add(macro)
                found.setdefault(path, set()).add(include)
    for path, each in seen.items():
        if each.wanted - known:
            found.setdefault(path, set()).add(_ANYTHING)
    return found


def nearest_first(folders: Iterable[str], file: str) -> list[str]:
    """The folders as one file should look in them: of two headers of a name the nearer is meant."""
    return sorted(folders, key=lambda folder: (-_shared(folder, file), len(folder), folder))


def _there(project: Project, users: Iterable[str]) -> Callable[[str], list[str]]:
    """A function that says which files of the project an include may mean."""
    wanted = {include[1:].rpartition("/")[2] for include in users}
    named: dict[str, list[str]] = {}
    for path, name in project.walk():
        if name in wanted:
            named.setdefault(name, []).append(path)

    def there(include: str) -> list[str]:
        name = include[1:].lstrip("/")
        while name.startswith("../"):
            name = name[3:]
        return [p for p in named.get(name.rpartition("/")[2], ()) if p.endswith(f"/{name}")]

    return there


def _folders(users: Mapping[str, set[str]], there: Callable[[str], list[str]]) -> tuple[str, ...]:
    """The folders in which the includes are found that are not found without any."""
    uses: dict[str, int] = {}
    for include, folders in users.items():
        mark, name = include[0], include[1:]
        paths = there(include)
        for folder in folders if paths else ():
            if mark == '"' and os.path.normpath(f"{folder}/{name}") in paths:
                continue
            found, _, last = nearest_first(paths, folder)[0].rpartition(f"/{name}")
            if found and not last:  # one that climbs is found beside its file, or not at all
                uses[found] = uses.get(found, 0) + 1
    most = sorted(uses, key=lambda folder: (-uses[folder], folder))
    return tuple(sorted(most[:_MAX_FOLDERS]))


def _hiding(folders: Iterable[str], system: Iterable[str]) -> frozenset[str]:
    """The folders in which something has the name of what the system has: looked in first, they
    would hide that from its own headers.
    """
    names = _OF_COMPILERS.union(chain.from_iterable(map(_names_in, system)))
    if names == _OF_COMPILERS:
        return frozenset(folders)  # nobody knows what the system has
    return frozenset(folder for folder in folders if not names.isdisjoint(_names_in(folder)))


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _meant(include: str, path: str) -> bool:
    """Whether a file needs an include, and not only in a comment."""
    return include in needed(re.sub(_COMMENT, " ", read_text(path, _MAX_BYTES) or ""))


def _system_folders() -> list[str]:
    from glob import glob

    return [folder for pattern in _SYSTEM for folder in sorted(glob(pattern))]


def _of_system(include: str, folders: Iterable[str]) -> bool:
    """Whether a header is the system's, or may be where its folders are not known."""
    if not folders:
        return include[0] == "<"
    return any(os.path.isfile(f"{folder}/{include[1:]}") for folder in folders)


def _shared(one: str, other: str) -> int:
    """How many folders two paths have in common, from the top."""
    count = 0
    for mine, theirs in zip(one.split("/"), other.split("/"), strict=False):
        if mine != theirs:
            break
        count += 1
    return count
