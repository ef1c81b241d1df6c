"""Declared names that are spelled nearly like one that is not there.

Looked for where they can be: in chunks whose names share a part with it, and in the files that
share most of its trigrams. What is offered depends on the living files alone.
"""

import difflib
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from sightline.index.searching.filters import Scope
from sightline.index.searching.lookup import Lookup
from sightline.index.searching.results import Records
from sightline.index.storage.segment import term_key
from sightline.index.storage.snapshot import Snapshot
from sightline.index.terms.trigrams import text_codes
from sightline.index.terms.words import name_terms

__all__ = ["closest", "near_names"]

Ints = NDArray[np.int64]

MAX_NAMES = 5
#: How alike two spellings are, from 0 to 1, that may be mistaken for each other.
_ALIKE = 0.75
_MAX_CHUNKS = 2_000
#: Longer names are not offered.
_MAX_LENGTH = 80
_MAX_FILES = 100


def near_names(
    snapshot: Snapshot, lookup: Lookup, records: Records, scope: Scope, name: str
) -> tuple[str, ...]:
    """The declared names most like ``name``, the closest first."""
    chunks = set(_by_parts(snapshot, lookup, scope, name).tolist())
    for file in _by_trigrams(snapshot, lookup, scope, name):
        chunks.update(range(*snapshot.chunk_first[file : file + 2].tolist()))
    return closest(name, {s.name for chunk in chunks for s in records.chunk(chunk).symbols})


def closest(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """The names most like ``name``, whatever their case, the closest first.

    >>> closest("parse_ulr", ["parse_url", "ParseUrl", "render"])
    ('parse_url', 'ParseUrl')
    """
    spelled: dict[str, list[str]] = {}
    for other in sorted(name for name in names if len(name) <= _MAX_LENGTH):
        spelled.setdefault(other.lower(), []).append(other)
    found = difflib.get_close_matches(name.lower(), sorted(spelled), MAX_NAMES, _ALIKE)
    return tuple(one for lower in found for one in spelled[lower])[:MAX_NAMES]


def _by_parts(snapshot: Snapshot, lookup: Lookup, scope: Scope, name: str) -> Ints:
    """Chunks that declare a name with one of the parts, those of the rarest part first."""
    lists: Sequence[Ints] = sorted(
        (
            lookup.terms(snapshot, term_key(field + part)).chunks
            for part in name_terms(name)
            for field in ("n", "d")
        ),
        key=len,
    )
    kept: list[Ints] = []
    room = _MAX_CHUNKS
    for own in lists:
        passing = own[scope.files[snapshot.chunk_file[own]]]
        if len(passing) > room:
            break
        room -= len(passing)
        kept.append(passing)
    return np.concatenate([*kept, np.zeros(0, np.int64)])


def _by_trigrams(snapshot: Snapshot, lookup: Lookup, scope: Scope, name: str) -> list[int]:
    """The files with most of the trigrams."""
    shared = np.zeros(snapshot.files, np.int64)
    for code in text_codes(name.encode("utf-8", "replace")):
        shared += lookup.having(snapshot, code)
    shared[~scope.files] = 0
    files = np.flatnonzero(shared)
    order = np.lexsort((snapshot.path_ranks[files], -shared[files]))
    chosen: list[int] = files[order][:_MAX_FILES].tolist()
    return chosen
