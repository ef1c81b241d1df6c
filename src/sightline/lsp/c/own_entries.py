"""The entries of a project's own compilation databases, as far as they are about files of it.

A database may call the files by another way than Sightline does, which knows them by their real
paths: over a link to the folder that was built in. Such an entry is said anew with real paths, its
flags too, so that no header is read under two names. One that was made in a container, or in
another copy of the project, names nothing of it; that is told and not put right by a guess.

>>> anew("-I/link/inc", "/link", "/real"), anew("-I/a/link", "/link", "/real")
('-I/real/inc', '-I/a/link')
"""

import os
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from sightline.lsp.c.compile_commands import Command, CommandFiles
from sightline.lsp.c.compiler_flags import split
from sightline.lsp.project.projects import Project

__all__ = ["Entry", "OwnEntries", "anew"]

Entry = dict[str, Any]


class OwnEntries(NamedTuple):
    #: By the file that each is about.
    entries: dict[str, Entry]
    #: Whether there is a database and everything that it names is somewhere else.
    elsewhere: bool = False

    @classmethod
    def of(
        cls, project: Project, files: CommandFiles, inside: Iterable[str], above: Iterable[str]
    ) -> "OwnEntries":
        """Of the databases in a project, the one nearest to the top speaks first; if there is none,
        the nearest ``above`` does.
        """
        nearest = sorted(inside, key=lambda path: (path.count("/"), path))
        databases = nearest or list(filter(os.path.isfile, above))[:1]
        links = _Links(project)
        entries: dict[str, Entry] = {}
        are_here = named = 0
        for database in databases:
            for command in files.read(database):
                entry = _entry(command, os.path.dirname(database))
                if entry is None:
                    files.senseless += 1
                    continue
                named += 1
                entry = links.followed(entry)
                if os.path.isfile(entry["file"]):
                    are_here += 1
                    if project.holds(entry["file"]):
                        entries.setdefault(entry["file"], entry)
        # One above may well be about other folders of the repository alone.
        lost = not entries if nearest else named and not are_here
        unread = files.broken or files.unread
        return cls(entries, bool(databases and lost and not unread))


def _entry(item: Command, base: str) -> Entry | None:
    """An entry with only the members that mean something, or ``None``."""
    directory = os.path.normpath(os.path.join(base, item.directory))
    entry: Entry = {"directory": directory, "file": os.path.normpath(f"{directory}/{item.file}")}
    if os.path.isabs(item.file):
        entry["file"] = os.path.normpath(item.file)
    if item.arguments:
        return entry | {"arguments": item.arguments}
    # A server would read one whose quotation does not end in its own way.
    return entry | {"command": item.command} if item.command and split(item.command) else None


class _Links:
    """The ways over links by which files of a project are named."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._tree = project.projects.tree()
        #: For each folder a link on the way to it, if there is one, and where that leads.
        self._known: dict[str, tuple[str, str] | None] = {}

    def followed(self, entry: Entry) -> Entry:
        """An entry with the names that its file, and what lies beside it, have here."""
        folder = os.path.dirname(entry["file"])
        if folder not in self._known:
            self._known[folder] = self._link(folder)
        link = self._known[folder]
        if link is None:
            return entry
        words = entry["arguments"] if "arguments" in entry else split(entry["command"])
        if not words:
            return entry
        return {
            "directory": anew(entry["directory"], *link),
            "file": anew(entry["file"], *link),
            "arguments": [anew(word, *link) for word in words],
        }

    def _link(self, folder: str) -> tuple[str, str] | None:
        if folder in self._tree:
            return None
        real = _real(folder)
        if real == folder or not self._project.holds(real):
            return None
        while os.path.basename(folder) == os.path.basename(real):
            outer = os.path.dirname(folder)
            if outer == folder or _real(outer) != os.path.dirname(real):
                break
            folder, real = outer, os.path.dirname(real)
        return folder, real


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):  # such as a NUL
        return path


def anew(word: str, link: str, real: str) -> str:
    """A word of a command line with the real name of what lies behind a link."""
    return _behind(link).sub(lambda found: found["before"] + real, word, count=1)


@lru_cache(maxsize=64)
def _behind(link: str) -> "re.Pattern[str]":
    """An option, or a name and an equals sign, may stand before the path."""
    return re.compile(rf"\A(?P<before>[^/]*){re.escape(link)}(?![^/\"',;:])")
