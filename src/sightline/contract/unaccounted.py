"""Places of a name that an answer could not account for, as data, and the sentence that says so.

A reference search is complete when every occurrence of the symbol's name in code is a reported use
or is known to be something else. What is left is grouped by the reason why nobody could tell.

>>> left = Unaccounted(Reason.UNKNOWN_TYPE, 2, (("/w/a.py", 3), ("/w/b.py", 8)))
>>> sentence("close", [left], lambda path: path[3:])
'close also occurs in 2 places where the type is unknown (a.py, b.py); they may be uses.'
"""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum

from msgspec import Struct

from sightline.contract.texts import listed_paths

__all__ = [
    "MOST_PLACES",
    "WHERE",
    "Place",
    "Reason",
    "Unaccounted",
    "merged",
    "reason_of",
    "sentence",
]

#: So many places are kept of each reason, and so many files are named in a sentence.
MOST_PLACES = 200
_NAMED = 3

#: A file by its real path, and a 0-based line.
Place = tuple[str, int]


class Reason(Enum):
    """Why an occurrence could not be resolved. The order is that of sentences."""

    #: The value's type is not known, so neither is the member taken from it.
    UNKNOWN_TYPE = "unknown type"
    #: An import that leads nowhere may name the symbol.
    UNRESOLVED_IMPORT = "unresolved import"
    #: A call may reach this member through a base class or a subclass.
    OVERRIDE = "override"
    #: What it leads to is a copy or a build of the file that declares the symbol.
    COPY = "copy"
    #: In the body of a macro, or in an argument that a macro drops.
    MACRO = "macro"
    #: In code that this build leaves out, or that was read with errors.
    OTHER_BUILD = "other build"
    #: In a string or a document that a shell runs.
    QUOTED = "quoted"
    #: In a file that the server cannot read.
    EXCLUDED_FILE = "excluded file"
    OTHER_LANGUAGE = "other language"
    OTHER_ROOT = "other root"
    #: There were too many occurrences to resolve all of them.
    OVER_BUDGET = "over budget"


#: Where such places are, as a part of a sentence.
WHERE = {
    Reason.UNKNOWN_TYPE: "where the type is unknown",
    Reason.UNRESOLVED_IMPORT: "behind imports that do not resolve",
    Reason.OVERRIDE: "as a member of a base class or subclass",
    Reason.COPY: "behind a copy or a build of its file",
    Reason.MACRO: "in macros",
    Reason.OTHER_BUILD: "in code that this build leaves out",
    Reason.QUOTED: "in quoted commands",
    Reason.EXCLUDED_FILE: "in files that the server does not read",
    Reason.OTHER_LANGUAGE: "in files of other languages",
    Reason.OTHER_ROOT: "in other roots",
    Reason.OVER_BUDGET: "not checked",
}
_ORDER = list(Reason)


class Unaccounted(Struct, frozen=True):
    reason: Reason
    #: How many occurrences there are. ``places`` has the first of them.
    count: int
    places: tuple[Place, ...] = ()
    #: The name that stands there, where it is another one of the symbol.
    name: str = ""


def merged(parts: Iterable[Unaccounted]) -> tuple[Unaccounted, ...]:
    """One entry per reason and name, in the order of reasons, with sorted places."""
    counts: dict[tuple[int, str], int] = {}
    places: dict[tuple[int, str], set[Place]] = {}
    for part in parts:
        key = _ORDER.index(part.reason), part.name
        counts[key] = counts.get(key, 0) + part.count
        places.setdefault(key, set()).update(part.places)
    return tuple(
        Unaccounted(_ORDER[order], count, tuple(sorted(places[order, name])[:MOST_PLACES]), name)
        for (order, name), count in sorted(counts.items())
        if count
    )


def reason_of(parts: Iterable[Unaccounted], path: str, line: int) -> Reason | None:
    """Why a line is not accounted for; ``None`` if it is, as far as its places are kept."""
    return next((part.reason for part in parts if (path, line) in part.places), None)


def sentence(name: str, parts: Sequence[Unaccounted], shown: Callable[[str], str]) -> str:
    """What a summary says of them; nothing if everything is accounted for."""
    said: list[str] = []
    for part in parts:
        files = sorted({shown(path) for path, _ in part.places})
        many = part.count > 1
        places = f"{part.count:,} places" if many else "1 place"
        may = "they may be uses" if many else "it may be a use"
        said.append(
            f"{part.name or name} also occurs in {places} {WHERE[part.reason]}"
            f"{listed_paths(files, _NAMED)}; {may}."
        )
    return " ".join(said)
