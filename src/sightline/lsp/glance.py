"""A glance at a root: which languages are surely there, without reading the whole tree.

A few folders are read, the outermost first. What is not seen may be there all the same; what is
seen is there. It lets language servers start while the tree is still being scanned.
"""

import os
import re
from collections import deque

from sightline.lsp.registry import Registry
from sightline.lsp.selection import is_dependency

__all__ = ["glance", "rare_name"]

_FOLDERS = 24
_ENTRIES = 2_000
_TEXT_BYTES = 256 << 10
_DECLARED = re.compile(rb"^(?:def|class|fn|func|function|type|interface)[ ]+(\w{3,})", re.MULTILINE)


def glance(top: str, registry: Registry) -> dict[str, str]:
    """Languages that were seen, each with its largest file among those."""
    largest: dict[str, tuple[int, str]] = {}
    waiting, folders, entries = deque([top]), 0, 0
    while waiting and folders < _FOLDERS and entries < _ENTRIES:
        folders += 1
        files, subfolders = _read(waiting.popleft())
        entries += len(files) + len(subfolders)
        waiting.extend(subfolders)
        for path, size in files.items():
            language = registry.language_of(path.rpartition("/")[2])
            if language is not None:
                largest[language] = max(largest.get(language, (-1, "")), (size, path))
    return {language: path for language, (_, path) in sorted(largest.items())}


def rare_name(path: str) -> tuple[int, int] | None:
    """Where the longest name that a file seems to declare stands: its line and its column.

    A server that is asked about it looks into every file and finds it in few.
    """
    try:
        with open(path, "rb") as file:
            text = file.read(_TEXT_BYTES)
    except OSError:
        return None
    found = max(_DECLARED.finditer(text), key=lambda match: len(match[1]), default=None)
    if found is None:
        return None
    start = found.start(1)
    # What stands before the name in its line is a keyword, so bytes are columns.
    return text.count(b"\n", 0, start), start - found.start()


def _read(folder: str) -> tuple[dict[str, int], list[str]]:
    """The files of a folder with their sizes, and its subfolders, unless it is not our own."""
    files: dict[str, int] = {}
    subfolders: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name == "pyvenv.cfg":
                    return {}, []
                if entry.is_dir(follow_symlinks=False):
                    if not entry.name.startswith(".") and not is_dependency(entry.name):
                        subfolders.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    files[entry.path] = entry.stat(follow_symlinks=False).st_size
    except OSError:
        return {}, []
    return files, sorted(subfolders)
