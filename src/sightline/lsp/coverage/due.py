"""What has to be looked at again: noted on the event loop, taken by the thread that looks."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sightline.workspace.changes import Change

__all__ = ["Due"]


class Due:
    def __init__(self) -> None:
        #: How often something changed.
        self.changes = 0
        self._paths: set[str] = set()
        #: Changes come while a thread takes what was noted.
        self._noting = threading.Lock()

    def note(self, changes: Sequence[Change]) -> None:
        with self._noting:
            self._paths.update(change.path for change in changes)
            self.changes += 1

    @contextmanager
    def taken(self) -> Iterator[tuple[int, set[str]]]:
        """How often something changed, and the paths that did since the last taking. If looking at
        them fails, they are due again.
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
