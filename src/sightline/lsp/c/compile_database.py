"""The compilation database a C or C++ server works with, kept outside the workspace.

The server puts its index beside the database, so it never gets the project's own file: the entries
of every ``compile_commands.json`` in the project are copied, and a project that has none gets one
entry per source file with the flags of the nearest ``compile_flags.txt``, or else with the folders
that its includes are found in. Flags of a project that nobody trusted are made anew from those that
are known to do no harm. Entries whose file is not there are left out: the server would go
on answering from what it once knew about them. It would also go on believing what it made of a
file with other flags, so a flag that changes ends the index.
"""

import json
import os
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import NamedTuple

from sightline.contract.canonical import sha256_hex
from sightline.contract.texts import listed
from sightline.contract.uris import above
from sightline.lsp.c import kept_index
from sightline.lsp.c.clangd_configuration import NAME as _CONFIGURATION
from sightline.lsp.c.compile_commands import CommandFiles
from sightline.lsp.c.compiler_flags import Flags, split
from sightline.lsp.c.directives import straight
from sightline.lsp.c.endless import Endless, leads_nowhere
from sightline.lsp.c.includes import Includes, IncludesOf, nearest_first
from sightline.lsp.c.kept_index import KeptIndex
from sightline.lsp.c.outside_bodies import only_adds_functions, outside_bodies
from sightline.lsp.c.own_entries import Entry, OwnEntries
from sightline.lsp.c.parts import Parts
from sightline.lsp.c.preprocessor import HEADERS
from sightline.lsp.files.reading import read_text
from sightline.lsp.project.projects import Project
from sightline.lsp.shortcomings import Shortcoming

__all__ = ["NAMES", "UNTRUSTED", "Database", "write"]

NAMES = ("compile_commands.json", "compile_flags.txt")
_C = (".c",)
_PLAIN_NAME = "cc"
#: A longer source is read again as a whole: what changed in it takes as long to find out.
_MOST = 1 << 20
#: What was added takes several times longer to find out, while nobody else is answered.
_MOST_ADDED_TO = 256 << 10
#: So many headers are named in a sentence.
_NAMED = 4
#: When what a project says is not used: the end of a sentence.
UNTRUSTED = "before this folder is trusted (sightline trust)"
_TRUST = "if you trust what is in it: sightline trust ROOT"
_HOW = "cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, or bear -- make"
_FIX = f"make a compile_commands.json: {_HOW}"
_ANEW = f"make it anew: {_HOW}"
_HERE = f"make it in this folder, outside of a container: {_HOW}"
_NO_FILE = "take that include out, or put a file in its place"
_SMALLER = "open the part of the project that you work on as a root"

#: The longer ones first.
_FOLDER_OPTIONS = ("-idirafter", "-isystem", "-iquote", "-I")
#: Flags that have a file included, or define a macro as the name of one.
_INCLUDING = ("-include", "--include", "-imacros", "--imacros")
_MACRO = r'(?:-D)?(?P<macro>\w+)=(?P<name>["<][^<>"]+)[">]'


