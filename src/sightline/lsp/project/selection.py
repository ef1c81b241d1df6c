"""Which files of a root are the project's own: not dependencies, not caches.

What lies in a folder of dependencies is read by language servers but is nobody's work: it is not
opened, not swept, and its languages are not those of the workspace. The same holds for a Git
worktree inside the root, which is a copy of the project and a project of its own, and for names
that no server can be told.
"""

from collections.abc import Mapping

from sightline.contract.uris import is_unicode
from sightline.workspace.tree import HIDDEN
from sightline.workspace.worktrees import is_nested_worktree

__all__ = ["Selection", "is_dependency"]

_DEPENDENCIES = frozenset(
    """
    .cache .eggs .git .hg .mypy_cache .nox .pytest_cache .ruff_cache .svn .tox .yarn __pycache__
    bower_components jspm_packages node_modules site-packages
    """.split()
)
#: A folder with this file is a Python environment.
_ENVIRONMENT = "pyvenv.cfg"


def is_dependency(folder: str) -> bool:
    """Whether a folder of this name holds nothing of the project's own."""
    return folder in _DEPENDENCIES


class Selection:
    """The choice for one root in one state of its tree."""

    def __init__(self, top: str, tree: Mapping[str, Mapping[str, object]]) -> None:
        self._top = top
        self._tree = tree
        self._folders: dict[str, bool] = {top: False}
        #: The worktrees in it, outermost first.
        self.worktrees = tuple(
            folder
            for folder, files in sorted(tree.items())
            if HIDDEN in files and folder != top and is_nested_worktree(folder)
        )

    def skips_folder(self, folder: str) -> bool:
        """Whether nothing below a folder is the project's own."""
        known = self._folders.get(folder)
        if known is None:
            parent, _, name = folder.rpartition("/")
            known = (
                len(folder) < len(self._top)
                or is_dependency(name)
                or not is_unicode(name)
                or _ENVIRONMENT in self._tree.get(folder, ())
                or folder in self.worktrees
                or self.skips_folder(parent)
            )
            self._folders[folder] = known
        return known
