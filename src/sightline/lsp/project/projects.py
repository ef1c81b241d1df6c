"""One server's share of the workspace: its folder, its files, and what must be open.

A root is one project, except where a folder inside it has a language environment of its own: such
a folder is a project of its own for the servers whose registry entry says so. Every file belongs to
exactly one project of a server: the innermost that it lies in.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from msgspec import Struct, field

from sightline.contract.uris import above, is_under, is_unicode
from sightline.lsp.project.first_lines import FirstLines, may_be_script
from sightline.lsp.project.selection import Selection
from sightline.lsp.python.discovery import Environments
from sightline.lsp.registry import Registry, ServerSpec
from sightline.lsp.typescript import tsconfig
from sightline.lsp.typescript.held_open import HeldOpen
from sightline.text.readable import can_be_shown
from sightline.workspace.roots import Root
from sightline.workspace.tree import Tree

__all__ = ["MAX_SCRIPTS", "Project", "Projects"]

#: So many scripts are shown to a server, and so many files are looked at to find them.
MAX_SCRIPTS = 500
_MAX_LOOKED_AT = 20_000


class Project(Struct, frozen=True):
    """The files of one server in one folder, as the workspace was last seen."""

    spec: ServerSpec
    folder: str
    #: Folders inside this one that are projects of their own, or Git worktrees.
    inner: tuple[str, ...]
    projects: "Projects"

    @property
    def top(self) -> str:
        """How far up it may reach."""
        return self.projects.root.outermost

    @property
    def environment(self) -> str | None:
        """Its Python environment."""
        return self.projects.environments.of(self.folder, self.top)

    def holds(self, path: str) -> bool:
        """Whether a path belongs to this project and to no inner one."""
        return is_under(path, self.folder) and not any(is_under(path, i) for i in self.inner)

    def speaks(self, name: str) -> bool:
        """Whether a file of this name is written in one of the server's languages."""
        return self.projects.registry.language_of(name) in self.spec.languages

    def files(self) -> list[str]:
        """The project's own files in the server's languages by their names, sorted."""
        return sorted(path for path, name in self.walk() if self.speaks(name))

    @property
    def is_known(self) -> bool:
        """Whether its files are known; they are not before the first scan has ended."""
        return bool(self.projects.tree())

    def is_script(self, path: str) -> bool:
        """Whether the first line of a file that lies in this project tells that it is written in
        one of the server's languages. Its name tells nothing. Looks at the disk.
        """
        name = os.path.basename(path)
        known = self.projects.registry.language_of(name)
        return known is None and may_be_script(name) and self._is_named_in(path)

    def _is_named_in(self, path: str) -> bool:
        """Whether the first line of a file names a program of one of the server's languages."""
        program = self.projects.first_lines.program(path)
        return self.projects.registry.language_of_program(program) in self.spec.languages

    def scripts(self) -> list[str]:
        """The project's own files in the server's languages by their first lines, sorted. Looks
        at the disk.
        """
        if not any(self.projects.registry.languages[n].interpreters for n in self.spec.languages):
            return []
        unnamed = filter(self._is_named_in, self.projects.unnamed())
        return list(filter(self.holds, unnamed))

    def shown_scripts(self) -> tuple[str, ...]:
        """Those of them that its server is shown, if it is one that reads such."""
        if not self.spec.reads_scripts:
            return ()
        return tuple(islice(filter(self._can_be_shown, self.scripts()), MAX_SCRIPTS))

    def named(self, *names: str) -> list[str]:
        """The files with one of these names, sorted."""
        return sorted(path for path, name in self.walk() if name in names)

    def held_open(self, units: Iterable[str] = ()) -> HeldOpen:
        """What must be open for the server to see the whole project."""
        match self.spec.opens:
            case "nothing":
                return HeldOpen()
            case "any":
                return HeldOpen(tuple(islice(filter(self._can_be_shown, sorted(units)), 1)))
            case "tsconfig":
                names = tsconfig.CONFIGURATIONS
                outer = above(os.path.dirname(self.folder), self.top)
                return tsconfig.held_open(
                    self.files(),
                    self.named(*names),
                    [f"{place}/{name}" for place in outer for name in names],
                    reword=not self.spec.knows_base_url,
                    can_be_shown=self._can_be_shown,
                )
            case "gomod":
                return HeldOpen(tuple(self._one_per_module()))

    def _can_be_shown(self, path: str) -> bool:
        return can_be_shown(path, self.projects.root.real)

    def _one_per_module(self) -> list[str]:
        """A file of every module, and of every folder that is in none: each is known when open."""
        modules = {os.path.dirname(path): "" for path in self.named("go.mod")}
        loose: dict[str, str] = {}
        outer = above(os.path.dirname(self.folder))
        inside = any(os.path.isfile(f"{place}/go.mod") for place in outer)
        for path in self.files():
            folder = home = os.path.dirname(path)
            while folder not in modules and len(folder) > len(self.folder):
                folder = os.path.dirname(folder)
            if path.endswith("_test.go"):
                continue
            if modules.get(folder) == "":
                modules[folder] = path if self._can_be_shown(path) else ""
            elif folder not in modules and not inside:
                loose.setdefault(home, path)
        return sorted(path for path in (*modules.values(), *loose.values()) if path)

    def unnameable(self) -> list[str]:
        """Files of its languages with a name that is not text, which no server can be told."""
        found = self.projects.unnameable()
        return [path for path in found if self.holds(path) and self.speaks(os.path.basename(path))]

    def closed_folders(self) -> list[str]:
        """Folders that cannot be looked into, sorted."""
        empty = (folder for folder, names in self.projects.folders() if not names)
        closed = (folder for folder in empty if not os.access(folder, os.R_OK | os.X_OK))
        return sorted(folder for folder in closed if self.holds(folder) and os.path.isdir(folder))

    def walk(self) -> Iterator[tuple[str, str]]:
        """Every file of the project, in any language, with its name."""
        return (
            (f"{folder}/{name}", name)
            for folder, names in self.projects.folders()
            if self.holds(folder)
            for name in names
        )


