"""A glance at a root: which languages are surely there, without reading the whole tree.

A few folders are read, the outermost first. What is not seen may be there all the same; what is
seen is there. It lets language servers start while the tree is still being scanned.
"""

import os
from collections import deque

from sightline.lsp.project.selection import is_dependency
from sightline.lsp.registry import Registry
from sightline.workspace.exclusions import names

__all__ = ["glance"]

_FOLDERS = 24
_ENTRIES = 2_000


def glance(top: str, registry: Registry, exclude: tuple[str, ...] = ()) -> list[str]:
    """The languages that were seen. ``exclude``: globs of what the user keeps out."""

    def is_own(path: str, *, folder: bool) -> bool:
        return not names(exclude, path[len(top) + 1 :], folder=folder)

    seen: set[str] = set()
    waiting, folders, entries = deque([top]), 0, 0
    while waiting and folders < _FOLDERS and entries < _ENTRIES:
        folders += 1
        folder = waiting.popleft()
        files, subfolders = _read(folder)
        entries += len(files) + len(subfolders)
        waiting.extend(each for each in subfolders if is_own(each, folder=True))
        own = (name for name in files if is_own(f"{folder}/{name}", folder=False))
        seen.update(filter(None, map(registry.language_of, own)))
    return sorted(seen)


def _read(folder: str) -> tuple[list[str], list[str]]:
    """The files of a folder and its subfolders, unless it is not our own."""
    files: list[str] = []
    subfolders: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name == "pyvenv.cfg":
                    return [], []
                if entry.is_dir(follow_symlinks=False):
                    if not entry.name.startswith(".") and not is_dependency(entry.name):
                        subfolders.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    files.append(entry.name)
    except OSError:
        return [], []
    return files, sorted(subfolders)
