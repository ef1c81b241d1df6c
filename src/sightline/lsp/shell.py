"""Whether a shell script takes in what lies outside of its project.

A server that has read such a file keeps it when the script no longer takes it in. Inside the
project that makes no difference: there it reads every file anyway.

>>> leads_out(". ../../lib/log.sh\\n", "/project/bin/run.sh", "/project")
True
>>> leads_out(". ../lib/log.sh\\n", "/project/bin/run.sh", "/project")
False
"""

import os
import re

from sightline.contract.uris import is_under
from sightline.lsp.files.reading import read_text
from sightline.lsp.project.projects import Project

__all__ = ["any_leads_out", "leads_out"]

#: Also what a comment for shellcheck names, which servers heed.
_SOURCED = re.compile(
    r"^[ \t]*(?:\.|source|#[ \t]*shellcheck[ \t]+source=)[^\n]*?((?:\.\./)+[\w./+-]+)", re.MULTILINE
)
_MAX_BYTES = 1 << 20
_MAX_FILES = 5_000


def leads_out(text: str, path: str, folder: str) -> bool:
    """Whether a script takes in a file by a path that climbs out of a folder."""
    own = os.path.dirname(path)
    return any(
        not is_under(os.path.normpath(f"{own}/{climbing}"), folder)
        for climbing in _SOURCED.findall(text)
    )


def any_leads_out(project: Project) -> bool:
    """Whether a script of a project does. Of very many it is assumed."""
    files = [*project.files(), *project.shown_scripts()]
    return len(files) > _MAX_FILES or any(
        leads_out(read_text(path, _MAX_BYTES) or "", path, project.folder) for path in files
    )
