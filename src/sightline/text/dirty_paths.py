"""The paths that changed since a thread last read them."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

__all__ = ["Changed", "DirtyPaths"]


class Changed(Protocol):
    """Anything that names a file which changed."""

    @property
    def path(self) -> str: ...


class DirtyPaths:
    """Paths noted on the event loop and taken by a thread.

    >>> from types import SimpleNamespace
    >>> dirty = DirtyPaths()
    >>> dirty.note([SimpleNamespace(path="/a.py")])
    >>> with dirty.taken() as (changes, paths):
    ...     changes, paths
    (1, {'/a.py'})
    """

    def __init__(self) -> None:
        #: How many batches of changes were noted.
        self.changes = 0
        self._paths: set[str] = set()
        #: Changes arrive while a thread takes what was noted.
        self._noting = threading.Lock()

    def note(self, changes: Iterable[Changed]) -> None:
        with self._noting:
            self._paths.update(change.path for change in changes)
            self.changes += 1

    @contextmanager
    def taken(self) -> Iterator[tuple[int, set[str]]]:
        """The number of batches so far and the paths since the last taking.

        If the body raises, its paths are dirty again.
        """
        with self._noting:
            paths, self._paths = self._paths, set()
            changes = self.changes
        try:
            yield changes, paths
        except BaseException:
            with self._noting:
                self._paths |= paths
            raise
