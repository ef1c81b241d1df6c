"""How far a server reaches in its project: what it does not resolve, and is not let to read.

Kept for the next question, and looked at again where something changed.
"""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from sightline.contract.texts import listed
from sightline.lsp.coverage import python_imports, typescript_aliases
from sightline.lsp.coverage.left_out import LeftOut, left_out
from sightline.lsp.coverage.python_imports import Importing, Sources, Unresolved, sources_of
from sightline.lsp.files.reading import read_text
from sightline.lsp.go import build_constraints
from sightline.lsp.project.projects import Project
from sightline.lsp.registry import ServerSpec
from sightline.lsp.typescript.package_sources import DECLARATIONS
from sightline.workspace.changes import Change, Kind

__all__ = ["WHERE", "Imports", "Reach", "Unreached", "imports_of", "where_of"]

_MAX_BYTES = 1 << 20
#: So many modules are named in a sentence.
_NAMED = 4


#: What each file imports.
Modules = Mapping[str, frozenset[str]]
#: The user's environment variables.
Variables = Mapping[str, str]


class Unreached(NamedTuple):
    """What a server knows nothing of."""

    unresolved: Sequence[Unresolved] = ()
    #: How many files are kept from it, and by what if it is told to.
    left_out: LeftOut = LeftOut()
    left_out_by: str = ""
    #: The files that take in others in a way that it does not follow everywhere.
    requiring: frozenset[str] = frozenset()

    def note(self, path: str) -> str:
        """What is to be said of uses of a file's code."""
        sentences: list[str] = []
        found = [each for each in self.unresolved if each.may_be(path)]
        # What others reach instead of the source may be a declaration, so its uses are known.
        found = [each for each in found if not (each.astray and path.endswith(DECLARATIONS))]
        for where in WHERE:
            some = [each for each in found if where_of(each) == where]
            if some:
                files = _files(len(frozenset[str]().union(*(each.files for each in some))))
                names = listed([each.name for each in some], _NAMED)
                sentences.append(f"Imports of {names} {where} in {files}; {_MISSING}")
        return " ".join([*sentences, *self.of_files(_MISSING)])

    def of_files(self, missing: str) -> list[str]:
        """What is to be said of files that are left out, and of what may be missing for it."""
        found: list[str] = []
        if self.left_out.told:
            found.append(f"{self.left_out_by} {_files(self.left_out.told)}; {missing}")
        if self.left_out.by_default:
            files = _files(self.left_out.by_default)
            found.append(f"{_BY_DEFAULT.format(files)}; {missing}")
        return found


#: Where imports may lead.
WHERE = ("are not resolved", "lead to an installed copy", "do not lead to the source")
_MISSING = "uses there may be missing."
_BY_DEFAULT = "The server leaves out {} by default, for the names of their folders"


def where_of(module: Unresolved) -> str:
    """Where imports of a module lead."""
    return WHERE[2 if module.astray else 1 if module.copied else 0]


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


class Imports(NamedTuple):
    """How the imports of a language are read and looked for."""

    endings: tuple[str, ...]
    #: The names of what a text imports.
    imported: Callable[[str], frozenset[str]]
    unresolved: Callable[[Project, Sources, Importing], list[Unresolved]]
    #: How many sources are kept from the server, given what each imports, and by what.
    left_out: Callable[[Project, Modules, Variables], LeftOut]
    left_out_by: str = "The project's own settings leave out"
    fix: str = ""
    #: What is among the names that a text imports where the server may not follow all of them.
    required: str = ""
    #: Whether the paths of files tell what is left out.
    by_paths: bool = True
    #: Whether a file is surely found by its name, so that no source has to be read for it.
    is_plain: Callable[[Project, str], bool] = lambda project, path: False


def _no_go_files(project: Project, modules: Modules, variables: Variables) -> LeftOut:
    target = build_constraints.target_of(variables)
    return LeftOut(
        sum(
            target.leaves_out(os.path.basename(path), next(iter(constraints), ""))
            for path, constraints in modules.items()
        )
    )


PYTHON = Imports(
    python_imports.SOURCES,
    python_imports.imported,
    python_imports.unresolved,
    lambda project, modules, variables: left_out(project, modules),
    fix=python_imports.FIX,
    is_plain=python_imports.is_plain,
)
TYPESCRIPT = Imports(
    typescript_aliases.SOURCES,
    typescript_aliases.imported,
    typescript_aliases.unresolved,
    lambda project, modules, variables: LeftOut(),
    fix=typescript_aliases.FIX,
    required=typescript_aliases.REQUIRED,
)
GO = Imports(
    (".go",),
    lambda text: frozenset(filter(None, [build_constraints.constraint(text)])),
    lambda project, tree, importing: [],
    _no_go_files,
    "Build constraints leave out",
    by_paths=False,
)


