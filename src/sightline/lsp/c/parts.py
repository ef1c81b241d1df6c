"""Sources that are compiled by themselves and are also included by other ones.

A server that reads both at the same time keeps of such a part what it wrote last, and chance
decides which that is: by itself a part may not compile, and what is read in it then lacks its uses
of the rest. So the server is given the parts first, without the files that include them, and the
whole after that: what it could read of a part by itself stays, and where it could not, what it
reads in the whole takes its place.

>>> told = IncludesOf(meant={'"a.c': ["/a.c"]}, files={"/all.c": frozenset({'"a.c'})})
>>> sorted(Parts.among({"/a.c", "/all.c", "/b.c"}, told).first({"/a.c", "/all.c", "/b.c"}))
['/a.c', '/b.c']
"""

from collections.abc import Collection
from typing import NamedTuple

from sightline.lsp.c.includes import IncludesOf

__all__ = ["Parts"]


class Parts(NamedTuple):
    parts: frozenset[str] = frozenset()
    #: The sources that include a part, or what includes one.
    wholes: frozenset[str] = frozenset()

    @classmethod
    def among(cls, units: Collection[str], told: IncludesOf) -> "Parts":
        meant = {i: [p for p in paths if p in units] for i, paths in told.meant.items()}
        parts = frozenset(path for paths in meant.values() for path in paths)
        reached = told.reached_by([i for i, paths in meant.items() if paths])
        wholes = frozenset(reached.intersection(units))
        return cls(parts, wholes)

    def first(self, units: Collection[str]) -> frozenset[str]:
        """What is to be read before the rest; everything where that makes no difference."""
        return frozenset(units) - self.wholes if self.parts - self.wholes else frozenset(units)

    def touched(self, stale: Collection[str], told: IncludesOf) -> set[str]:
        """The parts of which something else may be read now, with all that include them. These
        files have changed, or what they include has, or they are gone.
        """
        gone = [path for path in stale if path not in told.files]
        includes = [include for path in stale for include in told.files.get(path, ())]
        touched = self.parts & ({*stale} | told.brought_by(includes)) if not gone else self.parts
        naming = [i for i, paths in told.meant.items() if not touched.isdisjoint(paths)]
        return {*touched} | (told.reached_by(naming) & self.wholes)
