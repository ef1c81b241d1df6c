"""Why a hit is where it is, in words that a person can check in the file."""

import numpy as np
from numpy.typing import NDArray

from sightline.index.reading.roles import Role
from sightline.index.searching.hits import Hit
from sightline.index.searching.lookup import Lookup
from sightline.index.searching.query import Query
from sightline.index.storage.segment import term_key
from sightline.index.storage.snapshot import Snapshot

__all__ = ["reasons_for"]

_MAX_WORDS = 12
_FIELDS = (("n", "name has"), ("c", "around it"), ("d", "declares inside"), ("b", "text has"))


def reasons_for(
    snapshot: Snapshot, lookup: Lookup, query: Query | None, hit: Hit, chunk: int, mode: str
) -> tuple[str, ...]:
    """Short sentences, the strongest evidence first."""
    if query is None:
        what = "contains the text" if mode == "literal" else "matches the pattern"
        count = hit.part.matches if hit.part is not None else 1
        many = f" ({count} times)" if count > 1 else ""
        return (what + many, *_role(snapshot, hit))
    reasons: list[str] = []
    if hit.symbol is not None and hit.symbol.name in query.names:
        reasons.append(f"declares {hit.symbol.name}")
    for field, label in _FIELDS:
        words = [
            term.text
            for term in query.terms
            if _has(lookup.terms(snapshot, term_key(field + term.text)).chunks, chunk)
        ]
        if words:
            reasons.append(f"{label}: {', '.join(words[:_MAX_WORDS])}")
    in_path = [
        term.text
        for term in query.terms
        if _has(lookup.path_words(snapshot, term_key("p" + term.text)), hit.file)
    ]
    if in_path:
        reasons.append(f"path has: {', '.join(in_path[:_MAX_WORDS])}")
    mentioned = [m for m in query.mentions if hit.path.lower().endswith(m.lower().split("/")[-1])]
    if mentioned:
        reasons.append(f"mentioned: {mentioned[0][:80]}")
    return (*reasons, *_role(snapshot, hit))


def _has(sorted_numbers: NDArray[np.int64], number: int) -> bool:
    place = int(np.searchsorted(sorted_numbers, number))
    return place < len(sorted_numbers) and int(sorted_numbers[place]) == number


def _role(snapshot: Snapshot, hit: Hit) -> tuple[str, ...]:
    role = Role(int(snapshot.roles[hit.file]))
    return () if role is Role.SOURCE else (f"counts less: {role.name.lower()}",)
