"""Folders that came or went with the files in them.

Changes are kept per file. Servers that once looked for a folder in vain do not look again because a
file appears in it; they must hear of the folder, as an editor would tell them.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush

from sightline.contract.uris import above
from sightline.workspace.changes import Change, Kind

__all__ = ["folder_changes"]


Files = Mapping[str, Mapping[str, object]]


def folder_changes(
    changes: Sequence[Change], told: Sequence[Change], trees: Sequence[tuple[str, Files]]
) -> list[Change]:
    """What a server is told of folders besides the files in ``told``, sorted.

    A folder came if it holds nothing that was there before ``changes``, and lost nothing; it went
    if it is not in the state after them. ``trees`` is that state, each tree with its top: the
    innermost knows what lies in it. Of what lies in none nothing is said. A checkout changes tens
    of thousands of files at once, so nothing is looked at twice for each.
    """
    some = {change.kind for change in told if change.kind != Kind.CHANGED}
    if not some:
        return []
    tops = {top for top, _ in trees}
    of_told, of_all = _by_top(told, tops), _by_top(changes, tops)
    found: set[Change] = set()
    for top, tree in trees:
        came = _came(of_all.get(top, ()), tree, top) if Kind.CREATED in some else ()
        own = of_told.get(top, ())
        for folder in _folders_of(own, Kind.CREATED, top):
            if folder in came:
                found.add(Change(folder, Kind.CREATED))
        for folder in _folders_of(own, Kind.DELETED, top):
            if folder not in tree:
                found.add(Change(folder, Kind.DELETED))
    return sorted(found)


def _by_top(changes: Iterable[Change], tops: set[str]) -> dict[str, list[Change]]:
    """The changes by the innermost tree that their folder lies in."""
    found: dict[str, list[Change]] = {}
    known: dict[str, str | None] = {}
    for change in changes:
        folder = os.path.dirname(change.path)
        if folder not in known:
            known[folder] = next((each for each in above(folder) if each in tops), None)
        top = known[folder]
        if top is not None:
            found.setdefault(top, []).append(change)
    return found


def _folders_of(changes: Iterable[Change], kind: int, top: str) -> Iterator[str]:
    """Every folder below the top that a change of this kind lies in, once."""
    seen = {top}
    for change in changes:
        if change.kind == kind:
            for folder in above(os.path.dirname(change.path), top):
                if folder in seen:
                    break  # and so were all above it
                seen.add(folder)
                yield folder


def _came(changes: Sequence[Change], tree: Files, top: str) -> set[str]:
    created = {change.path for change in changes if change.kind == Kind.CREATED}
    lost = set(_folders_of(changes, Kind.DELETED, top))
    inside: dict[str, list[str]] | None = None
    came: set[str] = set()
    known = {os.path.dirname(path) for path in created}
    # What lies inside another comes before it.
    waiting = [(-len(folder), folder) for folder in known]
    heapify(waiting)
    while waiting:
        folder = heappop(waiting)[1]
        if any(f"{folder}/{name}" not in created for name in tree.get(folder, ())):
            continue
        if inside is None:
            inside = _inside(tree)
        if folder in tree and all(each in came for each in inside.get(folder, ())):
            came.add(folder)
            parent = os.path.dirname(folder)
            if parent not in known:
                known.add(parent)
                heappush(waiting, (-len(parent), parent))
    return came - lost


def _inside(tree: Mapping[str, object]) -> dict[str, list[str]]:
    """The folders directly inside each folder."""
    found: dict[str, list[str]] = {}
    for folder in tree:
        found.setdefault(os.path.dirname(folder), []).append(folder)
    return found
