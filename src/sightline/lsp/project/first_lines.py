"""Which program the first line of a file names, remembered until the file changes.

Only for files of a workspace whose name tells no language. Little is read of each, and only of
regular files that are no links: what a link leads to is a file of its own, or none of ours.
"""

import threading
from collections.abc import Sequence

from sightline.contract.first_line import FIRST_BYTES, program_of
from sightline.workspace.changes import Change
from sightline.workspace.regular import open_regular

__all__ = ["FirstLines", "may_be_script"]

#: So many files are remembered; then it is begun anew.
_MOST = 50_000


def may_be_script(name: str) -> bool:
    """Whether only its first line can tell the language of a file: its name has no extension.

    >>> [may_be_script(name) for name in ("configure", ".aliases", "a.out", ".eslintrc.json")]
    [True, True, False, False]
    """
    return "." not in name[1:]


class FirstLines:
    """Those of a workspace. They may be asked for in any thread."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        #: How often a file changed that may be a script: what was read before is not kept.
        self.changes = 0
        self._lock = threading.Lock()

    def program(self, path: str) -> str:
        """The program that a file is for; nothing if it says none."""
        known = self._known.get(path)
        if known is not None:
            return known
        before = self.changes
        found = _read(path)
        with self._lock:
            if before == self.changes:
                if len(self._known) >= _MOST:
                    self._known.clear()
                self._known[path] = found
        return found

    def changed(self, changes: Sequence[Change]) -> None:
        paths = [change.path for change in changes if may_be_script(_name(change.path))]
        with self._lock:
            self.changes += bool(paths)
            for path in paths:
                self._known.pop(path, None)

    def forget(self) -> None:
        with self._lock:
            self.changes += 1
            self._known.clear()


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _read(path: str) -> str:
    file = open_regular(path, links=False)
    if file is None:
        return ""
    with file:
        try:
            return program_of(file.read(FIRST_BYTES))
        except OSError:
            return ""
