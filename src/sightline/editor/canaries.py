"""Declarations read from the files themselves: questions whose answers are known beforehand.

>>> find("x = 1\\n\\nasync def fetch(url): ...\\n")
('fetch', 2, 10)
"""

import re
from collections.abc import Callable, Collection
from typing import NamedTuple

from sightline.editor.languages import LANGUAGES, language_of
from sightline.workspace.tree import Tree

__all__ = ["Canary", "Survey", "find", "read_canary", "survey"]

#: A declaration at the beginning of a line, in the words of many languages.
_DECLARATION = re.compile(
    r"^(?:(?:export|default|declare|abstract|async|pub(?:\([^)\n]*\))?|public|private|protected"
    r"|internal|static|final|sealed|override|open|unsafe|extern)[ \t]+)*"
    r"(?:def|class|func|fn|function|interface|struct|enum|trait|record|object)[ \t]+"
    r"(?:\([^)\n]*\)[ \t]*)?(?P<name>[A-Za-z_]\w{2,})",
    re.MULTILINE,
)
#: Folders that language servers leave out.
_LEFT_OUT = frozenset(
    "node_modules venv env site-packages __pycache__ dist build out target vendor bin obj".split()
)
_LARGE_BYTES = 65_536
_MAX_CANDIDATES = 20
_MAX_PROJECTS = 32
_MAX_TRIES = 200


class Canary(NamedTuple):
    """A declared name and its place."""

    path: str
    name: str
    line: int
    character: int


class Survey(NamedTuple):
    """The files of a root by language, and the folders that begin a project of a language."""

    files: dict[str, list[str]]
    projects: dict[str, set[str]]
    #: Files that are not read or opened while there are others.
    large: set[str]

    def candidates(self, language: str, opened: Collection[str]) -> list[str]:
        """Files of a language that nobody opened, spread over the tree."""
        files = [
            path
            for path in self.files.get(language, ())
            if path not in opened and path not in self.large
        ]
        step = max(1, len(files) // _MAX_CANDIDATES)
        return files[::step][:_MAX_CANDIDATES]

    def samples(self, language: str, readable: Callable[[str], bool]) -> list[str]:
        """One file per project of a language: what must be open for the project to be known.

        A file that cannot be read as text cannot be opened in an editor either.
        """
        projects = self.projects.get(language, set())
        chosen: dict[str, str] = {}
        files = self.files.get(language, ())
        tries = _MAX_TRIES
        for path in sorted(files, key=lambda path: path in self.large):
            project = _project_of(path, projects)
            if project in chosen or tries == 0:
                continue
            tries -= 1
            if readable(path):
                chosen[project] = path
        return [chosen[project] for project in sorted(chosen)][:_MAX_PROJECTS]


def survey(tree: Tree) -> Survey:
    """One walk through the files of a root."""
    top = min(tree, key=len, default="")
    found = Survey({}, {}, set())
    for folder in sorted(tree):
        parts = folder[len(top) :].split("/")
        if any(part in _LEFT_OUT or part.startswith(".") for part in parts):
            continue
        names = tree[folder]
        for language, row in LANGUAGES.items():
            if any(marker in names for marker in row.projects):
                found.projects.setdefault(language, set()).add(folder)
        for name, stamp in sorted(names.items()):
            language_id = language_of(name)
            if language_id is not None:
                path = f"{folder}/{name}"
                found.files.setdefault(language_id, []).append(path)
                if stamp.size > _LARGE_BYTES:
                    found.large.add(path)
    return found


def find(text: str) -> tuple[str, int, int] | None:
    """The first declaration of a text: its name, line and UTF-16 column."""
    match = _DECLARATION.search(text)
    if match is None:
        return None
    start = match.start("name")
    before = text[:start]
    line_start = before.rfind("\n") + 1
    # The words before a name are ASCII, so columns are the same in every encoding.
    return match["name"], before.count("\n"), start - line_start


def read_canary(path: str, read: Callable[[str], str | None]) -> Canary | None:
    text = read(path)
    found = None if text is None else find(text)
    return None if found is None else Canary(path, *found)


def _project_of(path: str, projects: Collection[str]) -> str:
    folder = path.rpartition("/")[0]
    while folder and folder not in projects:
        folder = folder.rpartition("/")[0]
    return folder
