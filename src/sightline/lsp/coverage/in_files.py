"""Occurrences of a name in files that no server was asked about."""

from collections.abc import Collection

from sightline.contract.unaccounted import Reason, Unaccounted
from sightline.text.sources import Hits, SourceTexts, numbered

__all__ = ["in_files"]


def in_files(
    reason: Reason, texts: SourceTexts, hits: Hits, known: Collection[str] = ()
) -> Unaccounted:
    """All occurrences in these files, except those in files that are ``known`` to have uses."""
    places = [
        (path, line)
        for path in sorted(hits)
        if path not in known
        for _, line in numbered(texts.text(path), hits[path])
    ]
    return Unaccounted(reason, len(places), tuple(places))
