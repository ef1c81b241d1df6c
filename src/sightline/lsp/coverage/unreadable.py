"""Files of a project that its server cannot read, or not rightly, and folders nobody can look into.

A server says nothing of a file that it may not open, or that is not UTF-8: it answers from the
others, or counts columns in another way than everybody else. So every file of its languages is read
once, in a thread, while the server works, and again when it changes; where texts are looked
through, by whoever reads them. Only what was found wrong is kept, and it is said.
"""

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from sightline.contract.texts import listed_paths
from sightline.lsp.project.projects import Project
from sightline.text.dirty_paths import DirtyPaths
from sightline.text.readable import State, state_of
from sightline.text.sources import SourceTexts
from sightline.workspace.changes import Change

__all__ = ["FIX", "Unread", "Unreadable", "sentences"]

FIX = (
    "make them readable (chmod u+r), convert them to UTF-8 (iconv), "
    "rename files whose names are not UTF-8 (mv)"
)

#: So many paths are named in a sentence, if they are plain.
_NAMED = 3


class Unread(NamedTuple):
    """Paths from the root, sorted."""

    closed: Sequence[str] = ()
    not_utf8: Sequence[str] = ()
    folders: Sequence[str] = ()


def sentences(found: Iterable[Unread]) -> str:
    """What is to be said of all of them."""
    parts = [part for part in found if any(part)]
    if not parts:
        return ""
    closed, not_utf8, folders = (
        sorted({path for part in parts for path in part[kind]}) for kind in range(3)
    )
    said: list[str] = []
    if closed:
        files = _counted(closed, "file")
        said.append(f"{files} could not be read{_names(closed)}; {_missing(closed)}")
    if folders:
        places = _counted(folders, "folder")
        said.append(f"{places} could not be looked into{_names(folders)}; {_missing(folders)}")
    if not_utf8:
        files, them = _counted(not_utf8, "file"), "it" if len(not_utf8) == 1 else "them"
        are = "is" if len(not_utf8) == 1 else "are"
        where = f"places in {them} may be wrong or missing."
        said.append(f"{files} {are} not UTF-8{_names(not_utf8)}; {where}")
    return " ".join(said)


def _counted(paths: Sequence[str], what: str) -> str:
    return f"1 {what}" if len(paths) == 1 else f"{len(paths):,} {what}s"


def _missing(paths: Sequence[str]) -> str:
    return f"what {'it holds' if len(paths) == 1 else 'they hold'} may be missing."


def _names(paths: Sequence[str]) -> str:
    spelled = [os.fsencode(path).decode(errors="backslashreplace") for path in paths]
    return listed_paths(spelled, _NAMED)


class Unreadable:
    """Those of one server in one project."""

    def __init__(self, project: Callable[[], Project]) -> None:
        self._project = project
        #: Files that were read, and those of them that are not fine.
        self._read: set[str] = set()
        self._wrong: dict[str, State] = {}
        self._dirty = DirtyPaths()
        #: How often something had changed when it was last looked at.
        self._seen = -1
        self._found = Unread()
        self._looking = threading.Lock()

    def changed(self, changes: Sequence[Change]) -> None:
        self._dirty.note(changes)

    def known(self) -> Unread | None:
        """What was found, if nothing changed since."""
        return self._found if self._seen == self._dirty.changes else None

    def look(self, texts: SourceTexts | None = None) -> Unread:
        """Reads what is new or changed, in a thread. ``texts``: of the same files, which somebody
        reads anyway.
        """
        with self._looking:
            known = self.known()
            if known is not None:
                return known  # somebody else has looked meanwhile
            with self._dirty.taken() as (seen, due):
                project = self._project()
                files = set(project.files())
                wrong = texts.wrong() if texts is not None else None
                if wrong is not None:
                    self._wrong = {path: wrong[path] for path in wrong.keys() & files}
                else:
                    self._look_at(files, files - (self._read - due))
                self._read = files
                self._found, self._seen = self._sorted(project), seen
            return self._found

    def _look_at(self, files: set[str], new: set[str]) -> None:
        """Reads those of some files that are new."""
        known = self._wrong.keys() & (files - new)
        self._wrong = {path: self._wrong[path] for path in known}
        for path in new:
            state = state_of(path)
            if state is not State.FINE:
                self._wrong[path] = state

    def _sorted(self, project: Project) -> Unread:
        start = len(project.projects.root.real) + 1

        def those(state: State) -> list[str]:
            return [path[start:] for path, found in self._wrong.items() if found is state]

        unnamed = [path[start:] for path in project.unnameable()]
        folders = [path[start:] for path in project.closed_folders()]
        return Unread(
            sorted([*those(State.CLOSED), *unnamed]), sorted(those(State.NOT_UTF8)), folders
        )
