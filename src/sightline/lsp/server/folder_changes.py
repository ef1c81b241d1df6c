"""Folders that came or went with the files in them.

Changes are kept per file. Servers that once looked for a folder in vain do not look again because a
file appears in it; they must hear of the folder, as an editor would tell them.
"""

import os
from collections.abc import Iterator, Mapping, Sequence

from sightline.contract.uris import above, is_under
from sightline.workspace.changes import Change, Kind

__all__ = ["folder_changes"]


Files = Mapping[str, Mapping[str, object]]


def folder_changes(
    changes: Sequence[Change], told: Sequence[Change], trees: Sequence[tuple[str, Files]]
) -> list[Change]:
    """What a server is told of folders besides the files in ``told``, sorted.

    A folder came if it holds nothing that was there before ``changes``, and lost nothing; it went
    if it is not in the state after them. ``trees`` is that state, each tree with its top: the
    innermost knows what lies in it. Of what lies in none nothing is said.
    """

    def inside(top: str, some: Sequence[Change]) -> list[Change]:
        return [change for change in some if _innermost(change.path, trees) == top]

    found = (_below(inside(top, changes), inside(top, told), tree, top) for top, tree in trees)
    return sorted({change for part in found for change in part})


def _innermost(path: str, trees: Sequence[tuple[str, Files]]) -> str | None:
    folder = os.path.dirname(path)
    return max((top for top, _ in trees if is_under(folder, top)), key=len, default=None)


def _below(
    changes: Sequence[Change], told: Sequence[Change], tree: Files, top: str
) -> Iterator[Change]:
    lost = (change.path for change in changes if change.kind == Kind.DELETED)
    were = {folder for path in lost for folder in _folders_of(path, top)}
    came = _came({change.path for change in changes if change.kind == Kind.CREATED}, tree) - were
    return (
        Change(folder, change.kind)
        for change in told
        if change.kind != Kind.CHANGED
        for folder in _folders_of(change.path, top)
        if (folder in came if change.kind == Kind.CREATED else folder not in tree)
    )


def _folders_of(path: str, top: str) -> Iterator[str]:
    """The folders a path lies in, from the inside, below the top."""
    return (folder for folder in above(os.path.dirname(path), top) if folder != top)


def _came(created: set[str], tree: Files) -> set[str]:
    inside: dict[str, list[str]] | None = None
    came: set[str] = set()
    waiting = {os.path.dirname(path) for path in created}
    while waiting:
        folder = max(waiting, key=len)  # what lies inside another comes before it
        waiting.discard(folder)
        if any(f"{folder}/{name}" not in created for name in tree.get(folder, ())):
            continue
        if inside is None:
            inside = _inside(tree)
        if folder in tree and all(each in came for each in inside.get(folder, ())):
            came.add(folder)
            waiting.add(os.path.dirname(folder))
    return came


def _inside(tree: Mapping[str, object]) -> dict[str, list[str]]:
    """The folders directly inside each folder."""
    found: dict[str, list[str]] = {}
    for folder in tree:
        found.setdefault(os.path.dirname(folder), []).append(folder)
    return found
