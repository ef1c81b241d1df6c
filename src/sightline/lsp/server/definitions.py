"""Where what stands at a place is defined, as a server has just said.

Who asks for uses of a name has mostly asked where it is defined, and both answers need that; and
what a class is derived from is asked for again and again. It is asked for once, and known until
anything changes. Nothing is kept of an answer that is empty, or that was on its way when something
changed.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

from sightline.contract.source import SourceFile
from sightline.contract.values import Location, Position

__all__ = ["Definitions"]

#: So many are known of documents that were asked about, and of places in others.
_MOST, _MOST_UNOPENED = 64, 1_024


class _Told(NamedTuple):
    file: SourceFile
    places: Sequence[Location]


class Definitions:
    def __init__(self) -> None:
        self._told: OrderedDict[tuple[str, Position], _Told] = OrderedDict()
        self._unopened: OrderedDict[tuple[str, Position], Sequence[Location]] = OrderedDict()
        #: How often something changed.
        self.changes = 0

    def forget(self) -> None:
        self._told.clear()
        self._unopened.clear()
        self.changes += 1

    def known(self, file: SourceFile, position: Position) -> Sequence[Location] | None:
        """What was said of a place in exactly this document."""
        told = self._told.get((file.uri, position))
        return told.places if told is not None and told.file is file else None

    def keep(
        self, file: SourceFile, position: Position, places: Sequence[Location], changes: int
    ) -> None:
        """What was said, and how often something had changed when it was asked for."""
        if places and changes == self.changes:
            self._told[file.uri, position] = _Told(file, places)
            if len(self._told) > _MOST:
                self._told.popitem(last=False)

    def known_unopened(self, uri: str, position: Position) -> Sequence[Location] | None:
        """What was said of a place in a file as it is on disk."""
        return self._unopened.get((uri, position))

    def keep_unopened(
        self, uri: str, position: Position, places: Sequence[Location], changes: int
    ) -> None:
        if places and changes == self.changes:
            self._unopened[uri, position] = places
            if len(self._unopened) > _MOST_UNOPENED:
                self._unopened.popitem(last=False)
