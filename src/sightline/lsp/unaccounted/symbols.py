"""The symbol that a question is about, as far as its places tell: what an occurrence is held to."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from sightline.contract.uris import path_in
from sightline.contract.values import Location, Position
from sightline.text.scopes import Scope

__all__ = ["Key", "Occurrence", "Symbol", "key_of", "names_module"]

#: A place by its file and start. The range of a whole module is empty, that of a name is not.
Key = tuple[str, Position, bool]
_START = Position(0, 0)


class Occurrence(NamedTuple):
    """The name at a place in a file: by its offset in the text, and as a position."""

    path: str
    offset: int
    at: Position


class Symbol(NamedTuple):
    name: str
    #: Where it is declared, and every place that the server reported.
    definitions: Sequence[Location]
    keys: Collection[Key]
    scope: Scope = Scope.GLOBAL
    #: The functions that it is a parameter of, or the classes that it is a member of.
    owners: Collection[str] = frozenset()
    is_module: bool = False
    #: What the import names that is all that is known of it.
    origin: bytes | None = None

    def is_at(self, found: Iterable[Location]) -> bool:
        """Whether one of these places is a place of this symbol."""
        return any(key_of(place) in self.keys for place in found)


def key_of(place: Location) -> Key:
    return path_in(place.uri), place.range.start, place.range.start == place.range.end


def names_module(definitions: Sequence[Location]) -> bool:
    """Whether these definitions are whole files: modules and packages."""
    return bool(definitions) and all(
        place.range.start == _START == place.range.end for place in definitions
    )