class Database(NamedTuple):
    """What a server was given."""

    #: The files in it.
    units: frozenset[str] = frozenset()
    #: The includes that its flags were made for; ``None`` where the project has flags of its own.
    includes: frozenset[str] | None = None
    #: The includes that each file spells.
    files: Mapping[str, frozenset[str]] = {}
    #: The text that each source had, packed, where it is kept.
    texts: Mapping[str, bytes] = {}
    #: The files that some include may mean.
    included: frozenset[str] = frozenset()
    #: The sources that include others.
    wholes: frozenset[str] = frozenset()
    #: The headers that they surely include, and that say the same wherever they are included.
    plain: frozenset[str] = frozenset()
    #: Headers that are needed and were not found, where the flags were made here.
    missing: tuple[str, ...] = ()
    #: How many sources of the project its own database does not have.
    unread: int = 0
    #: Whether one of them is included by another. A server that has just read such a project does
    #: not know what it read of the one in the other; it does once it loads what it kept.
    entangled: bool = False
    #: What it loads of what it has read before.
    kept: KeptIndex = KeptIndex()
    #: Every place outside the project where an include, or a database, was looked for.
    outside: frozenset[str] = frozenset()
    #: How many databases of the project are not read: too large, or no JSON.
    too_large: int = 0
    broken: int = 0
    #: How many entries of the others make no sense.
    senseless: int = 0
    #: Whether all that they name is somewhere else.
    elsewhere: bool = False
    #: How many flags of the project are not used, because nobody trusted it.
    unused: int = 0
    #: The files that reach what is no file by an include, which no server is given; and where that
    #: was found.
    endless: frozenset[str] = frozenset()
    nowhere: tuple[str, ...] = ()
    #: The folders that headers are looked for in.
    searched: tuple[str, ...] = ()
    #: The folder of the root.
    top: str = "/"

    @property
    def unfinished(self) -> bool:
        """Whether files that include other sources are left out, until those have been read."""
        return self.kept.unfinished

    def is_outdone(self, folder: str) -> bool:
        """Whether a server that was started with this knows less than it keeps there by now."""
        return self.kept.is_outdone(folder, self.units, entangled=self.entangled)

    def compiles(self, path: str) -> bool:
        """Whether a file is compiled by itself, and no other has it as a part."""
        return path in self.units and path not in self.included

    @property
    def harmless_to_open(self) -> frozenset[str]:
        """The files that a server reads in the same way when one is open: what it makes of an
        open part by itself would count instead of what the file that includes it makes of it.
        """
        return self.units - self.included or self.units

    def only_one_with(self, unit: str, includes: Iterable[str]) -> bool:
        """Whether no other file in the database has one of these includes."""
        others = [self.files.get(other, ()) for other in self.units if other != unit]
        return any(not any(include in each for each in others) for include in includes)

    def can_be_taken_in(self, unit: str, text: str) -> bool:
        """Whether a source says now what it said outside its function bodies, or has only functions
        more; not where nobody knows. A file that includes it is not read again by itself. And one
        that includes others is left out of the database for a while when the next server of this
        folder starts, which must not be this one's.
        """
        packed = self.texts.get(unit)
        if packed is None or unit in self.included or unit in self.wholes or len(text) > _MOST:
            return False
        before = zlib.decompress(packed).decode()
        said = outside_bodies(before)
        if said == "" or outside_bodies(text) == said:
            return said != ""
        return len(text) <= _MOST_ADDED_TO and only_adds_functions(before, text)

    def lead_nowhere(self) -> tuple[str, ...]:
        """The places that were found to be no files and still are none. Looks at the disk."""
        return tuple(filter(leads_nowhere, self.nowhere))

    def would_lead_nowhere(self, path: str, includes: Collection[str]) -> bool:
        """Whether a file that has these includes reaches what is no file. Looks at the disk."""
        return bool(includes and Endless(self.searched, self.top).among({path: includes}))

    def shortcomings(self) -> list[Shortcoming]:
        sentences = []
        if self.missing:
            names = listed(self.missing, _NAMED)
            sentences.append(f"Headers not found: {names}; what needs them may be missing.")
        if self.unread:
            sources = "1 source is" if self.unread == 1 else f"{self.unread} sources are"
            sentences.append(f"{sources} not in {NAMES[0]} and not read.")
        told = [Shortcoming(sentence, _FIX, by_name=True) for sentence in sentences]
        if self.endless:
            one = len(self.endless) == 1
            files = "1 file includes" if one else f"{len(self.endless)} files include"
            names = listed(_shown(self.nowhere), _NAMED)
            named = f" ({names})" if names else ""
            read = "is not read" if one else "are not read"
            sentence = f"{files} what is no file{named}, such as a pipe, and {read}."
            told.append(Shortcoming(sentence, _NO_FILE))
        if self.too_large:
            files = (
                f"A {NAMES[0]} is" if self.too_large == 1 else f"{self.too_large} {NAMES[0]} are"
            )
            told.append(Shortcoming(f"{files} too large and not read.", _SMALLER))
        if self.broken:
            files = f"A {NAMES[0]}" if self.broken == 1 else f"{self.broken} {NAMES[0]}"
            told.append(Shortcoming(f"{files} cannot be read.", _ANEW))
        if self.senseless:
            entries = "1 entry makes" if self.senseless == 1 else f"{self.senseless} entries make"
            told.append(Shortcoming(f"In {NAMES[0]} {entries} no sense.", _ANEW))
        if self.elsewhere:
            told.append(Shortcoming(f"{NAMES[0]} names no file of this folder.", _HERE))
        if self.unused:
            flags = (
                "1 compiler flag is" if self.unused == 1 else f"{self.unused} compiler flags are"
            )
            told.append(Shortcoming(f"{flags} not used {UNTRUSTED}.", _TRUST))
        return told


