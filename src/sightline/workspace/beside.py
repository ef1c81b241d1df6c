"""Single folders and files outside of every root whose times are looked at when a call begins.

What is installed in an environment decides what a language server knows, and an environment may lie
anywhere. It is not observed like a root: an install shows in the time of one folder.
"""

import os
from collections.abc import Mapping

from sightline.workspace.changes import Change, Kind

__all__ = ["Beside", "Stamp", "Stamps", "stamp"]

#: Three figures that differ after a change; ``None`` where there is nothing.
Stamp = tuple[int, int, int] | None
Stamps = Mapping[str, Stamp]

#: More than these are not looked at: every question waits for the look.
_MAX_PATHS = 1_024


class Beside:
    def __init__(self) -> None:
        self._stamps: dict[str, Stamp] = {}

    def __contains__(self, path: str) -> bool:
        return path in self._stamps

    def keep(self, stamps: Stamps) -> None:
        """Looks at these paths from now on, which were so when somebody relied on them.

        One that is known keeps its older stamp, which others rely on.
        """
        for path, before in stamps.items():
            if len(self._stamps) < _MAX_PATHS:
                self._stamps.setdefault(path, before)

    def changes(self) -> list[Change]:
        """What is different from the last look."""
        found: list[Change] = []
        for path, before in list(self._stamps.items()):  # others may come meanwhile
            now = stamp(path)
            if now != before:
                self._stamps[path] = now
                kind = Kind.CHANGED if now and before else Kind.CREATED if now else Kind.DELETED
                found.append(Change(path, kind))
        return found


def stamp(path: str) -> Stamp:
    """How a file, or the list of what is in a folder, is now."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    # The clock of a file system stands still for milliseconds; folders in a folder count as links.
    return status.st_mtime_ns, status.st_size, status.st_nlink
