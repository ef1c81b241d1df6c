"""What makes two diagnostics the same one after an edit, and how two checks differ.

Lines move with every edit above them, so a line says nothing. A diagnostic is known by its path,
its code, its message, the symbol around it, and its number among those that are equal so far. A
baseline is a digest over all of a check.

>>> def missing(line: int) -> Diagnosed:
...     return Diagnosed("a.py", line, 1, "missing-argument", "item", "main")
>>> compare([missing(5)], [missing(9)])
Difference(new=[], fixed=[])
>>> compare([missing(5)], [missing(9), missing(12)]).new[0].line
12
"""

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
from msgspec import Struct

from sightline.index.reading.languages import ALIASES, language_of

__all__ = [
    "SEVERITIES",
    "Baseline",
    "Diagnosed",
    "Difference",
    "comparable",
    "compare",
    "identified",
    "name_of",
]

#: In the numbers of the Language Server Protocol, from 1.
SEVERITIES = ("error", "warning", "info", "hint")
#: 30 bits: of the twenty baselines that are kept no two are ever likely to share a name.
_NAME_LENGTH = 6
#: Languages of the index that people and servers know by another's name.
_VARIANTS = {"tsx": "typescript"}


class Diagnosed(Struct, frozen=True, array_like=True, gc=False):
    """A diagnostic as a check tells it. Lines count from 1."""

    path: str
    line: int
    severity: int
    code: str
    message: str
    #: The dotted name of the symbol around it; nothing at the top of a file.
    enclosing: str


class Identity(NamedTuple):
    """What stays the same when lines move."""

    path: str
    code: str
    message: str
    enclosing: str
    ordinal: int


class Baseline(Struct, frozen=True, array_like=True):
    """What one check found, and what it looked at."""

    items: tuple[Diagnosed, ...]
    #: The globs that the check was limited to; none for everything.
    globs: tuple[str, ...] = ()
    #: The languages that no server answered for.
    unchecked: tuple[str, ...] = ()


class Difference(NamedTuple):
    new: list[Diagnosed]
    fixed: list[Diagnosed]


def identified(items: Sequence[Diagnosed]) -> Iterator[tuple[Identity, Diagnosed]]:
    """Each diagnostic with its identity. Equal ones are numbered in the order they come in."""
    seen: Counter[tuple[str, str, str, str]] = Counter()
    for item in items:
        kind = (item.path, item.code, item.message, item.enclosing)
        yield Identity(*kind, seen[kind]), item
        seen[kind] += 1


def compare(then: Sequence[Diagnosed], now: Sequence[Diagnosed]) -> Difference:
    """What is there now and was not then, and what was there then and is gone."""
    before, after = dict(identified(then)), dict(identified(now))
    return Difference(
        [item for identity, item in after.items() if identity not in before],
        [item for identity, item in before.items() if identity not in after],
    )


class Comparable(NamedTuple):
    then: list[Diagnosed]
    now: list[Diagnosed]
    #: The languages that only one of the checks was about, of which something was found.
    left_out: list[str]


def comparable(then: Baseline, now: Baseline) -> Comparable:
    """What of two checks can be compared: nothing is new, or fixed, because a server came or went.

    >>> python = Diagnosed("a.py", 1, 1, "", "bad", "")
    >>> go = Diagnosed("a.go", 1, 1, "", "bad", "")
    >>> left = comparable(Baseline((python, go)), Baseline((python,), unchecked=("Go",)))
    >>> compare(left.then, left.now), left.left_out
    (Difference(new=[], fixed=[]), ['Go'])
    """
    titles = {_language(title): title for title in {*then.unchecked} ^ {*now.unchecked}}
    found = {titles.get(_language_at(item.path)) for item in (*then.items, *now.items)}

    def both(items: Sequence[Diagnosed]) -> list[Diagnosed]:
        return [item for item in items if _language_at(item.path) not in titles]

    left_out = sorted(title for title in found if title is not None)
    return Comparable(both(then.items), both(now.items), left_out)


def _language(title: str) -> str:
    name = title.lower()
    return ALIASES.get(name, name)


def _language_at(path: str) -> str:
    name = language_of(path.rpartition("/")[2]).name
    return _VARIANTS.get(name, name)


def name_of(baseline: Baseline) -> str:
    """The name of a baseline: a digest of what was looked at and of every identity found there."""
    identities = sorted(identity for identity, _ in identified(baseline.items))
    known = msgspec.msgpack.encode((identities, baseline.globs, baseline.unchecked))
    digest = hashlib.sha256(known).digest()
    return base64.b32encode(digest).decode("ascii").lower()[:_NAME_LENGTH]
