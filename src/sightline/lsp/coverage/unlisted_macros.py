"""Macros of C and C++ that a list of symbols lacks.

The server knows the macros of the files that it has open and of what these include, and of no
other, so none is listed. Whether a query fits one is found out here, from the text alone: it is
said where one is to be found, and never taken for a symbol.

>>> macros_of("#ifndef A_H\\n#define A_H\\n# define LIMIT 3\\n#define area(x) x\\n#endif\\n")
('LIMIT', 'area')
"""

import asyncio
import re
import threading
from collections.abc import Callable, Sequence

from sightline.contract.texts import listed_paths
from sightline.lsp.files.reading import read_text
from sightline.lsp.project.projects import Project
from sightline.text.dirty_paths import DirtyPaths
from sightline.workspace.changes import Change

__all__ = ["UnlistedMacros", "is_like", "macros_of"]

_MAX_BYTES = 4 << 20
#: So many files are named in a sentence, if their names are plain.
_NAMED = 3
# Compiled when it is first needed, which most programs never do.
#: What a file defines so that it is not read twice is nothing that anybody looks for.
_DEFINED = (
    r"^(?:[ \t]*#[ \t]*ifndef[ \t]+(?P<guard>\w+)[ \t]*\n)?"
    r"[ \t]*#[ \t]*define[ \t]+(?P<name>[^\W\d]\w*)(?P<empty>[ \t]*$)?"
)


def macros_of(text: str) -> tuple[str, ...]:
    """The names that a text defines, each once, in their order."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    found = re.finditer(_DEFINED, text, re.MULTILINE)
    return tuple(
        dict.fromkeys(
            each["name"] for each in found if each["empty"] is None or each["guard"] != each["name"]
        )
    )


def is_like(query: str, name: str) -> bool:
    """Whether a name has the letters of a query, in their order, as servers compare them.

    >>> is_like("mxlen", "MAX_LENGTH"), is_like("lenmax", "MAX_LENGTH"), is_like("", "A")
    (True, False, True)
    """
    letters = iter(name.casefold())
    return all(letter in letters for letter in query.casefold())


class UnlistedMacros:
    """Those of one project."""

    def __init__(self, project: Callable[[], Project]) -> None:
        self._project = project
        #: What each file defines.
        self._macros: dict[str, tuple[str, ...]] = {}
        #: How often something had changed when files were last read.
        self._seen = -1
        self._dirty = DirtyPaths()
        self._looking = threading.Lock()

    def changed(self, changes: Sequence[Change]) -> None:
        self._dirty.note(changes)

    async def note(self, query: str) -> str:
        """What is to be said to somebody who looks for symbols."""
        return self._sentence(await asyncio.to_thread(self._look, query.rpartition("::")[2]))

    def _look(self, query: str) -> dict[str, int]:
        """How many macros of each file a query fits, in a thread."""
        with self._looking:
            self._read()
            fitting = {
                path: sum(is_like(query, name) for name in names)
                for path, names in sorted(self._macros.items())
            }
        return {path: count for path, count in fitting.items() if count}

    def _read(self) -> None:
        if self._seen != self._dirty.changes:
            with self._dirty.taken() as (seen, due):
                before = self._macros
                self._macros = {
                    path: before[path]
                    if path in before and path not in due
                    else macros_of(read_text(path, _MAX_BYTES) or "")
                    for path in self._project().files()
                }
                self._seen = seen

    def _sentence(self, fitting: dict[str, int]) -> str:
        total = sum(fitting.values())
        if not total:
            return ""
        start = len(self._project().folder) + 1
        files = listed_paths([path[start:] for path in fitting], _NAMED)
        if total == 1:
            return f"1 macro with such a name is not listed{files}; search the text for it."
        return f"{total:,} macros with such names are not listed{files}; search the text for them."
