"""Shell scripts: what they call their functions, and what lies outside of their project.

The name of a function may have hyphens, which no other name has.

>>> function_at("log-fail() {", Position(0, 2)), function_at("log-fail 1", Position(0, 2))
('log-fail', '')

A server that has read such a file keeps it when the script no longer takes it in. Inside the
project that makes no difference: there it reads every file anyway.

>>> leads_out(". ../../lib/log.sh\\n", "/project/bin/run.sh", "/project")
True
>>> leads_out(". ../lib/log.sh\\n", "/project/bin/run.sh", "/project")
False
"""

import os
import re

from sightline.contract.texts import column_of, line_text
from sightline.contract.uris import is_under
from sightline.contract.values import Position
from sightline.lsp.files.reading import read_text
from sightline.lsp.project.projects import Project

__all__ = ["any_leads_out", "function_at", "leads_out"]

#: Also what a comment for shellcheck names, which servers heed.
_SOURCED = re.compile(
    r"^[ \t]*(?:\.|source|#[ \t]*shellcheck[ \t]+source=)[^\n]*?((?:\.\./)+[\w./+-]+)", re.MULTILINE
)
_NAME = r"[^\s(){}<>|&;$\"'`=#]+"
_FUNCTION = re.compile(rf"^[ \t]*(?:function[ \t]+({_NAME})|({_NAME})[ \t]*\([ \t]*\))")
_MAX_BYTES = 1 << 20
_MAX_FILES = 5_000


def function_at(text: str, position: Position) -> str:
    """The name of the function that is defined at a position; nothing if none is."""
    line = line_text(text, position.line) or ""
    found = _FUNCTION.match(line)
    if found is None or found.lastindex is None:
        return ""
    first, last = found.span(found.lastindex)
    return line[first:last] if first <= column_of(line, position.character) <= last else ""


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
