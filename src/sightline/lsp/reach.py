"""How far a Python server reaches in its project: what it does not resolve, and does not read.

Kept for the next question, and looked at again where something changed.
"""

import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sightline.contract.texts import listed
from sightline.contract.uris import is_under
from sightline.lsp.left_out import left_out
from sightline.lsp.own_imports import (
    SOURCES,
    Sources,
    Unresolved,
    imported,
    sources_of,
    unresolved,
)
from sightline.lsp.projects import Project
from sightline.lsp.reading import read_text
from sightline.workspace.changes import Change, Kind

__all__ = ["Reach", "Unreached"]

_MAX_BYTES = 1 << 20
#: So many modules are named in a sentence.
_NAMED = 4


class Unreached(NamedTuple):
    """What a server knows nothing of."""

    unresolved: Sequence[Unresolved] = ()
    #: How many files its settings leave out.
    left_out: int = 0

    def note(self, path: str) -> str:
        """What is to be said of uses of a file's code."""
        sentences: list[str] = []
        found = [each for each in self.unresolved if any(is_under(path, p) for p in each.places)]
        if found:
            files = _files(len(frozenset[str]().union(*(each.files for each in found))))
            names = listed([each.name for each in found], _NAMED)
            sentences.append(f"Imports of {names} are not resolved in {files}; {_MISSING}")
        if self.left_out:
            files = _files(self.left_out)
            sentences.append(f"The project's own settings leave out {files}; {_MISSING}")
        return " ".join(sentences)


_MISSING = "uses there may be missing."


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


class Reach:
    """That of one server in one project."""

    def __init__(self, project: Callable[[], Project]) -> None:
        self._project = project
        #: What each file imports, and the other way round.
        self._modules: dict[str, frozenset[str]] = {}
        self._importing: dict[str, set[str]] = {}
        #: Files to read again, and whether that is all that has to be done.
        self._due: set[str] = set()
        self._only_texts = False
        self._found = Unreached()
        #: How often something changed, and how often it had when it was last looked at.
        self._changes, self._seen = 0, -1
        self._looking = threading.Lock()

    def changed(self, changes: Sequence[Change]) -> None:
        self._changes += 1
        self._due.update(change.path for change in changes if change.path.endswith(SOURCES))
        self._only_texts = self._only_texts and all(
            change.kind == Kind.CHANGED and change.path.endswith(SOURCES) for change in changes
        )

    def known(self) -> Unreached | None:
        """What is not reached, if nothing changed since somebody looked."""
        return self._found if self._seen == self._changes else None

    def look(self) -> Unreached:
        """What is not reached now. Looks at the disk, in a thread."""
        with self._looking:
            known = self.known()
            if known is not None:
                return known
            seen, due, only_texts = self._changes, self._due, self._only_texts
            self._due, self._only_texts = set(), True
            if not (only_texts and all(map(self._imports_the_same, due))):
                project = self._project()
                tree = sources_of(project)
                self._read(tree, due)
                self._found = Unreached(
                    unresolved(project, tree, self._importing),
                    len(left_out(project, self._modules)),
                )
            self._seen = seen
            return self._found

    def _imports_the_same(self, path: str) -> bool:
        """Whether a file is known and imports what it did; also one that is not the project's."""
        return self._modules.get(path) in (None, _imported(path))

    def _read(self, tree: Sources, due: set[str]) -> None:
        sources = {f"{folder}/{name}" for folder, names in tree.items() for name in names}
        stale = (self._modules.keys() - sources) | due
        for path in stale & self._modules.keys():
            for module in self._modules.pop(path):
                self._importing[module].discard(path)
        for path in sources - self._modules.keys():
            modules = self._modules[path] = _imported(path)
            for module in modules:
                self._importing.setdefault(module, set()).add(path)


def _imported(path: str) -> frozenset[str]:
    return imported(read_text(path, _MAX_BYTES) or "")