def imports_of(spec: ServerSpec) -> Imports | None:
    if spec.python_environment:
        return PYTHON
    return {"tsconfig": TYPESCRIPT, "gomod": GO}.get(spec.opens)


class Reach:
    """That of one server in one project."""

    def __init__(
        self, imports: Imports, project: Callable[[], Project], variables: Variables
    ) -> None:
        self._imports = imports
        self._project = project
        self._variables = variables
        #: What each file imports, and the other way round.
        self._modules: dict[str, frozenset[str]] = {}
        self._importing: dict[str, set[str]] = {}
        #: Files to read again, and whether that is all that has to be done.
        self._due: set[str] = set()
        self._only_texts = False
        self._found = Unreached()
        #: How often something changed, and how often it had when it was last looked at.
        self._changes, self._seen = 0, -1
        #: The same for what is known without reading sources: how many are left out.
        self._moves, self._moves_seen = 0, -1
        self._left_out = LeftOut()
        self._plain: dict[str, bool] = {}
        self._looking = threading.Lock()
        #: Held while it is noted what has to be done: changes come while a thread looks.
        self._noting = threading.Lock()

    def changed(self, changes: Sequence[Change]) -> None:
        sources = [change for change in changes if change.path.endswith(self._imports.endings)]
        moved = len(sources) < len(changes) or any(c.kind != Kind.CHANGED for c in sources)
        with self._noting:
            self._changes += 1
            self._due.update(change.path for change in sources)
            if moved:
                self._only_texts = False
                self._moves += 1

    def known(self, path: str) -> Unreached | None:
        """What is not reached of a file's uses, if nothing changed since somebody looked."""
        if self._moves_seen == self._moves and self._is_plain(path):
            return Unreached((), self._left_out, self._imports.left_out_by)
        return self._found if self._seen == self._changes else None

    def look(self, path: str | None = None) -> Unreached:
        """What is not reached of a file's uses, or of all. Looks at the disk, in a thread."""
        with self._looking:
            moves, project = self._moves, self._project()
            if path is not None:
                if self._imports.is_plain(project, path):
                    self._count(project, moves)
                known = self.known(path)
                if known is not None:
                    return known
            return self._scan(project)

    def _is_plain(self, path: str) -> bool:
        """Told from what is known of the project, without a look at the disk."""
        if path not in self._plain:
            self._plain[path] = self._imports.is_plain(self._project(), path)
        return self._plain[path]

    def look_at_files(self) -> Unreached:
        """How many files are kept from the server, in a thread."""
        with self._looking:
            moves, project = self._moves, self._project()
            if not self._imports.by_paths:
                return self._scan(project)
            self._count(project, moves)
            return Unreached((), self._left_out, self._imports.left_out_by)

    def _count(self, project: Project, moves: int) -> None:
        """Counts what is left out by the paths of files, if some came or went. ``moves``: how often
        that had happened when the project was looked at.
        """
        if self._moves_seen != moves:
            sources = _paths(sources_of(project, self._imports.endings))
            modules = dict.fromkeys(sources, frozenset[str]())
            self._left_out, self._plain = self._excluded(project, modules), {}
            self._moves_seen = moves  # last: from here on others believe it

    def _scan(self, project: Project) -> Unreached:
        with self._noting:
            seen, due, only_texts = self._changes, self._due, self._only_texts
            self._due, self._only_texts = set(), True
        try:
            if not (only_texts and all(map(self._imports_the_same, due))):
                self._find(project, due)
        except BaseException:
            with self._noting:  # all that is still to be done
                self._due, self._only_texts = self._due | due, False
            raise
        self._seen = seen
        return self._found

    def _find(self, project: Project, due: set[str]) -> None:
        tree = sources_of(project, self._imports.endings)
        self._read(tree, due)
        self._found = Unreached(
            self._imports.unresolved(project, tree, self._importing),
            self._excluded(project, self._modules),
            self._imports.left_out_by,
            frozenset(self._importing.get(self._imports.required, ())),
        )

    def _excluded(self, project: Project, modules: Modules) -> LeftOut:
        return self._imports.left_out(project, modules, self._variables)

    def _imports_the_same(self, path: str) -> bool:
        """Whether a file is known and imports what it did; also one that is not the project's."""
        return self._modules.get(path) in (None, self._imported(path))

    def _read(self, tree: Sources, due: set[str]) -> None:
        sources = _paths(tree)
        stale = (self._modules.keys() - sources) | due
        for path in stale & self._modules.keys():
            for module in self._modules.pop(path):
                self._importing[module].discard(path)
        for path in sources - self._modules.keys():
            modules = self._modules[path] = self._imported(path)
            for module in modules:
                self._importing.setdefault(module, set()).add(path)

    def _imported(self, path: str) -> frozenset[str]:
        text = read_text(path, _MAX_BYTES) or ""
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        return self._imports.imported(text)


def _paths(tree: Sources) -> set[str]:
    return {f"{folder}/{name}" for folder, names in tree.items() for name in names}
