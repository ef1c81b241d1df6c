"""What is said of a server that took more memory than it may: how much, and probably why.

The kernel gives each process of a server so much memory of its own, and no more; what a whole tree
of them takes is looked at now and then. Which file it was cannot be known, but a project that holds
one of many megabytes mostly has the cause in it.
"""

import os
import re
import shlex

from sightline.contract.limits import MIB
from sightline.contract.texts import PLAIN_PATH
from sightline.lsp.project.projects import Project
from sightline.lsp.server.launch import Exhausted

__all__ = ["exhausted"]

#: A smaller file is not named: sources of some megabytes are not rare.
_NAMED_BYTES = 8 * MIB


def exhausted(limit_mb: int, project: Project) -> Exhausted:
    """What to say of a server for this project."""
    reason = f"used more than {limit_mb:,} MiB of memory (the setting server_memory_mb)"
    size, path = _largest(project)
    if size < _NAMED_BYTES:
        return Exhausted(reason, "raise the setting, or open a part of the project")
    way = os.path.relpath(path, project.projects.root.real)
    shown = way if re.fullmatch(PLAIN_PATH, way) else "one file"
    remove = shlex.quote(os.path.join(project.projects.root.given, way))
    command = f": rm {remove}" if shown == way else ""
    large = f"{shown} has {size // MIB:,} MiB"
    return Exhausted(reason, f"{large}; remove it{command}, or raise the setting", path)


def _largest(project: Project) -> tuple[int, str]:
    """The size and the path of the largest file of the project, of whatever kind."""
    sizes = (
        (stamp.size, f"{folder}/{name}")
        for folder, files in project.projects.tree().items()
        if project.holds(folder)
        for name, stamp in files.items()
    )
    return max(sizes, default=(0, ""))
