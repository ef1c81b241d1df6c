"""A file of the project to ask about: the first answer should be about the user's own code."""

import os
from collections import deque

from sightline.lsp.registry import Registry
from sightline.workspace.tree import read_folder

__all__ = ["example_file"]

_MAX_FOLDERS = 500
_SIZES = range(40, 200_000)
_NOT_HERE = frozenset(("node_modules", "vendor", "dist", "build", "target"))


def example_file(project: str, registry: Registry) -> str | None:
    """A source file, as near to the top as there is one, that some language server is for."""
    served = {language for spec in registry.servers.values() for language in spec.languages}
    waiting = deque([project])
    for _ in range(_MAX_FOLDERS):
        if not waiting:
            break
        folder = waiting.popleft()
        files, below = read_folder(folder)
        sources = [
            (stamp.size, name)
            for name, stamp in files.items()
            if stamp.size in _SIZES and _worth(name) and registry.language_of(name) in served
        ]
        if sources:
            return os.path.join(folder, max(sources)[1])  # the largest has the most to tell
        names = [path for path in sorted(below) if _worth(os.path.basename(path))]
        waiting.extend(names)
    return None


def _worth(name: str) -> bool:
    return not name.startswith((".", "__")) and name not in _NOT_HERE
