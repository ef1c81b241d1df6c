"""A file of the project to ask about: the first answer should be about the user's own code."""

import os
from collections import deque

from sightline.lsp.registry import Registry
from sightline.workspace.tree import read_folder

__all__ = ["example_file"]

_MAX_FOLDERS = 200
_SIZES = range(40, 200_000)
_NOT_HERE = frozenset(("node_modules", "vendor", "dist", "build", "target"))
#: Code, but not what a project is about.
_BESIDE = frozenset(("tests", "test", "docs", "doc", "examples", "scripts", "tools", "bench"))


def example_file(project: str, registry: Registry) -> str | None:
    """The largest source near the top that some language server is for: it has most to tell."""
    served = {language for spec in registry.servers.values() for language in spec.languages}
    waiting = deque([(project, True)])
    best: tuple[bool, int, str] | None = None
    for _ in range(_MAX_FOLDERS):
        if not waiting:
            break
        folder, central = waiting.popleft()
        try:
            files, below, _ = read_folder(folder, project)
        except OSError:
            continue  # another one will do
        for name, stamp in files.items():
            if stamp.size in _SIZES and _worth(name) and registry.language_of(name) in served:
                found = (central, stamp.size, os.path.join(folder, name))
                best = found if best is None else max(best, found)
        for path in sorted(below):
            name = os.path.basename(path)
            if _worth(name):
                waiting.append((path, central and name not in _BESIDE))
    return best[2] if best else None


def _worth(name: str) -> bool:
    return not name.startswith((".", "__")) and name not in _NOT_HERE
