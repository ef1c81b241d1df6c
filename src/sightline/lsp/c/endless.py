"""Includes that lead out of the project to no file: a device, a pipe, or what a process has open.

A server that reads one waits for ever, or reads by ``/dev/stdin`` what it is told, and answers no
question about the project any more. So a file that reaches one is not given to it. What lies in the
project is not looked at here: where an obstacle is an entry of it, no server is run (see
``workspace.obstacles``). What an include may mean is guessed widely: a file that is found before
counts, too. Nothing is opened.
"""

import os
from collections.abc import Collection, Iterable, Mapping

from sightline.contract.uris import is_under
from sightline.workspace.obstacles import Kind, leads_to

__all__ = ["Endless", "leads_nowhere"]

#: Only a user who may install things puts something there.
_OF_SYSTEM = ("/usr/", "/lib/", "/opt/")


def leads_nowhere(path: str) -> bool:
    """Whether whoever reads what a path leads to would wait, or read for ever.

    >>> [leads_nowhere(path) for path in ("/dev/stdin", "/dev/null", "/usr", "/nowhere/at/all")]
    [True, False, False, False]
    """
    return leads_to(path) in (Kind.PIPE, Kind.DEVICE)


class Endless:
    """Looks at each place once. ``folders``: where headers are looked for; ``top``: the folder in
    which obstacles are known.
    """

    def __init__(self, folders: Iterable[str], top: str) -> None:
        self._top = top
        self._folders = [each for each in folders if not each.startswith(_OF_SYSTEM)]
        self._outside = [each for each in self._folders if not is_under(each, top)]
        #: Whether a name leads to one in some folder of headers.
        self._anywhere: dict[str, bool] = {}
        #: Where one was found, and as what.
        self.places: set[str] = set()
        self.names: set[str] = set()

    def among(self, includes: Mapping[str, Collection[str]]) -> set[str]:
        """The files that have an include which may lead to one."""
        found: set[str] = set()
        for path, occurring in includes.items():
            own = os.path.dirname(path)
            for include in occurring:
                name = include[1:]
                if self._is_anywhere(name) or (include[0] == '"' and self._is_one(own, name)):
                    found.add(path)
        return found

    def _is_anywhere(self, name: str) -> bool:
        if name not in self._anywhere:
            folders = self._folders if _leaves(name) else self._outside
            self._anywhere[name] = any(self._is_one(each, name) for each in folders)
        return self._anywhere[name]

    def _is_one(self, folder: str, name: str) -> bool:
        if not _leaves(name) and is_under(folder, self._top):
            return False
        place = os.path.normpath(os.path.join(folder, name))
        if is_under(place, self._top) or not leads_nowhere(place):
            return False
        self.places.add(place)
        self.names.add(name)
        return True


def _leaves(name: str) -> bool:
    """Whether a name may lead out of the folder that it is looked for in."""
    return name.startswith("/") or ".." in name
