"""Git worktrees that lie inside a working tree of the same repository.

Coding agents make them all the time, in folders such as ``.claude/worktrees``. Each is a whole copy
of the project at another commit: what is found there is found twice, and is nobody's use of the
code that was asked about. Git is never run: the ``.git`` file of such a folder says what it is.

A submodule has a ``.git`` file, too, and is a part of the project. So is a worktree of another
repository, and one beside a bare repository, whose folder has no files of its own.
"""

import os
import re

from sightline.contract.uris import above
from sightline.workspace.ignore import read_small
from sightline.workspace.tree import HIDDEN

__all__ = ["is_nested_worktree"]

_POINTER = "gitdir:"
#: Below the repository: where it keeps what belongs to its worktrees.
_WORKTREES = "worktrees"
_SETTINGS = ("config", "config.worktree")
_BARE = re.compile(r"^\s*bare\s*=\s*true\b", re.MULTILINE | re.IGNORECASE)


def is_nested_worktree(folder: str) -> bool:
    """Whether a folder is a worktree of the repository that the folder above it is in."""
    common = _repository_of_worktree(folder)
    if common is None:
        return False
    outer = above(os.path.dirname(folder))
    top = next((place for place in outer if os.path.lexists(f"{place}/{HIDDEN}")), None)
    return top is not None and _repository_with_files(top) == common


def _repository_of_worktree(folder: str) -> str | None:
    """The repository of a folder that was made by ``git worktree add``."""
    git = _pointed_at(folder)
    if git is None or os.path.basename(os.path.dirname(git)) != _WORKTREES:
        return None
    return os.path.realpath(os.path.dirname(os.path.dirname(git)))


def _repository_with_files(top: str) -> str | None:
    """The repository whose files lie in a folder."""
    linked = _repository_of_worktree(top)
    if linked is not None:
        return linked
    git = os.path.realpath(_pointed_at(top) or f"{top}/{HIDDEN}")
    bare = any(_BARE.search(read_small(f"{git}/{name}")) for name in _SETTINGS)
    return None if bare else git


def _pointed_at(folder: str) -> str | None:
    """What the file ``.git`` in a folder names."""
    text = read_small(f"{folder}/{HIDDEN}")
    if not text.startswith(_POINTER):
        return None
    return os.path.normpath(os.path.join(folder, text[len(_POINTER) :].strip()))
