"""What must be open for a server to know its whole project.

Some files are opened themselves. Others are named by one document that the server has in memory
only, under a name in the project's folder that no file has; it is never written. Configurations may
be shown in other words than those on disk.

>>> named_by("/ws", ["/ws/a.js", "/ws/b/c.js"]).text
'/// <reference path="a.js" />\\n/// <reference path="b/c.js" />\\n'
"""

import os
import re
from collections.abc import Sequence
from typing import NamedTuple

from sightline.contract.source import SourceFile
from sightline.contract.uris import uri_of

__all__ = [
    "LANGUAGE",
    "MAX_NAMED",
    "MAX_OPENED",
    "HeldOpen",
    "can_be_named",
    "file_in_memory",
    "named_by",
    "names_only",
]

#: More files than this are not held open, or named; answers that would need them are refused.
MAX_OPENED = 1_000
MAX_NAMED = 5_000
LANGUAGE = "javascript"
_UNQUOTABLE = re.compile(r"""[\x00-\x1f"'\x7f-\x9f\u2028\u2029]""")
_NAME = ".sightline-names-these.js"


class HeldOpen(NamedTuple):
    opened: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    #: The project files that decided it, also those that were looked for in vain.
    decided_by: frozenset[str] = frozenset()
    #: Configurations, each with the text that the server has of it in memory.
    reworded: tuple[tuple[str, str], ...] = ()
    #: The configurations of projects that those of others here extend: they are loaded first.
    extended: frozenset[str] = frozenset()
    #: Configurations that are there and cannot be read.
    unread: frozenset[str] = frozenset()

    @property
    def too_many(self) -> bool:
        return len(self.opened) > MAX_OPENED or len(self.named) > MAX_NAMED


def named_by(folder: str, paths: Sequence[str]) -> SourceFile:
    """The document that names these files of a folder."""
    names = [os.path.relpath(path, folder) for path in paths]
    text = "".join(f'/// <reference path="{name}" />\n' for name in names)
    return file_in_memory(f"{folder}/{_NAME}", text)


def file_in_memory(path: str, text: str) -> SourceFile:
    """A file with another text than the one on disk."""
    return SourceFile(uri_of(path), path, text)


def can_be_named(path: str) -> bool:
    """Whether a path can stand in quotes on a line; any other file is opened."""
    return _UNQUOTABLE.search(path) is None


def names_only(uri: str) -> bool:
    """Whether a place lies in such a document, so that it is no place of the project."""
    return uri.endswith(f"/{_NAME}")
