"""What changed: one entry per file, from its state before to its state now.

Several events of one file fold into the one change that leads from before to now; a file that came
and went again did not change at all.
"""

from collections.abc import Iterable
from typing import NamedTuple

from sightline.workspace.tree import Stamp

__all__ = ["Change", "ChangeSet", "Kind"]


class Kind:
    """How a file changed, in the numbers of the Language Server Protocol."""

    CREATED = 1
    CHANGED = 2
    DELETED = 3


class Change(NamedTuple):
    path: str
    kind: int
    #: Size and modification time are as before. Programs that trust those will not notice.
    disguised: bool = False


class ChangeSet:
    """Changes being collected."""

    def __init__(self) -> None:
        self._before: dict[str, Stamp | None] = {}
        self._after: dict[str, Stamp | None] = {}

    def note(self, path: str, before: Stamp | None, after: Stamp | None) -> None:
        """One event of one file. ``None`` means that there is no such file."""
        self._before.setdefault(path, before)
        self._after[path] = after

    def note_all(self, found: Iterable[tuple[str, Stamp | None, Stamp | None]]) -> None:
        for path, before, after in found:
            self.note(path, before, after)

    def changes(self) -> list[Change]:
        """One change per file, sorted by path."""
        found = (self._change(path) for path in sorted(self._after))
        return [change for change in found if change is not None]

    def _change(self, path: str) -> Change | None:
        before, after = self._before[path], self._after[path]
        if before is None:
            return None if after is None else Change(path, Kind.CREATED)
        if after is None:
            return Change(path, Kind.DELETED)
        return Change(path, Kind.CHANGED, before[:2] == after[:2])