class Projects(Struct, eq=False):
    """The projects of every server in one root, in one state of its tree."""

    root: Root
    registry: Registry
    tree: Callable[[], Tree]
    environments: Environments = Environments()
    first_lines: FirstLines = field(default_factory=FirstLines)
    _selection: Selection | None = None
    #: Files whose name tells no language.
    _unnamed: list[str] | None = None
    _inner: dict[tuple[str, ...], tuple[str, ...]] = {}

    def of(self, spec: ServerSpec, path: str) -> Project:
        """The project that a file belongs to."""
        found = self.root.real
        for folder in self._nested(spec):  # sorted, so that what lies inside another comes after it
            if is_under(path, folder):
                found = folder
        return self.at(spec, found)

    def all(self, spec: ServerSpec) -> list[Project]:
        """Every project of a server in this root, outermost first."""
        return [self.at(spec, folder) for folder in (self.root.real, *self._nested(spec))]

    def at(self, spec: ServerSpec, folder: str) -> Project:
        """The project in a folder."""
        nested: Sequence[str] = self._nested(spec)
        others = (*nested, *self.worktrees)
        inner = tuple(other for other in others if other != folder and is_under(other, folder))
        return Project(spec, folder, inner, self)

    @property
    def worktrees(self) -> tuple[str, ...]:
        """The Git worktrees inside this root; what lies in one belongs to no project here."""
        return self._chosen().worktrees

    def worktree_of(self, path: str) -> str | None:
        """The worktree that a path lies in."""
        return next((folder for folder in self.worktrees if is_under(path, folder)), None)

    def unnamed(self) -> list[str]:
        """The root's own files that have no extension and no name that tells a language, sorted,
        and not more than are looked at.
        """
        if self._unnamed is None:
            found = [
                f"{folder}/{name}"
                for folder, names in self.folders()
                for name in names
                if may_be_script(name) and self.registry.language_of(name) is None
            ]
            self._unnamed = sorted(found)
        return self._unnamed[:_MAX_LOOKED_AT]

    @property
    def too_many_unnamed(self) -> bool:
        """Whether there are more of them."""
        return self._unnamed is not None and len(self._unnamed) > _MAX_LOOKED_AT

    def script_languages(self) -> set[str | None]:
        """The languages that first lines tell. Looks at the disk."""
        programs = {self.first_lines.program(path) for path in self.unnamed()}
        return {self.registry.language_of_program(program) for program in programs}

    def languages(self) -> list[str]:
        """The languages of the root's own files by their names, in the registry's order."""
        # One name per extension is enough, and there are few extensions. Names without one meet
        # in their last letter, so they are looked at by themselves.
        names = {name for _, names in self.folders() for name in names}
        plain = {name for name in names if "." not in name}
        kinds = {name[name.rfind(".") :]: name for name in names}
        found = {self.registry.language_of(name) for name in (*kinds.values(), *plain)}
        return [language for language in self.registry.languages if language in found]

    def folders(self) -> Iterator[tuple[str, list[str]]]:
        """Every folder of the root's own files with the names in it."""
        selection = self._chosen()
        for folder, files in self.tree().items():
            if not selection.skips_folder(folder):
                names = list(files)
                if not "".join(names).isascii():
                    names = list(filter(is_unicode, names))
                yield folder, names

    def unnameable(self) -> list[str]:
        """The root's own files with a path that is not text, which ``folders`` leaves out."""
        selection, found = self._chosen(), list[str]()
        for folder, files in list(self.tree().items()):
            names = list(files)
            if folder.isascii() and "".join(names).isascii():
                continue
            outer = next(place for place in above(folder) if is_unicode(place))
            if not selection.skips_folder(outer):
                paths = (f"{folder}/{name}" for name in names)
                found += (path for path in paths if not is_unicode(path))
        return found

    def holding(self, name: str) -> list[str]:
        """The folders of the root's own files that have one of this name."""
        found = [folder for folder, files in self.tree().items() if name in files]
        selection = self._chosen()
        return sorted(folder for folder in found if not selection.skips_folder(folder))

    def _chosen(self) -> Selection:
        if self._selection is None:
            self._selection = Selection(self.root.real, self.tree())
        return self._selection

    def _nested(self, spec: ServerSpec) -> tuple[str, ...]:
        if spec.folder == "root":
            return ()
        if spec.root_markers not in self._inner:
            self._inner[spec.root_markers] = tuple(
                folder
                for folder, names in sorted(self.folders())
                if folder != self.root.real
                and any(marker in names for marker in spec.root_markers)
                and self.environments.own(folder) is not None
            )
        return self._inner[spec.root_markers]