def write(
    project: Project,
    folder: str,
    includes: Includes,
    configurations: Iterable[str] = (),
    flags: Flags | None = None,
    *,
    readable: Sequence[str] | None = None,
    has_read_parts: bool = False,
) -> Database:
    """Writes the database into ``folder``. The server also reads these configurations. With
    ``flags`` the project's own are made anew. ``readable``: the only folders of users that it may
    read, if there is a limit. ``has_read_parts``: a server was given an unfinished one last, and
    has read all of it.
    """
    lines = {path: _flags(path) for path in _flag_files(project)}
    files = CommandFiles()
    entries, elsewhere = OwnEntries.of(
        project, files, project.named(NAMES[0]), _databases_above(project)
    )
    unused: set[str] = set()
    if flags is not None:
        lines, entries, unused = _harmless(project, lines, entries, flags)
    by_flags = _included_by_flags(project, lines, entries)
    named = _named_folders(lines, entries)
    told = includes.of(project, sorted(named), by_flags)
    configured = [f"{place}/{_CONFIGURATION}" for place in _above(project)]
    outside = told.outside.union(_databases_above(project), _flags_above(project), configured)
    copied = bool(entries)
    if not copied:
        entries = _made(project, told, lines)
    bases = {entry["directory"] for entry in entries.values()}
    searched = tuple(sorted({project.folder, *told.folders, *named, *bases}))
    nowhere = Endless(searched, project.projects.root.real)
    endless = told.including(nowhere.among(told.opened))
    entries = {path: entry for path, entry in entries.items() if path not in endless}
    parts = Parts.among(entries, told)
    commands = {unit: sha256_hex(json.dumps(entries[unit]))[:16] for unit in entries}
    kept = kept_index.forget(
        folder, commands, told, configurations, parts, readable=readable, has_read=has_read_parts
    )
    units = parts.first(entries) if kept.unfinished else frozenset(entries)
    given = json.dumps([entries[unit] for unit in sorted(units)], indent=1)
    kept_index.write(Path(folder, NAMES[0]), given)
    plain = told.surely_read_by(entries) - told.decided_elsewhere
    included = frozenset(chain.from_iterable(told.meant.values()))
    database = Database(
        units,
        files={
            path: has - told.unspelled.get(path, frozenset()) for path, has in told.files.items()
        },
        texts=told.texts,
        included=included,
        wholes=parts.wholes,
        plain=plain,
        entangled=bool(parts.parts),
        kept=kept,
        outside=outside,
        too_large=len(files.unread),
        broken=len(files.broken),
        senseless=files.senseless,
        elsewhere=elsewhere,
        unused=len(unused),
        endless=endless,
        nowhere=tuple(sorted(nowhere.places)),
        searched=searched,
        top=project.projects.root.real,
    )
    if copied:
        known = endless.union(entries)
        unread = len([path for path in _sources(project) if path not in known])
        return database._replace(unread=unread)
    # Flags of the project's own may name folders that are not looked into here.
    missing = () if lines else tuple(m for m in told.missing if m not in nowhere.names)
    return database._replace(includes=told.spelled, missing=missing)


def _shown(places: Iterable[str]) -> tuple[str, ...]:
    """Names that may be shown to people."""
    names = {os.path.basename(place) for place in places}
    return tuple(sorted(name for name in names if re.fullmatch(r"[\w.+-]{1,120}", name)))


def _sources(project: Project) -> Iterator[str]:
    """The files that are compiled by themselves."""
    return (path for path in project.files() if not path.lower().endswith(HEADERS))


def _harmless(
    project: Project,
    lines: Mapping[str, list[str]],
    entries: Mapping[str, Entry],
    flags: Flags,
) -> tuple[dict[str, list[str]], dict[str, Entry], set[str]]:
    """Flags and entries of a project that nobody trusted: made anew from what does no harm. And
    the flags that were left out, and could have changed an answer.
    """
    unused: set[str] = set()
    safe_lines: dict[str, list[str]] = {}
    for path, words in lines.items():
        line = flags.rebuilt([_PLAIN_NAME, *words], os.path.dirname(path))
        safe_lines[path] = list(line.words[1:])
        unused |= line.unused
    safe: dict[str, Entry] = {}
    tree = project.projects.tree()
    for path, entry in entries.items():
        folder, _, name = path.rpartition("/")
        # A folder that is not in the tree was reached by a link; a language that is not the
        # server's makes the compiler look for other tools.
        if folder not in tree or not flags.is_among(path) or not project.speaks(name):
            continue
        line = flags.rebuilt(_words(entry), entry["directory"])
        inside = flags.is_among(entry["directory"])
        safe[path] = {
            "directory": entry["directory"] if inside else project.folder,
            "file": path,
            "arguments": [*line.words, "-c", path],
        }
        unused |= line.unused
    return safe_lines, safe, unused


