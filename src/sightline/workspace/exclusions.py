"""What a user's settings keep out of a root, and what they let in although Git ignores it.

Both are lists of globs, spelled as in a ``.gitignore`` in the root. They come from the user's
settings alone: a file of a workspace decides nothing here. What is excluded is neither scanned nor
watched, read nor shown.

>>> covers(("build", "*.gen.py"), "src/build/a.py"), covers(("/build",), "src/build/a.py")
(True, False)
>>> reaches(("build/api/**",), "build"), reaches(("build/api/**",), "src")
(True, False)
"""

import os
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from sightline.contract.settings import Settings
from sightline.contract.uris import normalise
from sightline.workspace.roots import Root, RootSet

if TYPE_CHECKING:  # its engine takes a moment to load, and most users exclude nothing
    from sightline.workspace.ignore import Rules

__all__ = ["chosen", "covers", "excludes", "names", "reaches", "spelled_out"]

_MAX_KEPT = 64
_PLAIN = re.compile(r"[\w./*-]+")


def chosen(root: Root, settings: Settings) -> Root:
    """A root with what the settings say of it: of every root, and of this one by its path."""
    exclude, included = [*settings.exclude], [*settings.include_ignored]
    for path, own in settings.roots.items():
        given = normalise(path)
        if given in (root.given, root.real) or os.path.realpath(given) == root.real:
            exclude += own.exclude
            included += own.include_ignored
    return replace(root, exclude=tuple(exclude), include_ignored=tuple(included))


def excludes(roots: RootSet, real: str, *, folder: bool = False) -> bool:
    """Whether a real path is kept out of the root it lies in."""
    root = roots.containing(real)
    if root is None or not root.exclude:
        return False
    return covers(root.exclude, real[len(root.real) + 1 :], folder=folder)


def covers(globs: tuple[str, ...], path: str, *, folder: bool = False) -> bool:
    """Whether globs name a path, relative to its root, or a folder that it lies in."""
    place = path.find("/")
    while place >= 0:
        if names(globs, path[:place], folder=True):
            return True
        place = path.find("/", place + 1)
    return names(globs, path, folder=folder)


def names(globs: tuple[str, ...], path: str, *, folder: bool) -> bool:
    """Whether globs name just this path; nothing is asked of the folders it lies in."""
    return bool(globs) and bool(path) and _rules(globs).verdict(path, folder=folder) is True


def reaches(globs: Sequence[str], folder: str, *, bare: bool = True) -> bool:
    """Whether globs may name something in a folder, though not the folder itself.

    ``bare``: whether a glob without a folder, which may be anything anywhere, counts.
    """
    return any(_may_lie_in(glob, folder, bare=bare) for glob in globs)


def _may_lie_in(glob: str, folder: str, *, bare: bool) -> bool:
    parts = glob.strip("/").split("/")
    if len(parts) == 1 and not glob.startswith("/"):
        return bare
    for part, own in zip(parts, folder.split("/"), strict=False):
        if part == "**":
            return True
        if not names((f"/{part}",), own, folder=True):
            return False
    return len(parts) > folder.count("/") + 1


def spelled_out(globs: Sequence[str], top: str) -> list[str]:
    """Globs of a root as absolute ones, for servers that take them from elsewhere.

    Those that other programs may read in another way are left out.

    >>> spelled_out(("*.gen.py", "/src/api", "src/*/x/", "a[b]"), "/r")
    ['/r/**/*.gen.py', '/r/src/api', '/r/src/*/x']
    """
    bare = [glob.rstrip("/") for glob in globs]
    absolute = [f"{top}/{g.lstrip('/')}" if "/" in g else f"{top}/**/{g}" for g in bare]
    return [glob for glob in absolute if _PLAIN.fullmatch(glob) and "*" not in top]


@lru_cache(maxsize=_MAX_KEPT)
def _rules(globs: tuple[str, ...]) -> "Rules":
    from sightline.workspace.ignore import Rules

    return Rules.parse("\n".join(globs), "")