def _made(
    project: Project, includes: IncludesOf, lines: Mapping[str, list[str]]
) -> dict[str, Entry]:
    """One entry per source file."""
    flags = {os.path.dirname(path): words for path, words in lines.items()}
    entries: dict[str, Entry] = {}
    for path in _sources(project):
        folder, own = _nearest(os.path.dirname(path), flags, project.folder)
        if own is None:
            folders = nearest_first({*includes.folders} - {project.folder}, path)
            # What lies in folders of the system has other names in the index: a macro or a static
            # function of a header would have no uses there, and others here.
            first = [f"-I{each}" for each in folders if each not in includes.hiding]
            last = [f for each in folders if each in includes.hiding for f in ("-idirafter", each)]
            own = [f"-I{project.folder}", *first, *last]
        compiler = "cc" if path.lower().endswith(_C) else "c++"
        entries[path] = {
            "directory": folder,
            "file": path,
            "arguments": [compiler, *own, "-c", path],
        }
    return entries


def _named_folders(lines: Mapping[str, list[str]], entries: Mapping[str, Entry]) -> set[str]:
    """The folders that the project's own flags have headers looked for in."""
    found: set[str] = set()
    of_files = ((os.path.dirname(path), tuple(words)) for path, words in lines.items())
    of_units = ((entry["directory"], tuple(_words(entry))) for entry in entries.values())
    for base, words in set(chain(of_files, of_units)):
        for word, following in pairwise((*words, "")):
            option = next((each for each in _FOLDER_OPTIONS if word.startswith(each)), None)
            if option is not None:
                folder = word.removeprefix(option) or following
                found.add(os.path.normpath(os.path.join(base, folder)))
    return found


def _included_by_flags(
    project: Project, lines: Mapping[str, list[str]], entries: Mapping[str, Entry]
) -> dict[str, list[tuple[str, str]]]:
    """What flags have each source include, at once or where it leaves the name to a macro."""
    found: dict[str, list[tuple[str, str]]] = {}
    commands = [(path, entry["directory"], _words(entry)) for path, entry in entries.items()]
    if not entries and lines:
        flags = {os.path.dirname(path): words for path, words in lines.items()}
        nearest = (
            (path, *_nearest(os.path.dirname(path), flags, "")) for path in _sources(project)
        )
        commands = [(path, folder, words) for path, folder, words in nearest if words]
    for path, folder, words in commands:
        for word, following in pairwise((*words, "")):
            if word.startswith(_INCLUDING):
                option = next(each for each in _INCLUDING if word.startswith(each))
                name = word.removeprefix(option).removeprefix("=") or following
                if name.isprintable() and not name.startswith("-"):
                    found.setdefault(path, []).append(("", _place(project, path, folder, name)))
            elif word.endswith(('"', ">")):
                named = re.fullmatch(_MACRO, word)
                if named is not None and named["name"].isprintable():
                    found.setdefault(path, []).append((named["macro"], straight(named["name"])))
    return found


def _place(project: Project, path: str, folder: str, name: str) -> str:
    """An include by a flag, as one in the project that means the same. A name that is not there is
    looked for in the folders of headers.
    """
    place = os.path.normpath(os.path.join(folder, name))
    if os.path.isfile(place):
        base = project.folder if project.holds(place) else os.path.dirname(path)
        name = os.path.relpath(place, base)
    return straight(f'"{name}')


def _words(entry: Entry) -> list[str]:
    if "arguments" in entry:
        return list(entry["arguments"])
    return split(entry["command"])


def _above(project: Project) -> Iterator[str]:
    """The folders above, in the repository that the root is a part of."""
    return islice(above(project.folder, project.projects.root.outermost), 1, None)


def _databases_above(project: Project) -> list[str]:
    """Where a server would look for one."""
    return [f"{place}{way}/{NAMES[0]}" for place in _above(project) for way in ("", "/build")]


def _flags_above(project: Project) -> list[str]:
    return [f"{place}/{NAMES[1]}" for place in _above(project)]


def _flag_files(project: Project) -> list[str]:
    return [*filter(os.path.isfile, _flags_above(project)), *project.named(NAMES[1])]


def _flags(path: str) -> list[str]:
    lines = (read_text(path, 1 << 20) or "").splitlines()
    return [line.strip() for line in lines if line.strip()]


def _nearest(folder: str, flags: Mapping[str, list[str]], top: str) -> tuple[str, list[str] | None]:
    """The folder a file is compiled in, and its flags if the project has some for it."""
    found = next((place for place in above(folder) if place in flags), None)
    return (top, None) if found is None else (found, flags[found])
